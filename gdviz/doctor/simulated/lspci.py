"""``lspci -vvv`` of a simulated host."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.doctor.simulated.state import HostState
from gdviz.machine import Bridge, BridgeKind, Gpu, Nic, PcieLink, normal_bus_id
from gdviz.machine.links import GIGATRANSFERS

_OFF = "SrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-"
_ON = "SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-"
_CAN = "SrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans+"


def lspci(state: HostState) -> str:
    """Return the listing: root ports, switches with their downstream ports, GPUs and NICs.

    A machine's switch is known by its upstream port; its downstream ports are put on a bus that nothing
    else uses.
    """
    return "\n".join(_Listing(state).blocks())


class _Listing:
    def __init__(self, state: HostState) -> None:
        self.state = state
        self.machine = state.machine
        self.used = {_bus(part.id) for part in self.machine} | {
            _bus(nic.busid) for nic in self.machine.nics if nic.busid
        }

    def blocks(self) -> Iterator[str]:
        for part in self.machine.bridges:
            if part.kind is BridgeKind.ROOT_PORT:
                yield self._root_port(part)
        for part in self.machine.bridges:
            if part.kind is BridgeKind.SWITCH:
                yield from self._switch(part)
        for gpu in self.machine.gpus:
            yield self._endpoint(gpu, gpu.busid, f"3D controller: NVIDIA Corporation {gpu.name} (rev a1)")
        for nic in self.machine.nics:
            if nic.busid:
                kind = (
                    "Infiniband controller" if nic.link_layer.value == "InfiniBand" else "Ethernet controller"
                )
                yield self._endpoint(nic, nic.busid, f"{kind}: Mellanox Technologies {nic.model}")

    def _root_port(self, part: Bridge) -> str:
        below = self._buses_below(part.id)
        if not below:
            return ""
        lines = [
            f"{_short(part.id)} PCI bridge: Intel Corporation Device 352a (rev 04) (prog-if 00)",
            f"\tNUMA node: {self._numa(part.id)}",
            _buses(_bus(part.id), min(below), max(below)),
            "\tCapabilities: [68] Express (v2) Root Port (Slot-), MSI 00",
            *_link_lines(PcieLink(5, 16, 5, 16)),
            "\tKernel driver in use: pcieport",
        ]
        return "\n".join((*lines, ""))

    def _switch(self, part: Bridge) -> Iterator[str]:
        inner = self._free_bus(_bus(part.id))
        children = [child for child in self.machine.children(part.id) if _place(child)]
        below = {inner, *self._buses_below(part.id)}
        yield self._port(part.id, "Upstream Port", _bus(part.id), min(below), max(below), part.link, None)
        for number, child in enumerate(children):
            buses = {_bus(_place(child)), *self._buses_below(child.id)}
            busid = f"{_domain(part.id)}:{inner:02x}:{number:02x}.0"
            link = self.state.links.get(child.id, getattr(child, "link", PcieLink()))
            able = PcieLink(
                link.max_gen or link.gen, link.max_width or link.width, link.max_gen, link.max_width
            )
            acs = self.state.acs_redirects
            yield self._port(busid, "Downstream Port (Slot+)", inner, min(buses), max(buses), able, acs, link)

    def _port(
        self,
        busid: str,
        kind: str,
        primary: int,
        secondary: int,
        subordinate: int,
        link: PcieLink,
        acs: bool | None,
        trained: PcieLink | None = None,
    ) -> str:
        lines = [
            f"{_short(busid)} PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch (rev b0) (prog-if 00)",
            _buses(primary, secondary, subordinate),
            f"\tCapabilities: [68] Express (v2) {kind}, MSI 00",
            *_link_lines(link, trained),
        ]
        if acs is not None:
            lines += [
                "\tCapabilities: [170 v1] Access Control Services",
                f"\t\tACSCap:\t{_CAN}",
                f"\t\tACSCtl:\t{_ON if acs else _OFF}",
            ]
        return "\n".join((*lines, "\tKernel driver in use: pcieport", ""))

    def _endpoint(self, part: Gpu | Nic, busid: str, head: str) -> str:
        link = self.state.links.get(part.id, part.link)
        able = PcieLink(link.max_gen or link.gen, link.max_width or link.width, link.max_gen, link.max_width)
        window = self.state.settings.bar1_bytes or (part.bar1_bytes if isinstance(part, Gpu) else None)
        lines = [f"{_short(busid)} {head}", f"\tNUMA node: {self._numa(part.id)}"]
        if isinstance(part, Gpu) and window:
            lines.append(
                f"\tRegion 2: Memory at 38000000000 (64-bit, prefetchable) [size={window // 2**20}M]"
            )
        lines += [
            "\tCapabilities: [60] Express (v2) Endpoint, MSI 00",
            *_link_lines(able, link),
            f"\tKernel driver in use: {'nvidia' if isinstance(part, Gpu) else 'mlx5_core'}",
        ]
        return "\n".join((*lines, ""))

    def _buses_below(self, part_id: str) -> set[int]:
        found: set[int] = set()
        stack = [part_id]
        while stack:
            for child in self.machine.children(stack.pop()):
                stack.append(child.id)
                if place := _place(child):
                    found.add(_bus(place))
        return found

    def _free_bus(self, upstream: int) -> int:
        bus = next((b for b in (*range(upstream + 1, 256), *range(256)) if b not in self.used), upstream)
        self.used.add(bus)
        return bus

    def _numa(self, part_id: str) -> int:
        cpu = self.machine.cpu_of(part_id)
        return cpu.numa if cpu is not None and cpu.numa >= 0 else 0


def _place(part: object) -> str:
    busid = str(getattr(part, "busid", None) or getattr(part, "id", ""))
    return busid if normal_bus_id(busid) else ""


def _bus(busid: str) -> int:
    normal = normal_bus_id(busid)
    return int(normal[-7:-5], 16) if normal else -1


def _domain(busid: str) -> str:
    return (normal_bus_id(busid) or "0000:").split(":", maxsplit=1)[0]


def _short(busid: str) -> str:
    return (normal_bus_id(busid) or busid).removeprefix("0000:")


def _buses(primary: int, secondary: int, subordinate: int) -> str:
    return f"\tBus: primary={primary:02x}, secondary={secondary:02x}, subordinate={subordinate:02x}"


def _link_lines(able: PcieLink, trained: PcieLink | None = None) -> list[str]:
    trained = trained or able
    if able.gen is None or able.width is None or trained.gen is None or trained.width is None:
        return []
    slow = "downgraded" if trained.gen < able.gen else "ok"
    narrow = "downgraded" if trained.width < able.width else "ok"
    speed = f"{GIGATRANSFERS[able.gen]:g}GT/s"
    return [
        f"\t\tLnkCap:\tPort #0, Speed {speed}, Width x{able.width}, ASPM not supported",
        f"\t\tLnkSta:\tSpeed {GIGATRANSFERS[trained.gen]:g}GT/s ({slow}), Width x{trained.width} ({narrow})",
    ]
