"""The staged path: copies between GPU memory and bounce buffers in host memory, and the CPU's part.

A message goes in chunks. Of each the source's CPU launches a copy and waits for it, then posts; the far
CPU notices the chunk, launches the copy into the GPU and waits. Chunks overlap, as many as there are
bounce buffers.
"""

from __future__ import annotations

from gdviz.messages import _
from gdviz.model.ceilings import CPU, TRAFFIC, Usage, usage
from gdviz.model.chain import Chain
from gdviz.model.copies import by_cpu, chunks_of, copy_s, cpu_s, launch_s, notice_s, wait_s
from gdviz.model.results import Place, Side, Stage
from gdviz.model.setup import End, Setup
from gdviz.model.workload import Op
from gdviz.quantities import format_size


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
        if end.copy is not None and not by_cpu(end, setup, size_bytes):
            engine = end.copy.places[-1]
            lane = "copy out" if end is setup.source else "copy in"
            found.add(engine, lane, _("Copy engine"), copy_s(end, setup, size_bytes))
        elif end.cpu_copies:
            memory = end.data.steps[0]
            # The CPU reads the one buffer and writes the other.
            assert memory.bytes_per_s is not None
            found.add(memory.place, TRAFFIC, memory.name, 2 * size_bytes / memory.bytes_per_s)
            found.crossings[memory.place] += 2
    trip = Chain.of(setup, [size_bytes], idle=False).end_s
    buffers = setup.constants.bounce_buffers
    found.add(setup.local.nic_place, "buffers", _("Bounce buffers"), trip / buffers)
    return found


def staged_stages(setup: Setup, size_bytes: int) -> tuple[Stage, ...]:
    """Return the stages of one staged message on an idle path."""
    chain = Chain.of(setup, chunks_of(size_bytes, setup.constants.chunk_bytes))
    stages: list[Stage] = []
    if setup.op is Op.READ:
        stages.append(
            Stage(
                "ask", _("Ask"), Side.WIRE, _signal(setup.local, setup.remote), 0.0, chain.signal_s, cpu=True,
                text=_("The poster asks the far CPU to copy the data to its bounce buffer."),
            )
        )  # fmt: skip
    stages += _copy_stages(setup, setup.source, chain, 0)
    if setup.op is Op.READ:
        waited = chain.starts[2][1] + wait_s(setup.source, setup, chain.sizes[-1])
        begun = chain.starts[2][0] + wait_s(setup.source, setup, chain.sizes[0])
        stages.append(
            Stage(
                "reply", _("Reply"), Side.WIRE, _signal(setup.remote, setup.local),
                begun, waited + chain.signal_s, cpu=True,
                text=_("The far CPU tells the poster that the bounce buffer is filled."),
            )
        )  # fmt: skip
    stages += _network_stages(chain)
    stages += _copy_stages(setup, setup.sink, chain, 4)
    return tuple(sorted(stages, key=lambda stage: stage.start_s))


def _network_stages(chain: Chain) -> list[Stage]:
    first, last = chain.networks
    begin, end = chain.starts[3]
    ends = {(stage.key, stage.side): stage.end_s + end for stage in last.stages}
    # A short last chunk crosses faster than the first, but a queue pair's messages do not overtake.
    return [
        _moved(
            stage,
            stage.start_s + begin,
            max(stage.end_s + begin, ends.get((stage.key, stage.side), 0.0)),
        )
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
        notice = notice_s(setup)
        stages.append(
            Stage(
                "notice", _("Notice"), end.side, (end.host.places[0], end.cpu), start, stop + notice,
                cpu=True,
                text=_("The far CPU polls memory and notices that a chunk has come."),
            )
        )  # fmt: skip
        start, stop = start + notice, stop + notice
    if by_cpu(end, setup, last):
        memory = end.data.places[0]
        gpu = (end.copy.places[-1],) if end.copy is not None else (memory,)
        ways = (*gpu, end.cpu, memory) if outwards else (memory, end.cpu, *gpu)
        stages.append(
            Stage(
                "copy", _("Copy by the CPU"), end.side, ways,
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
            stop + launch_s(end, setup, last), cpu=True,
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
            wait[1] + wait_s(end, setup, last), cpu=True,
            text=_("The CPU waits for the copy's end and wakes up."),
        ),
    ]  # fmt: skip
    return stages


def _tail(places: tuple[Place, ...], after: Place) -> tuple[Place, ...]:
    return places[places.index(after) + 1 :] if after in places else places[1:]


def _signal(sender: End, receiver: End) -> tuple[Place, ...]:
    return (*sender.from_cpu, sender.port, receiver.port, *receiver.host.places[::-1])
