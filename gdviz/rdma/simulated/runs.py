"""All bulk runs of a network, in step, sharing what they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gdviz.rdma.simulated.bulk import BulkRun
from gdviz.rdma.simulated.memory import SparseMemory
from gdviz.rdma.simulated.sharing import fair_scales

if TYPE_CHECKING:
    from gdviz.rdma.simulated.network import SimulatedNetwork
    from gdviz.rdma.simulated.provider import SimulatedProvider


class BulkRuns:
    """All runs of a network, in step."""

    #: Runs that share something are simulated in steps not shorter than this.
    _STEP_S = 50e-6

    def __init__(self, network: SimulatedNetwork) -> None:
        self._network = network
        self._runs: list[BulkRun] = []
        self._sharing: tuple[BulkRun, ...] = ()

    def add(self, run: BulkRun) -> None:
        """Take a new run."""
        self._runs.append(run)
        self._share()

    def count(self, provider: SimulatedProvider) -> int:
        """Return how many runs a node has started that have not ended."""
        return sum(run.provider is provider and not run.state.final for run in self._runs)

    def _share(self) -> None:
        flowing = tuple(run for run in self._runs if run.flowing)
        if flowing != self._sharing:
            self._sharing = flowing
            for run, scale in zip(flowing, fair_scales([run.demand for run in flowing]), strict=True):
                run.rescale(scale)

    def simulate(self, to_s: float) -> float:
        """Bring all runs up to `to_s`, or to where one of several may end before; return that time."""
        self._share()
        now = self._network.now
        if len(self._sharing) > 1:
            first = min(run.expected_end_s() for run in self._sharing)
            to_s = min(to_s, max(first, now + self._STEP_S))
        for run in self._runs:
            _step(run, to_s)
        self._runs = [run for run in self._runs if not run.state.final]
        return to_s

    def catch_up(self, memory: SparseMemory) -> None:
        """Let runs copy all that they have sent to or from a memory: someone wants to see or change it."""
        for run in self._runs:
            run.catch_up(memory)

    def let_go(self, memory: SparseMemory) -> None:
        """Let no run touch a memory any more: it is being freed."""
        for run in self._runs:
            run.let_go(memory)

    def stop_all(self, provider: SimulatedProvider) -> None:
        """Stop all runs of a node that is closed."""
        for run in self._runs:
            if run.provider is provider:
                run.stop()
                _step(run, self._network.now)
        self._runs = [run for run in self._runs if not run.state.final]


class UnneededService:
    """The other end's part of a simulated transfer, which has none."""

    failed = False

    def stop(self) -> None:
        """Do nothing."""


def _step(run: BulkRun, to_s: float) -> None:
    """Bring a run up to a time; one that breaks ends alone, for the nodes have others to serve."""
    try:
        run.simulate(to_s)
    except Exception as error:  # noqa: BLE001  (whoever advances this run gets it)
        run.abort(error)
