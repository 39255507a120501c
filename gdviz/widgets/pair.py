"""A pair of registered buffers to start with, for those who want to see something move at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gdviz.errors import GdvizError, RegistrationError
from gdviz.machine import Machine, Nic
from gdviz.messages import _
from gdviz.model import Endpoint
from gdviz.rdma import AccessFlags, Location
from gdviz.session import Buffer, MemoryRegion, Session
from gdviz.widgets.parts import offer
from gdviz.widgets.register import region_options

PAIR_BYTES = 64 * 2**20

ACCESS = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ


def offer_ends(session: Session, local: Any, remote: Any) -> None:
    """Offer the session's regions in two dropdowns, by default one on each of the first two nodes."""
    regions = session.state.regions
    names = [node.name for node in session.nodes]
    options = region_options(regions)
    for control, name in ((local, names[0]), (remote, names[min(1, len(names) - 1)])):
        offer(control, options, next((r for r in regions if r.record.node == name), None))
    if local.value is not None and remote.value is local.value:
        # The first region of all was the only one to offer then; now there may be one at the other end.
        other = next((r for r in regions if r.record.node != local.value.record.node), None)
        if other is not None:
            remote.value = other


def endpoints(session: Session) -> tuple[Endpoint, Endpoint]:
    """Return an end on each of the first two nodes: a region's where there is one, else GPU 0's.

    Nothing is allocated or registered: this is for what only the model is asked.
    """
    if len(session.nodes) < 2:
        raise GdvizError(_("A transfer needs two nodes."), _("Open the lab with two machines."))
    first, second = (_endpoint(session, index) for index in (0, 1))
    return first, second


def _endpoint(session: Session, index: int) -> Endpoint:
    node = session.nodes[index]
    for region in session.state.regions:
        if region.record.node == node.name:
            return session.state.endpoint(region)
    location, nic = _default(node.machine)
    if location.kind == "gpu":
        return Endpoint(node.machine, nic.id, location.part)
    return Endpoint(node.machine, nic.id, None, node.machine.cpus[0].numa)


@dataclass(frozen=True, slots=True)
class Pair:
    """Memory on each of the first two nodes.

    Attributes
    ----------
    refused
        Why GPU memory could not be registered, where it could not: the two are bare buffers then, which
        only the staged path can use.
    """

    local: MemoryRegion | Buffer
    remote: MemoryRegion | Buffer
    refused: str = ""


async def any_pair(session: Session) -> Pair:
    """Return a pair of regions, or of bare buffers where registration is refused."""
    try:
        return Pair(*await ensure_pair(session))
    except RegistrationError as error:
        first, second = [await _buffer(session, index) for index in (0, 1)]
        return Pair(first, second, str(error))


async def _buffer(session: Session, index: int) -> Buffer:
    node = session.nodes[index]
    location, _nic = _default(node.machine)
    for buffer in session.state.buffers:
        if (buffer.record.node, buffer.record.location) == (node.name, location):
            return buffer
    pattern = "zeros" if index else "counter"
    return await session.state.alloc(node.name, location, PAIR_BYTES, pattern)


async def ensure_pair(session: Session) -> tuple[MemoryRegion, MemoryRegion]:
    """Return a region on each of the first two nodes, made on GPU 0 where there is none yet."""
    if len(session.nodes) < 2:
        raise GdvizError(_("A transfer needs two nodes."), _("Open the lab with two machines."))
    first, second = [await _region(session, index) for index in (0, 1)]
    return first, second


async def _region(session: Session, index: int) -> MemoryRegion:
    state = session.state
    node = session.nodes[index]
    for region in state.regions:
        if region.record.node == node.name:
            return region
    location, nic = _default(node.machine)
    buffer = await state.alloc(node.name, location, PAIR_BYTES, "zeros" if index else "counter")
    try:
        return await state.register(node.name, nic.id, buffer, ACCESS)
    except GdvizError:
        # Else every press of Start would leave another buffer behind.
        await state.free(buffer)
        raise


def _default(machine: Machine) -> tuple[Location, Nic]:
    """Return GPU 0 and its nearest NIC; host memory on a machine without GPUs."""
    if not machine.nics:
        raise GdvizError(_("{node} has no NIC.").format(node=machine.name))
    if machine.gpus:
        gpu = machine.gpus[0]
        return Location("gpu", gpu.id), machine.nearest_nic(gpu) or machine.nics[0]
    if not machine.cpus:
        raise GdvizError(_("{node} has neither a GPU nor a CPU.").format(node=machine.name))
    return Location("host", machine.cpus[0].id), machine.nics[0]
