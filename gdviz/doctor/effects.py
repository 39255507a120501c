"""What a fault costs, by the model: the same transfer with and without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gdviz.errors import GdvizError
from gdviz.machine import Bridge, BridgeKind, Cpu, Machine, Path, PcieLink
from gdviz.messages import _
from gdviz.model import DataPath, Endpoint, PlaceKind, Workload, predict
from gdviz.quantities import format_rate

#: Messages that effects are told for: large enough that the path decides, not the message rate.
SIZE_BYTES = 2**20


def pair_rate(
    machine: Machine, gpu: str, nic: str, path: DataPath = DataPath.DIRECT, *, size_bytes: int = SIZE_BYTES
) -> float | None:
    """Return what the model expects of writes between a pair and its like, bytes per second.

    None where the machine lacks one of the two.
    """
    try:
        end = Endpoint(machine, nic, gpu)
        work = Workload(path=path, size_bytes=size_bytes)
        return predict(end, end, work, messages=100).bandwidth_bytes_per_s
    except GdvizError:
        return None


def staged_effect(machine: Machine, gpu: str, nic: str, who: str) -> tuple[str, float]:
    """Return a sentence on what staging costs a pair, and the bytes per second lost."""
    if not machine.nic(nic).speed_bytes_per_s:
        return "", 0.0  # the model would have to assume what decides the answer
    direct, staged = pair_rate(machine, gpu, nic), pair_rate(machine, gpu, nic, DataPath.STAGED)
    if direct is None or staged is None:
        return "", 0.0
    if staged >= 0.97 * direct:
        text = _(
            "By the model {who} loses no bandwidth by it ({staged} staged, {direct} direct, 1 MiB "
            "messages), only"
            " latency and a CPU busy with copies."
        )
    else:
        text = _(
            "By the model {who} moves about {staged} through host memory instead of {direct} directly (1 MiB"
            " messages), with a CPU busy with copies."
        )
    words = text.format(who=who, staged=format_rate(staged), direct=format_rate(direct))
    return words, max(0.0, direct - staged)


def through_root(machine: Machine, path: Path) -> Machine | None:
    """Return the machine as a pair's traffic sees it when ACS sends it up to the root complex.

    GPU and NIC hang from the CPU, each by the narrowest link on its way up. None for a pair whose traffic
    turns round at the root complex anyway, or whose CPU the machine does not name.
    """
    cpu = machine.cpu_of(path.gpu)
    if cpu is None:
        return None
    gpus = tuple(
        replace(g, parent=cpu.id, link=_narrowest(machine, g.id)) if g.id == path.gpu else g
        for g in machine.gpus
    )
    nics = tuple(
        replace(n, parent=cpu.id, link=_narrowest(machine, n.id)) if n.id == path.nic else n
        for n in machine.nics
    )
    return replace(machine, parts=replace(machine.parts, gpus=gpus, nics=nics))


def _narrowest(machine: Machine, part_id: str) -> PcieLink:
    links = [
        part.link
        for part in machine.ancestors(part_id)
        if hasattr(part, "link")
        and not (isinstance(part, Bridge) and part.kind is not BridgeKind.SWITCH)
        and part.link.bandwidth_bytes_per_s
    ]
    return min(links, key=lambda link: link.bandwidth_bytes_per_s or 0.0, default=PcieLink())


def redirected_rate(machine: Machine, path: Path) -> float | None:
    """Return what a pair keeps when its traffic goes through the root complex, bytes per second.

    Both ways at once, as in a ring: what is sent and what is received each pass the switch's one uplink in
    both directions, so that each gets half of it.
    """
    changed = through_root(machine, path)
    if changed is None:
        return None
    try:
        end = Endpoint(changed, path.nic, path.gpu)
        answer = predict(end, end, Workload(size_bytes=SIZE_BYTES), messages=100)
    except GdvizError:
        return None
    links = [each.bytes_per_s for each in answer.ceilings if each.place.kind is PlaceKind.LINK]
    return min([answer.bandwidth_bytes_per_s, *(rate / 2 for rate in links)])


#: Rates of NIC families where no file gives the port's, Gb/s (makers' data sheets, the fastest of each).
_FAMILY_GBIT = {
    "ConnectX-4": 100, "ConnectX-5": 100, "ConnectX-6": 200, "ConnectX-6 Dx": 200, "ConnectX-7": 400,
    "ConnectX-8": 800, "BlueField-2": 200, "BlueField-3": 400,
}  # fmt: skip


def completed(machine: Machine, speeds: Mapping[str, float]) -> Machine:
    """Return a machine with what the model needs and its source does not say.

    Ports without a rate get the one that other files give (by NIC id), else their family's; CPUs without a
    make get that of the root ports below them.
    """
    nics = tuple(
        nic
        if nic.speed_bytes_per_s
        else replace(nic, speed_bytes_per_s=speeds.get(nic.id) or _family_rate(nic.model))
        for nic in machine.nics
    )
    cpus = tuple(cpu if cpu.vendor or cpu.arch else _with_make(machine, cpu) for cpu in machine.cpus)
    if nics == machine.nics and cpus == machine.cpus:
        return machine
    return replace(machine, parts=replace(machine.parts, nics=nics, cpus=cpus))


def _family_rate(model: str) -> float | None:
    gbit = _FAMILY_GBIT.get(model)
    return gbit * 1e9 / 8 if gbit else None


def _with_make(machine: Machine, cpu: Cpu) -> Cpu:
    vendors = {
        bridge.pci.vendor: bridge.link
        for bridge in machine.bridges
        if bridge.kind is BridgeKind.ROOT_PORT and machine.cpu_of(bridge.id) == cpu
    }
    fast = any(gpu.link.gen == 5 for gpu in machine.gpus)
    if 0x8086 in vendors:
        # Gen5 came with Sapphire Rapids (143), Gen4 with Ice Lake (106).
        return replace(cpu, arch="x86_64", vendor="GenuineIntel", family=6, model=143 if fast else 106)
    if 0x1022 in vendors:
        return replace(cpu, arch="x86_64", vendor="AuthenticAMD", family=25)
    return cpu
