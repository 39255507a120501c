"""A pair of registered buffers to start with, for those who want to see something move at once."""

from __future__ import annotations

from typing import Any

from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.rdma import AccessFlags, Location
from gdviz.session import MemoryRegion, Session
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
    machine = node.machine
    if not machine.nics:
        raise GdvizError(_("{node} has no NIC.").format(node=node.name))
    if machine.gpus:
        gpu = machine.gpus[0]
        location, nic = Location("gpu", gpu.id), machine.nearest_nic(gpu)
    elif not machine.cpus:
        raise GdvizError(_("{node} has neither a GPU nor a CPU.").format(node=node.name))
    else:
        location, nic = Location("host", machine.cpus[0].id), machine.nics[0]
    assert nic is not None
    buffer = await state.alloc(node.name, location, PAIR_BYTES, "zeros" if index else "counter")
    try:
        return await state.register(node.name, nic.id, buffer, ACCESS)
    except GdvizError:
        # Else every press of Start would leave another buffer behind.
        await state.free(buffer)
        raise
