"""What ``nvidia-smi`` says: the topology matrix, the query, the state of NVLinks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gdviz.machine import PcieLink


@dataclass(frozen=True, slots=True)
class TopoRow:
    """A row of the matrix.

    Attributes
    ----------
    name
        As printed: ``GPU0``, ``NIC3``, ``mlx5_0``.
    cells
        One for each of the matrix's columns, as printed and stripped; short where the row is torn.
    cpu_affinity, numa_affinity, gpu_numa
        As printed; empty where there is none.
    line
        From 1.
    """

    name: str
    cells: tuple[str, ...]
    line: int
    cpu_affinity: str = ""
    numa_affinity: str = ""
    gpu_numa: str = ""


@dataclass(frozen=True, slots=True)
class TopoMatrix:
    """``nvidia-smi topo -m`` (or ``-mp``).

    Attributes
    ----------
    columns
        Names of the devices in the header.
    rows
        Device by device.
    header_line
        Line of the header.
    legend
        Class to its explanation, as printed.
    nic_names
        ``NIC0`` to the device's name, from the legend; older prints name the devices themselves.
    nic_lines
        The line of each name.
    torn_line
        Line of the row that ends in the middle; None if none does.
    """

    columns: tuple[str, ...]
    rows: tuple[TopoRow, ...]
    header_line: int
    legend: Mapping[str, str] = field(default_factory=dict)
    nic_names: Mapping[str, str] = field(default_factory=dict)
    nic_lines: Mapping[str, int] = field(default_factory=dict)
    torn_line: int | None = None

    def row(self, name: str) -> TopoRow | None:
        """Return a device's row, None if there is none."""
        return next((row for row in self.rows if row.name == name), None)

    def cell(self, one: str, other: str) -> str | None:
        """Return what the matrix says of two devices, from either's row; None where it says nothing."""
        for left, right in ((one, other), (other, one)):
            row = self.row(left)
            if row is not None and right in self.columns:
                position = self.columns.index(right)
                if position < len(row.cells) and row.cells[position]:
                    return row.cells[position]
        return None

    @property
    def gpus(self) -> tuple[str, ...]:
        """Names of the GPUs, in the matrix's order."""
        return tuple(name for name in self._devices if name.startswith("GPU"))

    @property
    def nics(self) -> tuple[str, ...]:
        """Names of the NICs as the matrix has them, in its order."""
        return tuple(name for name in self._devices if not name.startswith("GPU"))

    @property
    def _devices(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.columns, *(row.name for row in self.rows))))


@dataclass(frozen=True, slots=True)
class SmiGpu:
    """A GPU of ``nvidia-smi -q`` or of the table that plain ``nvidia-smi`` prints; None: not said.

    Attributes
    ----------
    busid
        In its normal spelling; empty if not printed.
    link
        PCIe generation and width, current and most.
    bar1_total_bytes, bar1_used_bytes
        The BAR1 window through which peers reach the GPU's memory; `bar1_line` is the total's.
    mig_mode, virtualization_mode, addressing_mode
        ``Disabled``, ``Pass-Through``, ``HMM``, ``ATS`` ... as printed; empty if not.
    vendor, device
        PCI ids.
    line
        Where the GPU begins, from 1.
    """

    busid: str
    line: int
    index: int | None = None
    name: str = ""
    name_line: int | None = None
    brand: str = ""
    architecture: str = ""
    uuid: str = ""
    vendor: int | None = None
    device: int | None = None
    link: PcieLink = PcieLink()
    link_line: int | None = None
    host_max_gen: int | None = None
    memory_total_bytes: int | None = None
    bar1_total_bytes: int | None = None
    bar1_used_bytes: int | None = None
    bar1_line: int | None = None
    mig_mode: str = ""
    mig_line: int | None = None
    virtualization_mode: str = ""
    virtualization_line: int | None = None
    addressing_mode: str = ""
    addressing_line: int | None = None
    persistence_mode: str = ""


@dataclass(frozen=True, slots=True)
class SmiQuery:
    """``nvidia-smi -q``, or the table of plain ``nvidia-smi``.

    Attributes
    ----------
    driver, cuda
        Versions; None if not printed.
    attached
        Number of GPUs that the text announces.
    gpus
        In the order of the text.
    """

    driver: str | None = None
    driver_line: int | None = None
    cuda: str | None = None
    cuda_line: int | None = None
    attached: int | None = None
    attached_line: int | None = None
    gpus: tuple[SmiGpu, ...] = ()


@dataclass(frozen=True, slots=True)
class NvLinkState:
    """One link of a GPU: bytes per second one way while it is up, None while it is not."""

    number: int
    active: bool
    bytes_per_s: float | None
    line: int


@dataclass(frozen=True, slots=True)
class NvLinkGpu:
    """The links of one GPU."""

    index: int
    name: str
    line: int
    uuid: str = ""
    links: tuple[NvLinkState, ...] = ()


@dataclass(frozen=True, slots=True)
class NvLinkStatus:
    """``nvidia-smi nvlink --status``."""

    gpus: tuple[NvLinkGpu, ...] = ()
