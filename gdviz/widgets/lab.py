"""The whole lab in a cell: six steps around one picture."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gdviz.clock import Clock
from gdviz.errors import ReaderError, SessionClosedError
from gdviz.machine import Machine, reference_machine
from gdviz.messages import _
from gdviz.model import Fabric
from gdviz.quantities import whole_number
from gdviz.rdma.simulated import SimulatedHost
from gdviz.readers import open_machine
from gdviz.session import Buffer, Comparison, MemoryRegion, Node, Session, Transfer

if TYPE_CHECKING:
    from gdviz.widgets.lab_view import LabView

#: The machine that the lab opens when none is named.
DEFAULT_MACHINE = "hgx-h100"


class Lab:
    """A session of nodes and the panels to work with them.

    Shown at the end of a cell it is the lab; its attributes are the same things as plain Python.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._view: LabView | None = None

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes."""
        return self.session.nodes

    def node(self, key: int | str) -> Node:
        """Return a node by name or position."""
        return self.session.node(key)

    def transfer(
        self, local: Buffer | MemoryRegion, remote: Buffer | MemoryRegion, **options: Any
    ) -> Transfer:
        """Start a transfer; see `gdviz.session.Session.transfer`."""
        return self.session.transfer(local, remote, **options)

    def compare(self, local: MemoryRegion, remote: MemoryRegion, **options: Any) -> Comparison:
        """Run both paths over all sizes; see `gdviz.session.Session.compare`."""
        return self.session.compare(local, remote, **options)

    @property
    def view(self) -> LabView:
        """The lab as a widget."""
        if self.session.closed:
            raise SessionClosedError(_("This lab is closed."), _("Open a new one with gdviz.lab()."))
        if self._view is None:
            from gdviz.widgets.lab_view import LabView

            self._view = LabView(self.session)
        return self._view

    def close(self) -> None:
        """Close the view and the session; everything is given back."""
        if self._view is not None:
            self._view.close()
        self.session.close()

    def __enter__(self) -> Lab:
        """Return the lab."""
        return self

    def __exit__(self, *_reason: object) -> None:
        """Close the lab."""
        self.close()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        if self.session.closed:
            return {"text/plain": _("A closed lab. Open a new one with gdviz.lab().")}
        return self.view._repr_mimebundle_(**options)

    def __repr__(self) -> str:
        lines = [repr(self.session), *(f"  {node!r}" for node in self.nodes)]
        return "\n".join(lines)


def lab(
    source: str | Path | Machine | list[Machine] | None = None,
    *,
    nodes: int = 2,
    fabric: Fabric | None = None,
    host: SimulatedHost | None = None,
    clock: Clock | None = None,
    seed: int = 1,
    scheduler: str | None = None,
    security: Any = None,
) -> Lab:
    """Open a lab of simulated nodes.

    Parameters
    ----------
    source
        What the nodes are: the path of an NCCL topology XML, the key of a catalogue machine such as
        ``'dgx-a100'``, machines, or nothing for two 8-GPU H100 nodes.
    nodes
        How many nodes to make of one machine.
    fabric, host, clock, seed
        See `gdviz.session.Session.simulated`.
    scheduler, security
        Address of a Dask scheduler, and its certificates for TLS: the nodes then live on its workers. With a
        source they are simulated there, without one each worker is a node with its own hardware.

    Raises
    ------
    GdvizError
        The source cannot be opened; the message says why.
    """
    if scheduler is not None and source is None:
        return Lab(Session.dask(scheduler, security=security))
    machines = _machines(source)
    if len(machines) == 1 and isinstance(machines[0], Machine):
        nodes = whole_number(nodes, "nodes", least=1, most=26)
        machines = [machines[0].renamed(f"node-{chr(ord('a') + i)}") for i in range(nodes)]
    if scheduler is not None:
        options: dict[str, Any] = {"security": security, "fabric": fabric, "host": host, "seed": seed}
        return Lab(Session.dask(scheduler, machines, **options))
    return Lab(Session.simulated(machines, fabric=fabric, host=host, clock=clock, seed=seed))


def _machines(source: str | Path | Machine | list[Machine] | None) -> list[Machine]:
    if source is None:
        source = DEFAULT_MACHINE
    if isinstance(source, Machine):
        return [source]
    if isinstance(source, list | tuple):
        return list(source)
    if isinstance(source, str) and not _exists(source):
        from gdviz.machine import CATALOGUE

        key = source.removeprefix("catalogue:")
        if key in CATALOGUE:
            return [reference_machine(key)]
    if not isinstance(source, str | PathLike):
        raise ReaderError(
            _("{what} is no path and no machine.").format(what=repr(source)[:60]),
            _("Give the path of a topology file, a catalogue machine's name, or machines."),
        )
    return list(open_machine(source))


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # too long for a path, or no path at all: the reader says so
        return False
