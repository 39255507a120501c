"""One message from memory to memory over two NICs: its stages, from post to completion."""

from __future__ import annotations

from dataclasses import dataclass

from gdviz.messages import _
from gdviz.model.ceilings import Usage, add_route, wire_bytes_per_s
from gdviz.model.results import Place, PlaceKind, Side, Stage
from gdviz.model.route import Route
from gdviz.model.setup import End, Setup
from gdviz.model.wire import message_bytes
from gdviz.model.workload import Op
from gdviz.quantities import format_size


@dataclass(frozen=True, slots=True)
class Network:
    """Stages of one message over the network.

    Attributes
    ----------
    landed_s
        When the last byte lies in the far memory.
    end_s
        When the poster knows that it is done.
    cpu_s
        The poster's own part of that time.
    """

    stages: tuple[Stage, ...]
    landed_s: float
    end_s: float
    cpu_s: float


def network(setup: Setup, size_bytes: int, *, idle: bool = True, whole_bytes: int | None = None) -> Network:
    """Return one message's stages, posted at 0, with nothing in its way.

    Parameters
    ----------
    idle
        Whether the queue pair was idle before, so that a long message waits for a first acknowledgement,
        and that the entry goes with the doorbell (`Constants.blueflame`).
    whole_bytes
        What the sentences call the size, where this is a chunk of something larger.
    """
    constants, op = setup.constants, setup.op
    local, remote = setup.local, setup.remote
    stages = _posting(setup, alone=idle)
    at = stages[-1].end_s
    if op is Op.READ:
        request_s = setup.one_way_s + message_bytes(1, setup.fabric, Op.WRITE) / wire_bytes_per_s(setup)
        stages.append(
            Stage(
                "request", _("Request"), Side.WIRE, _over_wire(local, remote), at, at + request_s,
                text=_("A read request of one packet crosses the wire."),
            )
        )  # fmt: skip
        at += request_s
    flow, issued, landed = _pipeline(setup, size_bytes, at, whole_bytes or size_bytes, idle=idle)
    stages += flow
    at = issued
    if op is not Op.READ:
        stages.append(
            Stage(
                "ack", _("Acknowledgement"), Side.WIRE, _over_wire(remote, local),
                at, at + setup.one_way_s,
                text=_("The far NIC acknowledges the last packet."),
            )
        )  # fmt: skip
        at += setup.one_way_s
    stages.append(
        Stage(
            "completion", _("Completion"), Side.LOCAL, _reverse(local.host), at,
            at + local.host.latency_s,
            text=_("The NIC writes a completion entry to host memory over PCIe: {size}.").format(
                size=format_size(constants.cqe_bytes)
            ),
        )
    )  # fmt: skip
    at += local.host.latency_s
    poll_s = constants.poll_s + constants.program_s / 2
    stages.append(
        Stage(
            "poll", _("Poll"), Side.LOCAL, (local.host.places[0], local.cpu), at, at + poll_s, cpu=True,
            text=_("The CPU polls the completion queue and finds the entry."),
        )
    )  # fmt: skip
    cpu_s = stages[0].duration_s + poll_s
    stages.sort(key=lambda stage: stage.start_s)
    return Network(tuple(stages), landed, at + poll_s, cpu_s)


def _posting(setup: Setup, *, alone: bool) -> list[Stage]:
    constants, local = setup.constants, setup.local
    post_s = constants.post_s + constants.program_s / 2
    posted = post_s + local.host.latency_s
    fetched = posted + local.host.round_trip_s + constants.nic_fetch_s
    stages = [
        Stage(
            "post", _("Post"), Side.LOCAL, (local.cpu, local.host.places[0]), 0.0, post_s, cpu=True,
            text=_("The CPU writes a work queue entry to host memory: {size}.").format(
                size=format_size(constants.wqe_bytes)
            ),
        ),
        Stage(
            "doorbell", _("Doorbell"), Side.LOCAL, local.from_cpu, post_s, posted,
            text=_("The CPU rings the NIC's doorbell: a small write over PCIe."),
        ),
    ]  # fmt: skip
    if constants.blueflame and alone:
        return stages
    stages.append(
        Stage(
            "wqe_fetch", _("WQE fetch"), Side.LOCAL, local.host.places, posted, fetched,
            text=_("The NIC reads the work queue entry from host memory over PCIe: {size}.").format(
                size=format_size(constants.wqe_bytes)
            ),
        )
    )  # fmt: skip
    return stages


def busy_s(setup: Setup, route: Route, size_bytes: int, *, reads: bool) -> float:
    """Return for how long a message keeps the narrowest place of a route busy."""
    found = Usage()
    add_route(found, setup.constants, route, size_bytes, reads=reads)
    return found.busy_hardware()


def _pipeline(
    setup: Setup, size_bytes: int, at: float, whole_bytes: int, *, idle: bool
) -> tuple[list[Stage], float, float]:
    """Return the stages that move the payload, when the last write is issued, and when it lands.

    The three overlap: as soon as a packet of one MTU is there, the next stage takes it.
    """
    constants, source, sink = setup.constants, setup.source, setup.sink
    mtu = setup.fabric.mtu_bytes
    first = min(size_bytes, mtu)
    # The last packet, and the whole ones before it.
    before = (-(-size_bytes // mtu) - 1) * mtu
    last = size_bytes - before
    speed = wire_bytes_per_s(setup)

    def read_s(part: int) -> float:
        return busy_s(setup, source.data, part, reads=True)

    def wire_s(part: int) -> float:
        return message_bytes(part, setup.fabric, setup.op) / speed

    def write_s(part: int) -> float:
        return busy_s(setup, sink.data, part, reads=False)

    inline = setup.inlined(size_bytes)
    ready = at if inline else at + source.data.round_trip_s + read_s(first)
    read_end = at if inline else at + source.data.round_trip_s + read_s(size_bytes)
    sent = max(ready + wire_s(size_bytes), read_end + wire_s(last))
    # A short last packet waits for the whole one before it, at each stage.
    ahead_s = ready
    if before:
        ahead_s = max(ready + wire_s(before), read_end - read_s(size_bytes) + read_s(before) + wire_s(mtu))
        sent = max(sent, ahead_s + wire_s(last))
    pause: list[Stage] = []
    if idle and setup.op is not Op.READ and size_bytes > constants.first_burst_bytes:
        burst_end = ready + wire_s(constants.first_burst_bytes)
        pause_s = 2 * setup.one_way_s + source.data.round_trip_s
        pause.append(
            Stage(
                "first_ack", _("First acknowledgement"), Side.WIRE,
                _over_wire(setup.remote, setup.local), burst_end, burst_end + pause_s,
                text=_("After a first burst of {size} the NIC seems to wait once for an answer.").format(
                    size=format_size(constants.first_burst_bytes)
                ),
            )
        )  # fmt: skip
        read_end += pause_s
        sent += pause_s
        ahead_s += pause_s
    # The NIC reads no further ahead of the wire than its buffer holds.
    read_end = max(read_end, sent - wire_s(min(size_bytes, constants.nic_buffer_bytes)))
    arrived_first = ready + wire_s(first) + setup.one_way_s
    arrived = sent + setup.one_way_s
    receive: list[Stage] = []
    write_start = arrived_first
    if setup.op is Op.SEND:
        write_start += constants.nic_fetch_s
        receive.append(
            Stage(
                "receive_wqe", _("Receive entry"), sink.side, (sink.nic_place,), arrived_first, write_start,
                text=_("The far NIC takes a receive entry, fetched ahead, to learn where the data go."),
            )
        )  # fmt: skip
    issued = max(write_start + write_s(size_bytes), arrived + write_s(last))
    if before:
        issued = max(issued, ahead_s + setup.one_way_s + write_s(mtu) + write_s(last))
    landed = issued + sink.data.latency_s
    size = format_size(whole_bytes)
    stages = [
        Stage(
            "dma_read", _("DMA read"), source.side, source.data.places, at, read_end, moves_bytes=True,
            text=_read_text(source).format(size=size),
        ),
        Stage(
            "wire", _("Wire"), Side.WIRE, _over_wire(source, sink), ready, arrived, moves_bytes=True,
            text=_("{packets} packets of at most {mtu} cross the wire.").format(
                packets=-(-whole_bytes // mtu), mtu=format_size(mtu)
            )
            if whole_bytes > mtu
            else _("One packet crosses the wire: {size}.").format(size=size),
        ),
        *pause,
        *receive,
        Stage(
            "dma_write", _("DMA write"), sink.side, _reverse(sink.data), write_start, landed,
            moves_bytes=True, text=_write_text(sink).format(size=size),
        ),
    ]  # fmt: skip
    if inline:
        del stages[0]
    if setup.op is Op.SEND:
        stages += _told(setup, issued)
    return stages, issued, landed


def _told(setup: Setup, at: float) -> list[Stage]:
    sink, constants = setup.sink, setup.constants
    seen = at + sink.host.latency_s
    return [
        Stage(
            "completion", _("Completion"), sink.side, _reverse(sink.host), at, seen,
            text=_("The far NIC writes a completion entry for the receiver."),
        ),
        Stage(
            "poll", _("Poll"), sink.side, (sink.host.places[0], sink.cpu), seen, seen + constants.poll_s,
            cpu=True, text=_("The receiver's CPU polls its completion queue."),
        ),
    ]  # fmt: skip


def _read_text(end: End) -> str:
    if end.copy is None and end.gpu is not None:
        return _("The NIC reads GPU memory over PCIe, itself: {size}.")
    if end.copy is not None:
        return _("The NIC reads the bounce buffer in host memory over PCIe: {size}.")
    return _("The NIC reads host memory over PCIe: {size}.")


def _write_text(end: End) -> str:
    if end.copy is None and end.gpu is not None:
        return _("The NIC writes GPU memory over PCIe, itself: {size}.")
    if end.copy is not None:
        return _("The NIC writes the bounce buffer in host memory over PCIe: {size}.")
    return _("The NIC writes host memory over PCIe: {size}.")


def _reverse(route: Route) -> tuple[Place, ...]:
    return route.places[::-1]


def _over_wire(sender: End, receiver: End) -> tuple[Place, ...]:
    wire = Place(Side.WIRE, PlaceKind.WIRE, "fabric")
    return (sender.nic_place, sender.port, wire, receiver.port, receiver.nic_place)
