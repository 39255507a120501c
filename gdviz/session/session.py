"""The one stateful door: nodes, buffers, regions and transfers, owned by an engine thread."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from gdviz.clock import Clock, RealClock
from gdviz.errors import GdvizError, UnknownDeviceError
from gdviz.machine import Machine
from gdviz.messages import _
from gdviz.model import DataPath, Fabric, Op
from gdviz.nodes import Fleet
from gdviz.quantities import parse_duration, parse_size
from gdviz.rdma import TransferSpec
from gdviz.rdma.simulated import SimulatedHost
from gdviz.session.checks import choice, own_memory
from gdviz.session.compare import Comparison
from gdviz.session.engine import Engine
from gdviz.session.events import Topic
from gdviz.session.objects import Buffer, MemoryRegion, Node
from gdviz.session.opening import dask_fleet, hardware_fleet, simulated_fleet
from gdviz.session.state import State
from gdviz.session.transfers import Transfer

if TYPE_CHECKING:
    from gdviz.doctor.faults import Faulty

Answer = TypeVar("Answer")

#: Message size where none is given, as in perftest's bandwidth tests.
DEFAULT_SIZE_BYTES = 65536

#: Messages where neither count nor duration is given, as in perftest.
DEFAULT_COUNT = 1000


class Session:
    """Nodes and everything that was made on them.

    Made by `simulated`; close it, or use it in a ``with`` block, to give everything back. An interpreter
    that ends closes what is open.

    Parameters
    ----------
    fleet
        The nodes.
    clock
        The session's time.
    engine
        The thread that owns it; a new one if none is given.
    fabric
        The wire between its nodes; by default what their NICs speak.

    Attributes
    ----------
    faulty
        The fault that its simulated nodes were given, with what their tools show; None without one.
    """

    def __init__(
        self, fleet: Fleet, clock: Clock, engine: Engine | None = None, *, fabric: Fabric | None = None
    ) -> None:
        self.clock = clock
        self.engine = engine or Engine()
        self.state = State(self, fleet, clock, fabric)
        self.nodes = tuple(Node(self, record) for record in fleet.nodes)
        self.faulty: Faulty | None = None
        self._closed = False
        _open_sessions.add(self)

    @classmethod
    def simulated(
        cls,
        machines: Sequence[Machine],
        *,
        fabric: Fabric | None = None,
        host: SimulatedHost | None = None,
        clock: Clock | None = None,
        seed: int = 1,
        fault: str | None = None,
    ) -> Session:
        """Return a session of simulated nodes.

        Parameters
        ----------
        machines
            The nodes' hardware; names must differ.
        fabric
            The wire between them; by default what their NICs speak.
        host
            What the nodes' kernels and drivers offer.
        clock
            Real time by default.
        seed
            Same seed, same numbers.
        fault
            A fault that all nodes have, see `gdviz.doctor.faults.FAULTS`; `faulty` then tells what their
            tools would show.
        """
        clock = clock or RealClock()
        fleet, faulty = simulated_fleet(machines, clock, fabric=fabric, host=host, seed=seed, fault=fault)
        session = cls(fleet, clock, fabric=fabric if faulty is None else faulty.fabric)
        session.faulty = faulty
        return session

    @classmethod
    def hardware(
        cls,
        nodes: int = 2,
        *,
        fabric: Fabric | None = None,
        gid_indexes: Sequence[int | None] = (),
        **options: Any,
    ) -> Session:
        """Return a session of this host's own verbs, with GPU memory where there is CUDA.

        Parameters
        ----------
        nodes
            All of them are this host: what one sends to another leaves by a NIC and comes back by it or by
            another one.
        fabric
            The wire between the NICs: for predictions, and its MTU for the queue pairs.
        gid_indexes
            Entries of the GID table, one a node; by default the first IPv4 address of RoCE v2.
        options
            More of `gdviz.rdma.hardware.HardwareProvider`.

        Raises
        ------
        UnknownDeviceError
            There is no RDMA device; `gdviz.nodes` says what is missing.
        MissingDependencyError
            There is no Python binding of libibverbs.
        """
        clock = RealClock()
        fleet = hardware_fleet(nodes, clock, gid_indexes=gid_indexes, **options)
        return cls(fleet, clock, fabric=fabric)

    @classmethod
    def dask(
        cls,
        scheduler: Any,
        machines: Sequence[Machine] = (),
        *,
        security: Any = None,
        fabric: Fabric | None = None,
        host: SimulatedHost | None = None,
        seed: int = 1,
        timeout_s: float = 10.0,
    ) -> Session:
        """Return a session of nodes that live on the workers of a Dask cluster.

        Parameters
        ----------
        scheduler
            Address of Dask's scheduler, or a client or cluster of Dask's.
        machines
            Nodes to simulate there, on the first worker; none for the workers' own hardware.
        security
            Dask's certificates (`distributed.Security`) for TLS.
        fabric
            The wire between the nodes: for the simulation and predictions, and its MTU for the queue pairs.
        host, seed
            Of simulated nodes, see `simulated`.
        timeout_s
            How long the scheduler may take to answer.

        Raises
        ------
        MissingDependencyError
            Dask is not installed.
        GdvizError
            No scheduler answers, or no worker has a node.
        """
        clock = RealClock()
        engine = Engine()
        try:
            fleet = dask_fleet(
                *(engine, scheduler, machines, clock),
                security=security,
                fabric=fabric,
                host=host,
                seed=seed,
                timeout_s=timeout_s,
            )
        except BaseException:
            engine.close()
            raise
        return cls(fleet, clock, engine, fabric=fabric)

    @property
    def simulated_nodes(self) -> bool:
        """Whether nothing here is real."""
        return all(node.record.simulated for node in self.nodes)

    def node(self, key: int | str) -> Node:
        """Return a node by name or position.

        Raises
        ------
        UnknownDeviceError
            There is none.
        """
        for position, node in enumerate(self.nodes):
            if key in (position, node.name):
                return node
        raise UnknownDeviceError(
            _("There is no node {key!r}.").format(key=key),
            _("There are: {names}.").format(names=", ".join(node.name for node in self.nodes)),
        )

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """All buffers that were allocated and not freed."""
        return tuple(self.state.buffers)

    @property
    def regions(self) -> tuple[MemoryRegion, ...]:
        """All memory regions that were registered and not deregistered."""
        return tuple(self.state.regions)

    @property
    def transfers(self) -> tuple[Transfer, ...]:
        """All transfers of the session, ended ones too."""
        return tuple(self.state.transfers.values())

    def transfer(
        self,
        local: Buffer | MemoryRegion,
        remote: Buffer | MemoryRegion,
        *,
        op: str | Op = Op.WRITE,
        path: str | DataPath = DataPath.DIRECT,
        size: str | int | None = None,
        depth: int = 128,
        qps: int = 1,
        count: int | None = None,
        duration: str | float | None = None,
        local_offset: str | int = 0,
        remote_offset: str | int = 0,
        rkey: int | None = None,
        post_receives: bool = True,
        ping_pong: bool = False,
    ) -> Transfer:
        """Start a transfer and return it; await it for the result.

        Parameters
        ----------
        local
            Region whose node posts the work requests. A bare buffer is registered for the while; the
            staged path does without.
        remote
            Region or buffer at the other end.
        op
            ``'write'``, ``'read'`` or ``'send'``.
        path
            ``'direct'`` or ``'staged'``.
        size
            Bytes of a message; by default 64 KiB, or the region if that is smaller.
        depth
            Messages in flight on one queue pair.
        qps
            Queue pairs.
        count, duration
            Number of messages, or how long to go on; by default 1000 messages.
        local_offset, remote_offset
            Where the message lies in each region.
        rkey
            Another rkey than the remote region's, to see what happens.
        post_receives
            Whether the receiver of ``'send'`` posts receives.
        ping_pong
            Measure latency to and fro, as perftest does; real nodes only, with a depth of 1.

        Raises
        ------
        GdvizError
            Something about it cannot be; the message says what.
        """
        if count is not None and duration is not None:
            raise GdvizError(_("A transfer has a count or a duration, not both."))
        own_memory(self, local, "local")
        own_memory(self, remote, "remote")
        length = min(_length(local), _length(remote))
        spec = TransferSpec(
            op=choice(Op, op),
            path=choice(DataPath, path),
            size_bytes=min(DEFAULT_SIZE_BYTES, length) if size is None else parse_size(size),
            depth=depth,
            qps=qps,
            count=(DEFAULT_COUNT if duration is None else None) if count is None else count,
            duration_s=None if duration is None else parse_duration(duration),
            local_offset=parse_size(local_offset),
            remote_offset=parse_size(remote_offset),
            rkey=rkey,
            post_receives=post_receives,
            ping_pong=ping_pong,
        )
        return self.ask(self.state.start(local, remote, spec))

    def compare(
        self, local: Buffer | MemoryRegion, remote: Buffer | MemoryRegion, **options: Any
    ) -> Comparison:
        """Start both paths over all sizes and return the comparison; await it for the curves.

        Bare buffers are compared by the staged path alone. See `Comparison` for the options.
        """
        comparison = Comparison(self, local, remote, **options)
        comparison.start()
        return comparison

    def ask(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Run a coroutine on the engine and wait for its answer."""
        return self.engine.ask(work)

    def watch(self, topic: Topic, callback: Callable[[Any], None]) -> Callable[[], None]:
        """Have a callback called on the engine's thread; returns what removes it again."""
        topic = choice(Topic, topic)
        if not callable(callback):
            raise GdvizError(_("A watcher is called, and {what} cannot be.").format(what=repr(callback)[:60]))
        return self.state.watchers.add(topic, callback)

    @property
    def closed(self) -> bool:
        """Whether it has been closed."""
        return self._closed

    def close(self) -> None:
        """Stop everything and give everything back; closing twice is allowed."""
        if self._closed:
            return
        if self.engine.here:
            raise GdvizError(
                _("A watcher cannot close its session: the session's own thread would wait for itself."),
                _("Close it from a cell or from another thread."),
            )
        self._closed = True
        _open_sessions.discard(self)
        if self.engine.alive:
            try:
                self.engine.ask(self.state.close())
            finally:
                self.engine.close()

    def __enter__(self) -> Session:
        """Return the session."""
        return self

    def __exit__(self, *_reason: object) -> None:
        """Close the session."""
        self.close()

    def __repr__(self) -> str:
        kind = _("simulated") if self.simulated_nodes else _("real")
        return f"<session of {len(self.nodes)} nodes ({kind}): {', '.join(n.name for n in self.nodes)}>"


_open_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


@atexit.register
def close_sessions() -> None:
    """Close every open session; called when the interpreter ends."""
    for session in tuple(_open_sessions):
        # One that cannot be closed must not keep the others open.
        with suppress(Exception):
            session.close()


def transfer(local: Buffer | MemoryRegion, remote: Buffer | MemoryRegion, **options: Any) -> Transfer:
    """Start a transfer in the session that `local` belongs to; see `Session.transfer`."""
    if not isinstance(local, Buffer | MemoryRegion):
        raise GdvizError(
            _("local must be a buffer or a memory region, not {value}.").format(value=repr(local)[:60])
        )
    return local._session.transfer(local, remote, **options)  # the handles' own door


def _length(memory: Buffer | MemoryRegion) -> int:
    return memory.length if isinstance(memory, MemoryRegion) else memory.size_bytes
