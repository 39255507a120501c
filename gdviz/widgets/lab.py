"""The whole lab in a cell: its steps around one picture."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gdviz.clock import Clock
from gdviz.errors import GdvizError, ReaderError, SessionClosedError
from gdviz.machine import Machine, reference_machine
from gdviz.messages import _
from gdviz.model import Fabric
from gdviz.quantities import whole_number
from gdviz.rdma.simulated import SimulatedHost
from gdviz.readers import open_machine
from gdviz.session import Buffer, Comparison, MemoryRegion, Node, Session, Transfer

if TYPE_CHECKING:
    from gdviz.doctor import Report
    from gdviz.widgets.lab_view import LabView

#: The machine that the lab opens when none is named.
DEFAULT_MACHINE = "hgx-h100"


class Lab:
    """A session of nodes and the panels to work with them.

    Shown at the end of a cell it is the lab; its attributes are the same things as plain Python.
    """

    def __init__(self, session: Session, files: str | PathLike[str] | None = None) -> None:
        self.session = session
        self._files = files
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

    def diagnose(self) -> Report:
        """Return what the doctor says: of the files that the lab opened, else of what its hosts' tools show.

        Simulated hosts show what `gdviz.simulated` has made of them; what is real is looked at in place with
        ``gdviz.doctor("live:")``.

        Raises
        ------
        GdvizError
            The files have gone, or the nodes are real.
        """
        return diagnose_session(self.session, self._files)

    @property
    def view(self) -> LabView:
        """The lab as a widget."""
        if self.session.closed:
            raise SessionClosedError(_("This lab is closed."), _("Open a new one with gdviz.lab()."))
        if self._view is None:
            from gdviz.widgets.lab_view import LabView

            self._view = LabView(self.session, self._files)
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
    fault: str | None = None,
    provider: Literal["simulated", "verbs"] = "simulated",
    scheduler: Any = None,
    security: Any = None,
) -> Lab:
    """Open a lab: of simulated nodes, of this host's verbs, or of the workers of a Dask cluster.

    Parameters
    ----------
    source
        What the nodes are: the path of an NCCL topology XML, the key of a catalogue machine such as
        ``'dgx-a100'``, machines, or nothing for two 8-GPU H100 nodes.
    nodes
        How many nodes to make of one machine.
    fabric, host, clock, seed
        See `gdviz.session.Session.simulated`.
    fault
        A fault of all nodes, see `gdviz.simulated`.
    provider
        ``verbs``: real transfers by the hardware of this host, which is all nodes at once; `gdviz.nodes` says
        whether it can, and what is missing.
    scheduler, security
        A Dask scheduler (its address, a client or a cluster), and its certificates for TLS: the nodes then
        live on its workers. With a source they are simulated there, without one each worker is a node with
        its own hardware.

    Raises
    ------
    GdvizError
        The source cannot be opened, or there is no such hardware; the message says why.
    """
    if provider not in ("simulated", "verbs"):
        raise GdvizError(
            _("provider must be 'simulated' or 'verbs', not {value}.").format(value=repr(provider)[:60])
        )
    if provider == "verbs" and (source is not None or fault is not None):
        raise GdvizError(
            _("Real nodes are what their hosts are: they take no source and no fault."),
            _("Leave out provider='verbs' to simulate."),
        )
    if scheduler is not None and source is None:
        return Lab(Session.dask(scheduler, security=security, fabric=fabric))
    if provider == "verbs":
        return Lab(Session.hardware(nodes, fabric=fabric))
    machines = _machines(source)
    if len(machines) == 1 and isinstance(machines[0], Machine):
        nodes = whole_number(nodes, "nodes", least=1, most=26)
        machines = [machines[0].renamed(f"node-{chr(ord('a') + i)}") for i in range(nodes)]
    if scheduler is not None:
        options: dict[str, Any] = {"security": security, "fabric": fabric, "host": host, "seed": seed}
        return Lab(Session.dask(scheduler, machines, **options))
    session = Session.simulated(machines, fabric=fabric, host=host, clock=clock, seed=seed, fault=fault)
    # What a file says of its machines is its own; with a fault the hosts are no longer the file's.
    files = source if fault is None and isinstance(source, str | PathLike) and _exists(str(source)) else None
    return Lab(session, files)


def simulated(
    fault: str | None = None, source: str | Path | Machine | list[Machine] | None = None, **options: Any
) -> Lab:
    """Open a lab of simulated nodes that have a fault, for teaching.

    Registration and transfers behave as they do with the fault, and the lab's doctor finds it from what the
    hosts' tools would show.

    Parameters
    ----------
    fault
        Such as ``'acs-on-path'``; None: none. `gdviz.doctor.faults.FAULTS` has all.
    source, options
        See `lab`.

    Raises
    ------
    GdvizError
        There is no such fault, or these machines cannot have it.
    """
    return lab(source, fault=fault, **options)


def diagnose_session(session: Session, files: str | PathLike[str] | None = None) -> Report:
    """Return the doctor's report of a session's nodes, see `Lab.diagnose`."""
    from gdviz.doctor import diagnose
    from gdviz.doctor.faults import apply

    if files is not None:
        return diagnose(files)
    if not session.simulated_nodes:
        raise GdvizError(
            _("These nodes are real: the doctor looks at files of theirs."),
            _("Run gdviz capture on each of them, and give the files to gdviz.doctor()."),
        )
    faulty = session.faulty or apply(None, [node.machine for node in session.nodes])
    return faulty.diagnose()


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
