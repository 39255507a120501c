"""What a session is opened with: fleets of simulated nodes, of this host's hardware, of Dask's workers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import combinations
from typing import TYPE_CHECKING, Any

from gdviz.clock import Clock
from gdviz.errors import GdvizError, MissingDependencyError
from gdviz.machine import Machine
from gdviz.messages import _
from gdviz.model import Fabric
from gdviz.nodes import Fleet, InProcessFleet
from gdviz.quantities import whole_number
from gdviz.rdma.simulated import SimulatedHost, SimulatedNetwork
from gdviz.session.engine import Engine

if TYPE_CHECKING:
    from gdviz.doctor.faults import Faulty


def simulated_fleet(
    machines: Sequence[Machine],
    clock: Clock,
    *,
    fabric: Fabric | None,
    host: SimulatedHost | None,
    seed: int,
    fault: str | None,
) -> tuple[Fleet, Faulty | None]:
    """Return simulated nodes in this process, and the fault that they were given."""
    check(machines, fabric, host, clock)
    seed = whole_number(seed, "seed", most=2**64 - 1)
    names = [machine.name for machine in machines]
    if len(set(names)) != len(names):
        raise GdvizError(
            _("Two nodes have the same name: {names}.").format(names=", ".join(names)),
            _("Rename one: machine.renamed('node-b')."),
        )
    faulty = None
    if fault is not None:
        from gdviz.doctor.faults import apply

        faulty = apply(fault, machines, host=host, fabric=fabric)
        machines, host, fabric = faulty.machines, faulty.host, faulty.fabric
    network = SimulatedNetwork(clock, fabric=fabric, seed=seed)
    settings = host or SimulatedHost()
    providers = [network.provider(machine, settings=settings) for machine in machines]
    if faulty is not None and faulty.unreachable:
        for left, right in combinations(names, 2):
            network.cut(left, right)
    return InProcessFleet(providers, clock), faulty


def hardware_fleet(nodes: int, clock: Clock, *, gid_indexes: Sequence[int | None], **options: Any) -> Fleet:
    """Return nodes that are all this host: what one sends to another goes out of the NIC and comes back."""
    from gdviz.nodes.host import host_machine, open_host

    nodes = whole_number(nodes, "nodes", least=1, most=26)
    gid_indexes = gid_indexes or (None,)
    host = host_machine().name
    with ExitStack() as opened:
        providers = []
        for number in range(nodes):
            name = host if nodes == 1 else f"{host}-{chr(ord('a') + number)}"
            gid_index = gid_indexes[number % len(gid_indexes)]
            provider = open_host(name, gid_index=gid_index, **options)
            opened.callback(provider.close)
            providers.append(provider)
        opened.pop_all()
    return InProcessFleet(providers, clock)


def dask_fleet(
    engine: Engine,
    scheduler: Any,
    machines: Sequence[Machine],
    clock: Clock,
    *,
    security: Any,
    fabric: Fabric | None,
    host: SimulatedHost | None,
    seed: int,
    timeout_s: float,
) -> Fleet:
    """Return nodes on the workers of a Dask cluster; the fleet lives on the engine's loop."""
    try:
        from gdviz.nodes.dask import DaskFleet
        from gdviz.nodes.dask.fleet import simulated
        from gdviz.nodes.dask.scheduler import address_of
    except ImportError as error:
        raise MissingDependencyError(
            _("Nodes elsewhere need Dask: {error}.").format(error=error),
            _("Install it with: pip install 'gdviz[dask]'."),
        ) from None
    supply = None
    if machines:
        check(machines, fabric, host, clock)
        supply = simulated(machines, fabric=fabric, host=host, seed=seed)
    address, theirs = address_of(scheduler)
    opening = DaskFleet.open(address, supply=supply, security=security or theirs, timeout_s=timeout_s)
    return engine.ask(opening)


def check(machines: object, fabric: object, host: object, clock: object) -> None:
    """Refuse what no session can be made of, before anything is made.

    Raises
    ------
    GdvizError
        One of them is something else.
    """
    if not isinstance(machines, list | tuple) or not machines:
        raise GdvizError(
            _("A session needs a list of at least one machine, not {what}.").format(what=repr(machines)[:60])
        )
    for machine in machines:
        if not isinstance(machine, Machine):
            raise GdvizError(
                _("{what} is no machine.").format(what=repr(machine)[:60]),
                _("Take gdviz.reference_machine() or gdviz.open_machine('topo.xml')."),
            )
    for name, value, kind in (("fabric", fabric, Fabric), ("host", host, SimulatedHost)):
        if value is not None and not isinstance(value, kind):
            raise GdvizError(
                _("{name} must be a {kind}, not {value}.").format(
                    name=name, kind=kind.__name__, value=repr(value)[:60]
                )
            )
    if clock is not None and not (hasattr(clock, "now") and hasattr(clock, "sleep")):
        raise GdvizError(
            _("clock must be a clock, not {value}.").format(value=repr(clock)[:60]),
            _("Take gdviz.clock.RealClock() or SteppedClock()."),
        )
