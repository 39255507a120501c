"""The one model of a machine: whatever the source, everything else reads this."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from gdviz.errors import UnknownDeviceError
from gdviz.machine.parts import Bridge, Cpu, Device, Gpu, Nic, Notice, NvLink, Part, Parts
from gdviz.machine.path import Path, find_path
from gdviz.messages import _

_BUS_ID = re.compile(r"^(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})(?:\.([0-7]))?$", re.IGNORECASE)


def normal_bus_id(text: str) -> str | None:
    """Return a bus id as ``domain:bus:device.function`` in lower case, or None if it is none.

    Examples
    --------
    >>> normal_bus_id("00000000:1B:00.0"), normal_bus_id("1b:00.0"), normal_bus_id("mlx5_0")
    ('0000:1b:00.0', '0000:1b:00.0', None)
    """
    match = _BUS_ID.match(text.strip())
    if not match:
        return None
    domain, bus, device, function = match.groups()
    return f"{int(domain or '0', 16):04x}:{int(bus, 16):02x}:{int(device, 16):02x}.{function or '0'}"


@dataclass(frozen=True)
class Machine:
    """CPUs, bridges, GPUs and NICs of one node and the links between them.

    Parameters
    ----------
    name
        Name of the node.
    parts
        What it is made of.
    source
        Where this was read: a path, or the catalogue's key.
    notices
        What the reader could not read or thinks odd.
    """

    name: str
    parts: Parts = Parts()
    source: str = ""
    notices: tuple[Notice, ...] = field(default=(), compare=False)

    @property
    def cpus(self) -> tuple[Cpu, ...]:
        """CPU sockets or NUMA nodes."""
        return self.parts.cpus

    @property
    def bridges(self) -> tuple[Bridge, ...]:
        """Host bridges, root ports and switches."""
        return self.parts.bridges

    @property
    def gpus(self) -> tuple[Gpu, ...]:
        """GPUs in the order of their index."""
        return self.parts.gpus

    @property
    def nics(self) -> tuple[Nic, ...]:
        """NICs in the order of their index."""
        return self.parts.nics

    @property
    def nvlinks(self) -> tuple[NvLink, ...]:
        """Links between GPUs, or from GPUs to NVSwitches."""
        return self.parts.nvlinks

    @property
    def devices(self) -> tuple[Device, ...]:
        """PCI functions that are neither GPU, NIC nor bridge, or of unknown kind."""
        return self.parts.devices

    @cached_property
    def _by_id(self) -> dict[str, Part]:
        return {part.id: part for part in self}

    @cached_property
    def _below(self) -> dict[str, tuple[Part, ...]]:
        found: dict[str, list[Part]] = {}
        for part in self:
            if not isinstance(part, Cpu):
                found.setdefault(part.parent, []).append(part)
        return {parent: tuple(parts) for parent, parts in found.items()}

    def __iter__(self) -> Iterator[Part]:
        """Go through all parts: CPUs, bridges, GPUs, NICs, other devices."""
        yield from self.cpus
        yield from self.bridges
        yield from self.gpus
        yield from self.nics
        yield from self.devices

    def part(self, part_id: str) -> Part:
        """Return the part of that id.

        Raises
        ------
        UnknownDeviceError
            There is none.
        """
        try:
            return self._by_id[part_id]
        except KeyError:
            raise UnknownDeviceError(
                _("{machine} has no part {part!r}.").format(machine=self.name, part=part_id)
            ) from None

    def ancestors(self, part_id: str) -> tuple[Part, ...]:
        """Return the part and all above it, up to its CPU."""
        chain = {part_id: self.part(part_id)}
        above = getattr(chain[part_id], "parent", None)
        while above in self._by_id and above not in chain:
            chain[above] = self._by_id[above]
            above = getattr(chain[above], "parent", None)
        return tuple(chain.values())

    def children(self, part_id: str) -> tuple[Part, ...]:
        """Return the parts directly below one."""
        return self._below.get(part_id, ())

    def cpu_of(self, part_id: str) -> Cpu | None:
        """Return the CPU at the top of a part's tree, or None if the source has none."""
        top = self.ancestors(part_id)[-1]
        return top if isinstance(top, Cpu) else None

    def gpu(self, key: int | str | Gpu) -> Gpu:
        """Return a GPU by index, bus id, id or (where only one has it) name.

        Raises
        ------
        UnknownDeviceError
            None, or more than one, answers to that.
        """
        found = _find(self.gpus, key, ("gpu", "cuda:"), self.name, "GPU")
        assert isinstance(found, Gpu)
        return found

    def nic(self, key: int | str | Nic) -> Nic:
        """Return a NIC by index, name, bus id or id.

        Raises
        ------
        UnknownDeviceError
            None, or more than one, answers to that.
        """
        found = _find(self.nics, key, ("nic", "hca"), self.name, "NIC")
        assert isinstance(found, Nic)
        return found

    def path(self, gpu: int | str | Gpu, nic: int | str | Nic) -> Path:
        """Return the way over PCIe from a GPU to a NIC.

        Raises
        ------
        UnknownDeviceError
            No such GPU or NIC.
        """
        return find_path(self, self.gpu(gpu), self.nic(nic))

    def nearest_nic(self, gpu: int | str | Gpu) -> Nic | None:
        """Return the NIC of the shortest path from a GPU (first of equals), None without NICs."""
        found = self.gpu(gpu)
        if not self.nics:
            return None
        return min(self.nics, key=lambda nic: (self.path(found, nic).distance.rank, nic.index))

    def renamed(self, name: str) -> Machine:
        """Return the same machine under another name."""
        return replace(self, name=name)

    def __str__(self) -> str:
        return _("{name}: {gpus} GPUs, {nics} NICs, {bridges} bridges, {cpus} CPUs").format(
            name=self.name,
            gpus=len(self.gpus),
            nics=len(self.nics),
            bridges=len(self.bridges),
            cpus=len(self.cpus),
        )


def _find(
    devices: tuple[Gpu, ...] | tuple[Nic, ...],
    key: int | str | Gpu | Nic,
    prefixes: tuple[str, ...],
    machine: str,
    kind: str,
) -> Gpu | Nic:
    if isinstance(key, Gpu | Nic):
        key = key.id
    text = str(key).strip()
    number = text
    for prefix in prefixes:
        if number.lower().startswith(prefix):
            number = number[len(prefix) :].lstrip(" :_-")
    busid = normal_bus_id(text)
    tests = (
        lambda d: d.id == text,
        lambda d: d.name == text,
        lambda d: busid is not None and d.busid is not None and normal_bus_id(d.busid) == busid,
        lambda d: number.isdecimal() and len(number) < 9 and d.index == int(number),
    )
    for test in tests:
        found = [device for device in devices if test(device)]
        # Several ports of one PCI function share its bus id and its place: the first stands for it.
        one_function = {(d.busid, d.parent) for d in found if busid is not None and d.busid is not None}
        if len(found) == 1 or (found and len(one_function) == 1):
            return found[0]
        if len(found) > 1:
            names = ", ".join(f"{d.index} ({d.name}, {d.busid})" for d in found[:8])
            raise UnknownDeviceError(
                _("{key!r} names {count} {kind}s of {machine}.").format(
                    key=text[:60], count=len(found), kind=kind, machine=machine
                ),
                _("Say which by index: {names}.").format(names=names),
            )
    if not devices:
        raise UnknownDeviceError(_("{machine} has no {kind}.").format(machine=machine, kind=kind))
    names = ", ".join(f"{d.index} ({d.name}, {d.busid})" for d in devices[:8])
    more = ", ..." if len(devices) > 8 else ""
    raise UnknownDeviceError(
        _("{machine} has no {kind} {key!r}.").format(machine=machine, kind=kind, key=text[:60]),
        _("There are: {names}.").format(names=names + more),
    )
