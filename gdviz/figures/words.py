"""What is written on and said of the parts of a path picture: plain text, safe from any file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gdviz.figures.columns import below
from gdviz.figures.shapes import Box, BoxKind, Link, LinkKind
from gdviz.figures.text_size import plain
from gdviz.machine import Bridge, Cpu, Device, Gpu, Machine, Nic, Part, PcieLink
from gdviz.machine.machine import normal_bus_id
from gdviz.messages import _, ngettext
from gdviz.model.workload import Fabric
from gdviz.quantities import format_bits, format_rate, format_size


def short_bus_id(busid: str) -> str:
    """Return ``'18:00.0'`` of ``'0000:18:00.0'``; the domain stays where it tells devices apart."""
    normal = normal_bus_id(busid)
    if normal is None:
        return plain(busid)
    domain, rest = normal.split(":", 1)
    return rest if domain == "0000" else f"{domain}:{rest.split(':')[0]}"


def link_text(link: PcieLink) -> str:
    """Return ``'Gen5 x16'``, or both figures where the link is trained below its maximum."""
    if link.gen is None and link.width is None:
        return ""
    if link.degraded:
        most = PcieLink(link.max_gen or link.gen, link.max_width or link.width)
        return _("{now} of {most}").format(now=link, most=most)
    return str(link)


def link_wordings(link: PcieLink) -> list[str]:
    """Return what is written beside a link, on one line and on two; empty if nothing is known."""
    if link.gen is None and link.width is None:
        return []
    if link.degraded:
        most = PcieLink(link.max_gen or link.gen, link.max_width or link.width)
        return [link_text(link), _("{now}\nof {most}").format(now=link, most=most)]
    return [str(link), str(link).replace(" ", "\n", 1)]


def range_text(word: str, numbers: Sequence[int]) -> str:
    """Return ``'GPU 0'``, ``'GPU 0–3'`` or ``'4 GPUs'`` of indices."""
    if len(numbers) == 1:
        return f"{word} {numbers[0]}"
    if list(numbers) == list(range(numbers[0], numbers[0] + len(numbers))):
        return f"{word} {numbers[0]}–{numbers[-1]}"
    return f"{len(numbers)} {word}s"


def box_lines(machine: Machine, part: Part, kind: BoxKind) -> tuple[str, ...]:
    """Return what is written on a part's box, the name first."""
    if kind is BoxKind.GROUP:
        return _group_lines(machine, part)
    if isinstance(part, Cpu):
        number = part.numa if part.numa >= 0 else machine.cpus.index(part)
        if kind is BoxKind.MEMORY:
            return (_("host memory"), _("memory"), _("mem"))
        return (f"CPU {number}", f"CPU{number}")
    if isinstance(part, Gpu):
        return f"GPU {part.index}|{part.index}", short_bus_id(part.busid)
    if isinstance(part, Nic):
        second = format_bits(part.speed_bytes_per_s) if part.speed_bytes_per_s else ""
        third = short_bus_id(part.busid) if part.busid else ""
        return tuple(line for line in (plain(part.name), second, third) if line)
    if isinstance(part, Device):
        return _("device"), short_bus_id(part.busid)
    return (_("switch"),) if kind is BoxKind.SWITCH else ()


def _group_lines(machine: Machine, part: Part) -> tuple[str, ...]:
    inside = below(machine, part.id)
    gpus = [p.index for p in inside if isinstance(p, Gpu)]
    nics = [p for p in inside if isinstance(p, Nic)]
    others = sum(isinstance(p, Device) for p in inside)
    lines = []
    if gpus:
        lines.append(f"{range_text('GPU', gpus)}|{len(gpus)} {_some('GPU', len(gpus))}")
    if len(nics) == 1:
        lines.append(f"{_unbarred(nics[0].name)}|1 NIC")
    elif nics:
        lines.append(f"{len(nics)} NICs")
    if others:
        lines.append(ngettext("{n} device", "{n} devices", others).format(n=others))
    return tuple(lines)


def node_lines(machine: Machine) -> tuple[str, ...]:
    """Return a node's name, then how many of which devices it has, wordings parted by ``|``."""
    gpus = Counter(gpu.name.split("-")[0] or "GPU" for gpu in machine.gpus)
    nics = Counter(nic.model or "NIC" for nic in machine.nics)
    lines = [f"{count} × {_unbarred(name)}|{count} {_some('GPU', count)}" for name, count in gpus.items()]
    lines += [f"{count} × {_unbarred(name)}|{count} {_some('NIC', count)}" for name, count in nics.items()]
    return (plain(machine.name), *lines)


def _unbarred(text: str) -> str:
    """Return a text without the bar that parts wordings."""
    return plain(text).replace("|", "¦")


def _some(word: str, count: int) -> str:
    return word if count == 1 else word + "s"


def _numa(number: int) -> str:
    return str(number) if number >= 0 else _("not known")


def _link_lines(link: PcieLink) -> list[str]:
    if link.gen is None and link.width is None:
        return [_("PCIe link not known")]
    rate = link.bandwidth_bytes_per_s
    text = link_text(link)
    return [f"PCIe {text}, {format_rate(rate)}" if rate else f"PCIe {text}"]


def box_details(machine: Machine | None, box: Box) -> tuple[str, str]:
    """Return (title, lines of detail) of a box, for a tooltip."""
    if machine is None or box.kind is BoxKind.FABRIC:
        return _("the wire"), "\n".join(box.lines)
    part = machine.part(box.part)
    if box.kind is BoxKind.GROUP:
        return ", ".join(line.split("|")[0] for line in box.lines), _("Folded: click to open.")
    if isinstance(part, Cpu):
        return _cpu_details(part, box)
    if isinstance(part, Gpu):
        return _gpu_details(machine, part)
    if isinstance(part, Nic):
        return _nic_details(part)
    detail = [_("bus id {busid}").format(busid=plain(part.id))]
    if isinstance(part, Bridge):
        title = part.name or part.kind.value
        if box.kind is BoxKind.SWITCH:
            detail += [_("up: {link}").format(link=line) for line in _link_lines(part.link)]
        if part.virtual:
            detail.append(_("virtual: the source made it up"))
        return plain(title), "\n".join(detail)
    return _("device of unknown kind"), "\n".join(detail + _link_lines(part.link))


def _cpu_details(cpu: Cpu, box: Box) -> tuple[str, str]:
    numa = _("NUMA node {numa}").format(numa=_numa(cpu.numa))
    if box.kind is BoxKind.MEMORY:
        rate = cpu.memory_bytes_per_s
        return _("host memory"), f"{numa}\n{format_rate(rate)}" if rate else numa
    make = " ".join(plain(word) for word in (cpu.vendor, cpu.arch) if word)
    return _("CPU {id}").format(id=plain(cpu.id)), f"{numa}\n{make}".strip()


def _gpu_details(machine: Machine, gpu: Gpu) -> tuple[str, str]:
    lines = [
        plain(gpu.name),
        _("bus id {busid}").format(busid=plain(gpu.busid)),
        _("NUMA node {numa}").format(numa=_numa(gpu.numa)),
        *_link_lines(gpu.link),
    ]
    if gpu.memory_bytes:
        lines.append(_("memory {size}").format(size=format_size(gpu.memory_bytes)))
    links = [link for link in machine.nvlinks if link.gpu == gpu.id]
    if links:
        count = sum(link.count for link in links)
        lines.append(f"{count} × {plain(links[0].technology)}")
    return f"GPU {gpu.index}", "\n".join(lines)


def _nic_details(nic: Nic) -> tuple[str, str]:
    lines = [plain(nic.model)]
    if nic.busid:
        lines.append(_("bus id {busid}").format(busid=plain(nic.busid)))
    lines += [_("NUMA node {numa}").format(numa=_numa(nic.numa)), *_link_lines(nic.link)]
    if nic.speed_bytes_per_s:
        speed = format_bits(nic.speed_bytes_per_s)
        lines.append(_("port {speed}, {layer}").format(speed=speed, layer=nic.link_layer.value))
    return plain(nic.name), "\n".join(lines)


def link_details(machine: Machine, link: Link) -> tuple[str, str]:
    """Return (title, lines of detail) of a link, for a tooltip."""
    rate = format_rate(link.bytes_per_s) if link.bytes_per_s else _("rate not known")
    if link.kind is LinkKind.SOCKETS:
        return _("between CPU sockets"), rate
    if link.kind is LinkKind.MEMORY:
        return _("to host memory"), rate
    if link.kind is LinkKind.NVLINK:
        return _nvlink_details(machine, link)
    part = machine.part(link.of)
    name = plain(getattr(part, "name", "") or link.of)
    if isinstance(part, Gpu):
        name = f"GPU {part.index}"
    if link.kind is LinkKind.PORT:
        if not isinstance(part, Nic):
            return _("ports"), "\n".join(line.split("|")[0] for line in _group_lines(machine, part))
        bits = format_bits(part.speed_bytes_per_s) if part.speed_bytes_per_s else rate
        return _("port of {name}").format(name=name), bits
    if link.kind is LinkKind.INTERNAL or isinstance(part, Cpu):
        return _("inside the CPU"), ""
    if isinstance(part, Gpu) and part.c2c_bytes_per_s:
        return f"NVLink-C2C: {name}", rate
    return _("PCIe link of {name}").format(name=name), "\n".join(_link_lines(part.link))


def _nvlink_details(machine: Machine, link: Link) -> tuple[str, str]:
    mine = [n for n in machine.nvlinks if n.gpu == link.of]
    if not mine:
        return "NVLink", ""
    lines = []
    for peer in mine[:8]:
        gpu = next((g for g in machine.gpus if g.id == peer.target), None)
        target = f"GPU {gpu.index}" if gpu else plain(peer.target)
        rate = f", {format_rate(peer.bytes_per_s)}" if peer.bytes_per_s else ""
        lines.append(f"{peer.count} × → {target}{rate}")
    gpu = machine.gpu(link.of)
    return f"{plain(mine[0].technology)}: GPU {gpu.index}", "\n".join(lines)


def usual_fabric(machines: tuple[Machine, ...]) -> Fabric | None:
    """Return the wire that joins two nodes unless somebody says otherwise; None where there is none."""
    if len(machines) == 2 and machines[0].nics and machines[1].nics:
        return Fabric.between(machines[0].nics[0], machines[1].nics[0])
    return None


def fabric_lines(fabric: Fabric | None) -> tuple[str, ...]:
    """Return what is written on the wire."""
    if fabric is None:
        return (_("network"),)
    return fabric.name, f"MTU {fabric.mtu_bytes}"
