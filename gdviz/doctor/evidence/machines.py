"""Which machine of a node's files counts, and all of them joined by bus ids, indices and names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gdviz.doctor.evidence.devices import Device, Devices, natural, take_gpu, take_nic
from gdviz.doctor.evidence.node import NodeEvidence
from gdviz.doctor.evidence.pci import function_names
from gdviz.machine import Machine, Path, normal_bus_id
from gdviz.readers import Reading
from gdviz.readers.fabric import RdmaTopo
from gdviz.readers.lspci import PciListing
from gdviz.readers.nvidia_smi import TopoMatrix

#: Formats that describe machines, the most trusted first.
_TRUST = ("nccl_topo", "sysfs", "capture", "lspci", "hwloc", "nvidia_smi", "topo", "rocm", "amd")


#: Names that readers give to NICs of which no source says the name.
_NUMBERED = re.compile(r"^(?:NIC|nic)?\d*$")


@dataclass(frozen=True)
class Joined:
    """The machines of a node, best first, and its devices under all their names."""

    sources: tuple[tuple[Reading, Machine], ...] = ()
    gpus: tuple[Device, ...] = ()
    nics: tuple[Device, ...] = ()
    guessed_names: frozenset[str] = field(default_factory=frozenset)
    _completed: dict[int, Machine] = field(default_factory=dict, repr=False, compare=False)
    _paths: dict[tuple[int, int], tuple[Reading, Machine, Path] | None] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def best(self) -> tuple[Reading, Machine] | None:
        """The machine that counts."""
        return self.sources[0] if self.sources else None

    def completed(self, place: int) -> Machine:
        """Return a machine with the rates and makes that other files give, for the model."""
        from gdviz.doctor.effects import completed

        if place in self._completed:
            return self._completed[place]
        speeds = {nic.parts[place]: nic.speed_bytes_per_s for nic in self.nics if place in nic.parts}
        machine = completed(self.sources[place][1], {key: rate for key, rate in speeds.items() if rate})
        self._completed[place] = machine
        return machine

    def path(self, gpu: Device, nic: Device) -> tuple[Reading, Machine, Path] | None:
        """Return the path of a pair in the best machine that has both, None if none has."""
        key = (id(gpu), id(nic))
        if key not in self._paths:
            self._paths[key] = self._path(gpu, nic)
        return self._paths[key]

    def _path(self, gpu: Device, nic: Device) -> tuple[Reading, Machine, Path] | None:
        for place, (reading, _machine) in enumerate(self.sources):
            if place in gpu.parts and place in nic.parts and shows_places(reading):
                machine = self.completed(place)
                return reading, machine, machine.path(gpu.parts[place], nic.parts[place])
        return None

    def gpu(self, *, busid: str | None = None, index: int | None = None) -> Device | None:
        """Return a GPU by bus id or index."""
        normal = normal_bus_id(busid) if busid else None
        for gpu in self.gpus:
            if normal and gpu.busid == normal:
                return gpu
        if index is None:
            return None
        return next((g for g in self.gpus if g.index == index and not (normal and g.busid)), None)

    def nic(self, name: str) -> Device | None:
        """Return a NIC by its device name or bus id."""
        normal = normal_bus_id(name)
        return next((nic for nic in self.nics if nic.name == name or (normal and nic.busid == normal)), None)


def shows_places(reading: Reading) -> bool:
    """Return whether a format tells where devices are; ``lspci -nn`` only lists them."""
    return not isinstance(reading.facts, PciListing) or reading.facts.shows_places


def trust(reading: Reading, machine: Machine) -> tuple[bool, bool, bool, int]:
    """Return a key that sorts machines, the best first: pairs with places, whole, of a better format."""
    kind = reading.kind.lower()
    place = next((n for n, word in enumerate(_TRUST) if word in kind), len(_TRUST))
    pairs = bool(machine.gpus and machine.nics)
    return (not pairs, not shows_places(reading), reading.truncated, place)


def join(node: NodeEvidence) -> Joined:
    """Return a node's machines and devices."""
    sources = tuple(sorted(node.machines, key=lambda each: trust(*each)))
    gpus, nics = Devices(gpus=True), Devices(gpus=False)
    for statement, _evidence in node.statements("ib-device"):
        nics.add(busid=statement.value, name=statement.subject)
    for _reading, topo in node.own(RdmaTopo):
        for pair in topo.pairs:
            if pair.nic_name:
                nics.add(busid=pair.nic_busid or None, name=pair.nic_name)
            if pair.gpu_busid:
                gpus.add(busid=pair.gpu_busid)
    for nic in node.log.nics.values():
        if "+" in nic.name:
            continue  # ports that NCCL joins to one are listed on their own as well
        known = nics.add(busid=nic.busid, name=nic.name)
        known.speed_bytes_per_s = known.speed_bytes_per_s or nic.speed_bytes_per_s
    for place, (reading, machine) in enumerate(sources):
        for gpu in machine.gpus:
            index = (
                gpu.index
                if normal_bus_id(gpu.busid) is None or not _has_index_conflict(gpus, gpu.index)
                else None
            )
            device = gpus.add(busid=gpu.busid, name=gpu.name, index=index)
            device.parts.setdefault(place, gpu.id)
            take_gpu(device, gpu)
        for nic_part in machine.nics:
            name = _nic_name(nic_part.name)
            device = nics.add(
                busid=nic_part.busid, name=name, index=None if name or nic_part.busid else nic_part.index
            )
            if device.index is None and "matrix" in reading.kind:
                device.index = nic_part.index
            device.parts.setdefault(place, nic_part.id)
            take_nic(device, nic_part)
    for rank in node.log.ranks:
        if rank.busid or rank.gpu_index is not None:
            gpus.add(busid=rank.busid, index=rank.gpu_index)
    for decision in node.log.decisions:
        if decision.gpu_busid:
            gpus.add(busid=decision.gpu_busid, index=decision.gpu_index)
    if not gpus.all:
        for index in sorted(node.log.threads):
            gpus.add(index=index)
    _port_rates(node, nics)
    _names(node, gpus)
    _coherent_gpus(node, gpus)
    guessed = _guess_names(nics)
    gpus.sort()
    _number_gpus(gpus)
    nics.sort()
    return Joined(sources, tuple(gpus.all), tuple(nics.all), guessed)


def _port_rates(node: NodeEvidence, nics: Devices) -> None:
    for port in node.ports:
        device = nics.find(name=port.device)
        if device is not None and port.rate_bytes_per_s is not None:
            device.speed_bytes_per_s = device.speed_bytes_per_s or port.rate_bytes_per_s.value


def _coherent_gpus(node: NodeEvidence, gpus: Devices) -> None:
    """Note GPUs whose memory is a NUMA node of its own: they are joined to their CPU by NVLink-C2C."""
    for _reading, matrix in node.own(TopoMatrix):
        for row in matrix.rows:
            if row.gpu_numa.isdecimal() and row.name.startswith("GPU") and row.name[3:].isdecimal():
                device = gpus.find(index=int(row.name[3:]))
                if device is not None:
                    device.c2c = True


def _has_index_conflict(gpus: Devices, index: int) -> bool:
    """Whether another GPU that has a bus id already has that index."""
    return any(device.index == index and device.busid for device in gpus.all)


def _nic_name(name: str) -> str:
    """Return a device's name, empty where the reader only numbered it."""
    return "" if normal_bus_id(name) or _NUMBERED.match(name) else name


def _names(node: NodeEvidence, gpus: Devices) -> None:
    for statement, _evidence in node.statements("gpu-name"):
        busid = normal_bus_id(statement.subject)
        index = int(statement.subject) if statement.subject.isdecimal() else None
        if busid or index is not None:
            gpus.add(busid=busid, index=index, name=statement.value)
    for busid, name, index in function_names(node):
        device = gpus.find(busid=busid, index=index)
        if device is not None and device.name in ("", "GPU"):
            device.name = name


def _number_gpus(gpus: Devices) -> None:
    """Find: number GPUs in the order of their bus ids where nothing else numbers them."""
    if all(gpu.index is None for gpu in gpus.all) and all(gpu.busid for gpu in gpus.all):
        for index, gpu in enumerate(sorted(gpus.all, key=lambda g: g.busid or "")):
            gpu.index = index
        gpus.sort()


def _guess_names(nics: Devices) -> frozenset[str]:
    """Join NICs known by bus id only with those known by name only, if there are as many of each.

    Drivers number devices in the order of their bus ids.
    """
    nameless = sorted((nic for nic in nics.all if not nic.name and nic.busid), key=lambda n: n.busid or "")
    homeless = sorted((nic for nic in nics.all if nic.name and not nic.busid), key=lambda n: natural(n.name))
    if not nameless or len(nameless) != len(homeless):
        return frozenset()
    for known, named in zip(nameless, homeless, strict=True):
        known.name = named.name
        known.index = named.index if known.index is None else known.index
        known.speed_bytes_per_s = known.speed_bytes_per_s or named.speed_bytes_per_s
        known.gdr = named.gdr if known.gdr is None else known.gdr
        for place, part in named.parts.items():
            known.parts.setdefault(place, part)
        nics.all.remove(named)
    return frozenset(nic.name for nic in nameless)
