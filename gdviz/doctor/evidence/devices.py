"""GPUs and NICs of a node under all the names that its files use for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from gdviz.machine import Gpu, LinkLayer, Nic, PciIds, normal_bus_id


@dataclass
class Device:
    """A GPU or a NIC.

    Attributes
    ----------
    index
        Position among the node's GPUs or NICs; None if unknown.
    busid
        In its normal spelling; None if unknown.
    name
        Of a NIC its device (``mlx5_0``), of a GPU its product; empty if unknown.
    parts
        Id of its part in each machine that shows it, by the machine's place in the list.
    """

    index: int | None = None
    busid: str | None = None
    name: str = ""
    pci: PciIds = PciIds()
    compute_capability: int | None = None
    bar1_bytes: int | None = None
    gdr: bool | None = None
    c2c: bool = False
    speed_bytes_per_s: float | None = None
    link_layer: LinkLayer = LinkLayer.UNKNOWN
    parts: dict[int, str] = field(default_factory=dict)
    is_gpu: bool = True

    @property
    def label(self) -> str:
        """How people name it: GPU0, mlx5_0, else the bus id."""
        if self.is_gpu:
            return f"GPU{self.index}" if self.index is not None else _without_domain(self.busid or "GPU?")
        return (
            self.name
            or _without_domain(self.busid or "")
            or (f"NIC{self.index}" if self.index is not None else "NIC?")
        )

    @property
    def ids(self) -> tuple[str, ...]:
        """All names of it."""
        found = []
        if self.is_gpu:
            found += [f"GPU{self.index}", str(self.index)] if self.index is not None else []
        else:
            found += [self.name] if self.name else []
            found += [f"NIC{self.index}"] if self.index is not None else []
        if self.busid:
            found += [self.busid, _without_domain(self.busid)]
        return tuple(dict.fromkeys(found))


def _without_domain(busid: str) -> str:
    return busid[5:] if busid.startswith("0000:") else busid


class Devices:
    """The GPUs or the NICs of a node, merged where two sources mean the same one."""

    def __init__(self, *, gpus: bool) -> None:
        self.all: list[Device] = []
        self._gpus = gpus

    def __iter__(self) -> Iterator[Device]:
        """Go through them in order."""
        return iter(self.all)

    def __len__(self) -> int:
        return len(self.all)

    def find(self, *, busid: str | None = None, name: str = "", index: int | None = None) -> Device | None:
        """Return the device that answers to a bus id, a name or an index, in this order."""
        normal = normal_bus_id(busid) if busid else None
        if name and not self._gpus:
            for device in self.all:
                if device.name == name:
                    return device
        if normal:
            for device in self.all:
                # Two ports of one function share its bus id, but not its name.
                if device.busid == normal and (self._gpus or not (name and device.name)):
                    return device
        if index is not None and (self._gpus or not (name or normal)):
            for device in self.all:
                if device.index == index and (not normal or device.busid is None):
                    return device
        return None

    def add(self, *, busid: str | None = None, name: str = "", index: int | None = None) -> Device:
        """Return the device of that name, a new one if there is none yet."""
        device = self.find(busid=busid, name=name, index=index)
        if device is None:
            device = Device(is_gpu=self._gpus)
            self.all.append(device)
        normal = normal_bus_id(busid) if busid else None
        device.busid = device.busid or normal
        device.index = index if device.index is None else device.index
        if name and not (self._gpus and device.name not in ("", "GPU")):
            device.name = device.name or name if not self._gpus else name
        return device

    def sort(self) -> None:
        """Put them in the order of their indices, those without one last by bus id."""
        self.all.sort(
            key=lambda d: (self._gpus and d.index is None, (d.index or 0) if self._gpus else 0, *_order(d))
        )


def _order(device: Device) -> tuple[bool, tuple[tuple[int, str], ...], str]:
    """Return a key that puts named devices first, mlx5_2 before mlx5_10."""
    name = "" if device.is_gpu else device.name
    return (not name, natural(name), device.busid or "")


def natural(text: str) -> tuple[tuple[int, str], ...]:
    """Return a key that sorts numbers inside names by value.

    Examples
    --------
    >>> sorted(["mlx5_10", "mlx5_2"], key=natural)
    ['mlx5_2', 'mlx5_10']
    """
    return tuple(
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", text) if part
    )


def take_gpu(device: Device, gpu: Gpu) -> None:
    """Add what a machine says of a GPU."""
    if gpu.pci.vendor is not None and device.pci.vendor is None:
        device.pci = gpu.pci
    device.compute_capability = device.compute_capability or gpu.compute_capability
    device.bar1_bytes = device.bar1_bytes or gpu.bar1_bytes
    device.gdr = gpu.gdr if device.gdr is None else device.gdr
    device.c2c = device.c2c or bool(gpu.c2c_bytes_per_s)


def take_nic(device: Device, nic: Nic) -> None:
    """Add what a machine says of a NIC."""
    if nic.pci.vendor is not None and device.pci.vendor is None:
        device.pci = nic.pci
    device.gdr = nic.gdr if device.gdr is None else device.gdr
    device.speed_bytes_per_s = device.speed_bytes_per_s or nic.speed_bytes_per_s
    if device.link_layer is LinkLayer.UNKNOWN:
        device.link_layer = nic.link_layer
