"""The staged path: copies between GPU memory and bounce buffers in host memory, and the CPU's part.

A message goes in chunks. Of each the source's CPU launches a copy and waits for it, then posts; the far
CPU notices the chunk, launches the copy into the GPU and waits. Chunks overlap, as many as there are
bounce buffers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gdviz.messages import _
from gdviz.model.ceilings import CPU, TRAFFIC, Usage, usage
from gdviz.model.engine import Visit, Window
from gdviz.model.network import Network, busy_s, network
from gdviz.model.results import Place, Side, Stage
from gdviz.model.setup import End, Setup
from gdviz.model.workload import Op
from gdviz.quantities import format_size


def chunks_of(size_bytes: int, chunk_bytes: int) -> list[int]:
    """Return the sizes of a message's chunks: full ones, then what is left."""
    full, rest = divmod(size_bytes, chunk_bytes)
    return [chunk_bytes] * full + ([rest] if rest else [])


def launch_s(end: End, setup: Setup) -> float:
    """Return CPU seconds to launch a copy; a CPU that copies itself launches nothing."""
    return 0.0 if end.cpu_copies else setup.constants.copy_launch_s


def wait_s(end: End, setup: Setup) -> float:
    """Return CPU seconds to wait for a copy's end."""
    return 0.0 if end.cpu_copies else setup.constants.copy_wait_s


def copy_s(end: End, setup: Setup, size_bytes: int) -> float:
    """Return seconds for which one copy keeps the copy engine (or the CPU that copies) busy."""
    constants = setup.constants
    if end.cpu_copies:
        return size_bytes / constants.memcpy_bytes_per_s
    assert end.copy is not None
    reads = end is setup.sink
    return constants.copy_start_s + busy_s(setup, end.copy, size_bytes, reads=reads)


def cpu_s(end: End, setup: Setup, size_bytes: int, batch: int) -> float:
    """Return CPU seconds of one end for one chunk."""
    constants = setup.constants
    total = launch_s(end, setup) + wait_s(end, setup)
    if end.cpu_copies:
        total += copy_s(end, setup, size_bytes)
    if end.side is Side.LOCAL:
        total += constants.post_s + constants.program_s / batch
    if end is setup.sink or setup.op is Op.READ:
        total += constants.notice_s
    return total


def near_s(setup: Setup, size_bytes: int) -> float:
    """Return CPU seconds at the source that a message of one chunk waits for."""
    end = setup.source
    copying = copy_s(end, setup, size_bytes) if end.cpu_copies else 0.0
    return launch_s(end, setup) + wait_s(end, setup) + copying


def far_s(setup: Setup, size_bytes: int) -> float:
    """Return CPU seconds at the sink that a message of one chunk waits for."""
    end = setup.sink
    copying = copy_s(end, setup, size_bytes) if end.cpu_copies else 0.0
    notice = 0.0 if setup.op is Op.READ else setup.constants.notice_s
    return launch_s(end, setup) + wait_s(end, setup) + copying + notice


def staged_usage(setup: Setup, size_bytes: int, qps: int, batch: int) -> Usage:
    """Return for how long one staged message keeps every place busy."""
    found = Usage()
    chunk = setup.constants.chunk_bytes
    full, rest = divmod(size_bytes, chunk)
    for size, times in ((chunk, full), (rest, 1)):
        if size and times:
            found.merge(_chunk_usage(setup, size, qps, batch), times)
    return found


def _chunk_usage(setup: Setup, size_bytes: int, qps: int, batch: int) -> Usage:
    found = usage(setup, size_bytes, qps)
    for end in (setup.source, setup.sink):
        found.add(end.cpu, CPU, _("CPU work of staging"), cpu_s(end, setup, size_bytes, batch))
        found.crossings.setdefault(end.cpu, 1)
        if end.copy is not None:
            engine = end.copy.places[-1]
            found.add(engine, "copy", _("Copy engine"), copy_s(end, setup, size_bytes))
        elif end.cpu_copies:
            memory = end.data.steps[0]
            # The CPU reads the one buffer and writes the other.
            assert memory.bytes_per_s is not None
            found.add(memory.place, TRAFFIC, memory.name, 2 * size_bytes / memory.bytes_per_s)
            found.crossings[memory.place] += 2
    trip = Chain.of(setup, [size_bytes]).end_s
    buffers = setup.constants.bounce_buffers
    found.add(setup.local.nic_place, "buffers", _("Bounce buffers"), trip / buffers)
    return found


@dataclass(frozen=True)
class Chain:
    """The times of one staged message's chunks.

    Attributes
    ----------
    starts
        When each chunk starts: source CPU, copy, wait, network, far CPU, copy, wait; shape (7, chunks).
    end_s
        When the last chunk lies in the far memory and the far CPU knows.
    """

    sizes: list[int]
    networks: dict[int, Network]
    starts: list[list[float]]
    ask_s: float
    reply_s: float
    end_s: float

    @classmethod
    def of(cls, setup: Setup, sizes: list[int]) -> Chain:
        """Send chunks through an idle staged path, as many under way as there are bounce buffers."""
        constants = setup.constants
        source, sink = setup.source, setup.sink
        kinds = sorted(set(sizes))
        position = np.searchsorted(kinds, sizes)
        networks = {size: network(setup, size) for size in kinds}
        read = setup.op is Op.READ
        # For a READ the poster asks the far CPU to copy, and is told when it has.
        signal = constants.post_s + setup.local.host.latency_s + setup.one_way_s
        signal += setup.remote.host.latency_s + constants.notice_s
        ask_s, reply_s = (signal, signal) if read else (0.0, 0.0)
        notice = 0.0 if read else constants.notice_s

        def visit(occupancy: list[float], delay: list[float]) -> Visit:
            return Visit(np.array(occupancy)[position], np.array(delay)[position])

        def copies(end: End) -> list[float]:
            return [copy_s(end, setup, size) for size in kinds]

        def flat(value: float) -> list[float]:
            return [value] * len(kinds)

        hardware = [usage(setup, size, 1).busy_hardware() for size in kinds]
        arrival = [networks[size].end_s if read else networks[size].landed_s for size in kinds]
        work = [[cpu_s(end, setup, size, constants.batch) for size in kinds] for end in (source, sink)]
        visits = [
            visit(work[0], flat(launch_s(source, setup))),
            visit(copies(source), copies(source)),
            visit(flat(0.0), flat(wait_s(source, setup) + reply_s)),
            visit(hardware, arrival),
            visit(work[1], flat(notice + launch_s(sink, setup))),
            visit(copies(sink), copies(sink)),
            visit(flat(0.0), flat(wait_s(sink, setup))),
        ]
        window = Window(len(visits), constants.bounce_buffers)
        _posted, done, begun = window.run(visits, np.zeros(len(sizes)))
        starts = [[float(start[0]) + ask_s, float(start[-1]) + ask_s] for start in begun]
        return cls(sizes, networks, starts, ask_s, reply_s, float(done[-1]) + ask_s)


def staged_stages(setup: Setup, size_bytes: int) -> tuple[Stage, ...]:
    """Return the stages of one staged message on an idle path."""
    chain = Chain.of(setup, chunks_of(size_bytes, setup.constants.chunk_bytes))
    stages: list[Stage] = []
    if setup.op is Op.READ:
        stages.append(
            Stage(
                "ask", _("Ask"), Side.WIRE, _signal(setup.local, setup.remote), 0.0, chain.ask_s, cpu=True,
                text=_("The poster asks the far CPU to copy the data to its bounce buffer."),
            )
        )  # fmt: skip
    stages += _copy_stages(setup, setup.source, chain, 0)
    if setup.op is Op.READ:
        waited = chain.starts[2][1] + wait_s(setup.source, setup)
        begun = chain.starts[2][0] + wait_s(setup.source, setup)
        stages.append(
            Stage(
                "reply", _("Reply"), Side.WIRE, _signal(setup.remote, setup.local),
                begun, waited + chain.reply_s, cpu=True,
                text=_("The far CPU tells the poster that the bounce buffer is filled."),
            )
        )  # fmt: skip
    stages += _network_stages(chain)
    stages += _copy_stages(setup, setup.sink, chain, 4)
    return tuple(sorted(stages, key=lambda stage: stage.start_s))


def _network_stages(chain: Chain) -> list[Stage]:
    first, last = chain.networks[chain.sizes[0]], chain.networks[chain.sizes[-1]]
    begin, end = chain.starts[3]
    ends = {(stage.key, stage.side): stage.end_s + end for stage in last.stages}
    return [
        _moved(stage, stage.start_s + begin, ends.get((stage.key, stage.side), stage.end_s + begin))
        for stage in first.stages
    ]


def _moved(stage: Stage, start_s: float, end_s: float) -> Stage:
    return Stage(
        stage.key, stage.name, stage.side, stage.places, start_s, end_s,
        stage.cpu, stage.moves_bytes, stage.text,
    )  # fmt: skip


def _copy_stages(setup: Setup, end: End, chain: Chain, at: int) -> list[Stage]:
    """Return launch, copy and wait of one end; `at` is the position of its launch in the chain."""
    outwards = end is setup.source
    size = format_size(sum(chain.sizes))
    last = chain.sizes[-1]
    launch, copy, wait = chain.starts[at : at + 3]
    stages: list[Stage] = []
    start, stop = launch
    if not outwards and setup.op is not Op.READ:
        notice = setup.constants.notice_s
        stages.append(
            Stage(
                "notice", _("Notice"), end.side, (end.host.places[0], end.cpu), start, stop + notice,
                cpu=True,
                text=_("The far CPU polls memory and notices that a chunk has come."),
            )
        )  # fmt: skip
        start, stop = start + notice, stop + notice
    if end.cpu_copies:
        memory = end.data.places[0]
        stages.append(
            Stage(
                "copy", _("Copy by the CPU"), end.side, (memory, end.cpu, memory),
                copy[0], copy[1] + copy_s(end, setup, last), cpu=True, moves_bytes=True,
                text=(
                    _("The CPU copies {size} to the bounce buffer.")
                    if outwards
                    else _("The CPU copies {size} out of the bounce buffer.")
                ).format(size=size),
            )
        )  # fmt: skip
        return stages
    assert end.copy is not None
    to_gpu = end.copy.places
    stages += [
        Stage(
            "copy_launch", _("Copy launch"), end.side, (end.cpu, *_tail(to_gpu, end.cpu)), start,
            stop + launch_s(end, setup), cpu=True,
            text=_("The CPU calls the GPU driver, which tells the GPU's copy engine what to do."),
        ),
        Stage(
            "copy", _("Copy to the host") if outwards else _("Copy to the GPU"), end.side,
            to_gpu[::-1] if outwards else to_gpu, copy[0], copy[1] + copy_s(end, setup, last),
            moves_bytes=True,
            text=(
                _("The GPU's copy engine writes {size} to the bounce buffer in host memory.")
                if outwards
                else _("The GPU's copy engine reads {size} from the bounce buffer in host memory.")
            ).format(size=size),
        ),
        Stage(
            "copy_wait", _("Copy wait"), end.side, (to_gpu[0], end.cpu), wait[0],
            wait[1] + wait_s(end, setup), cpu=True,
            text=_("The CPU waits for the copy's end and wakes up."),
        ),
    ]  # fmt: skip
    return stages


def _tail(places: tuple[Place, ...], after: Place) -> tuple[Place, ...]:
    return places[places.index(after) + 1 :] if after in places else places[1:]


def _signal(sender: End, receiver: End) -> tuple[Place, ...]:
    places = (*_tail((sender.cpu, *_tail(sender.host.places, sender.cpu)), sender.cpu), sender.port)
    return (sender.cpu, *places, receiver.port, *receiver.host.places[::-1])
