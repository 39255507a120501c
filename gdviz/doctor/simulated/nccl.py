"""The log of a simulated host's NCCL: what its rules say of the host, in its own words."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.doctor.simulated.state import HostState
from gdviz.doctor.verdict import Question, counted_distance, level_in_force
from gdviz.doctor.versions import NcclVersion, level_of, rank_of
from gdviz.machine import Gpu, Nic

#: A release whose log says why GPUDirect RDMA is off.
VERSION = NcclVersion(2, 27, 7)


def nccl_log(state: HostState) -> str:
    """Return an INFO log of one rank a GPU, each over its nearest NIC that is up."""
    return "\n".join(_lines(state)) + "\n"


def _lines(state: HostState) -> Iterator[str]:
    machine = state.machine
    nics = [nic for nic in machine.nics if nic.name not in state.ports_down]
    yield _say(state, 0, f"NCCL version {VERSION}+cuda12.9")
    for name, value in state.env.items():
        yield _say(state, 0, f"{name} set by environment to {value}.")
    if state.gid_index is not None:
        yield _say(state, 0, f"NCCL_IB_GID_INDEX set by environment to {state.gid_index}.")
    for gpu in machine.gpus:
        used = " ".join(
            f"[{number}]{nic.name}:1/{'IB' if nic.link_layer.value == 'InfiniBand' else 'RoCE'}"
            for number, nic in enumerate(nics)
        )
        yield _say(state, gpu.index, f"NET/IB : Using {used} [RO]; OOB eth0:10.0.0.{state.address}<0>")
        word = "Enabled" if state.registers and gpu.gdr is not False else "Disabled"
        for number, nic in enumerate(nics):
            yield _say(state, gpu.index, f"NET/IB : GPU Direct RDMA {word} for HCA {number} '{nic.name}'")
        yield from _decisions(state, gpu, nics, word == "Enabled")
    if state.gid_index in (0, 1):
        yield _warn(
            state,
            "transport/net_ib.cc:1781",
            "NET/IB : Got completion from peer 10.0.0.1<51840> with status=12 opcode=0 len=0 vendor err 129 "
            "(Send)",
        )
    if state.settings.memlock_bytes is not None:
        yield _warn(
            state, "misc/ibvwrap.cc:186", "Call to ibv_reg_mr failed with error Cannot allocate memory"
        )


def _decisions(state: HostState, gpu: Gpu, nics: list[Nic], supported: bool) -> Iterator[str]:
    if not nics:
        return
    machine = state.machine
    nic = min(nics, key=lambda each: (machine.path(gpu, each).distance.rank, each.index))
    level = state.env.get("NCCL_NET_GDR_LEVEL")
    question = Question(
        machine.path(gpu, nic).nccl.value, VERSION, level=level_of(level) if level is not None else None
    )
    counted, allowed = counted_distance(question) or "SYS", level_in_force(question)
    near = rank_of(counted) <= rank_of(allowed)
    number = nics.index(nic)
    numbers = VERSION.number_of(counted), VERSION.number_of(allowed)
    if supported:
        verdict = f"(distance {numbers[0]} {'<=' if near else '>'} {numbers[1]})"
        word = "Enabled" if near else "Disabled"
        tail = ", read 0 mode Default" if near else ""
        yield _say(
            state, gpu.index, f"GPU Direct RDMA {word} for GPU {gpu.index} / HCA {number} {verdict}{tail}"
        )
    tag = "/GDRDMA" if supported and near else ""
    index = gpu.index
    ends = f"{index + len(machine.gpus)}[{index}] -> {index}[{index}]"
    yield _say(state, index, f"Channel {index:02d}/0 : {ends} [receive] via NET/IB/{number}{tag}")


def _warn(state: HostState, place: str, text: str) -> str:
    return f"{state.machine.name}:4000:4100 [0] {place} NCCL WARN {text}"


def _say(state: HostState, gpu: int, text: str) -> str:
    return f"{state.machine.name}:{4000 + gpu}:{4100 + gpu} [{gpu}] NCCL INFO {text}"
