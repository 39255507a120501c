"""What a fault costs, by the model: the same transfer with and without it."""

from __future__ import annotations

from dataclasses import replace

from gdviz.errors import GdvizError
from gdviz.machine import Bridge, BridgeKind, Machine, Path, PcieLink
from gdviz.messages import _
from gdviz.model import DataPath, Endpoint, Workload, predict
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
    direct, staged = pair_rate(machine, gpu, nic), pair_rate(machine, gpu, nic, DataPath.STAGED)
    if direct is None or staged is None:
        return "", 0.0
    text = _(
        "Without GPUDirect RDMA {who} goes through host memory: the model expects about {staged} instead of {direct}"
        " for 1 MiB messages, and a CPU busy with copies."
    )
    return (
        text.format(who=who, staged=format_rate(staged), direct=format_rate(direct)),
        max(0.0, direct - staged),
    )


def through_root(machine: Machine, path: Path) -> Machine | None:
    """Return the machine as a pair's traffic sees it when ACS sends it up to the root complex.

    GPU and NIC hang from the CPU, each by the narrowest link on its way up. None for a pair whose traffic
    turns round at the root complex anyway, or whose CPU the machine does not name.
    """
    cpu = machine.cpu_of(path.gpu)
    if cpu is None:
        return None
    gpus = tuple(
        replace(g, parent=cpu.id, link=_narrowest(machine, g.id)) if g.id == path.gpu else g for g in machine.gpus
    )
    nics = tuple(
        replace(n, parent=cpu.id, link=_narrowest(machine, n.id)) if n.id == path.nic else n for n in machine.nics
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
    """Return what a pair keeps when its traffic goes through the root complex, bytes per second."""
    changed = through_root(machine, path)
    return None if changed is None else pair_rate(changed, path.gpu, path.nic)
