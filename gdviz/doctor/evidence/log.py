"""What NCCL's logs say of one host, gathered by device and not by line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from gdviz.doctor.evidence.known import Known
from gdviz.doctor.versions import NcclVersion
from gdviz.machine import normal_bus_id
from gdviz.readers import Evidence, Reading
from gdviz.readers.nccl_log import NcclLog


@dataclass(frozen=True, slots=True)
class LogNicView:
    """A NIC by its number in the log."""

    index: int
    name: str
    busid: str | None
    speed_bytes_per_s: float | None
    layer: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class RankView:
    """A rank: its GPU by index and bus id; None where the log does not say."""

    rank: int | None
    gpu_index: int | None
    busid: str | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class PairDecision:
    """'GPU Direct RDMA Enabled/Disabled for GPU ... / HCA ...'."""

    gpu_index: int | None
    gpu_busid: str | None
    nic_index: int | None
    enabled: bool
    distance: int | None
    level: int | None
    reads: bool | None
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class ChannelView:
    """A channel over the network, at this host's end."""

    gpu_index: int | None
    gpu_busid: str | None
    nic_index: int | None
    gdr: bool
    sends: bool
    evidence: Evidence
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class WarningView:
    """A warning: the verbs call that failed and its errno, where it names them."""

    text: str
    errno: int | None
    call: str
    status: int | None
    host: str
    evidence: Evidence


@dataclass
class LogView:
    """NCCL's logs as they concern one host.

    Attributes
    ----------
    version
        NCCL's release.
    env
        Variables that the log says are set, by name.
    hcas
        Whether NCCL found GPUDirect RDMA with a NIC, by the NIC's name (its number where it has none).
    sockets
        Lines of channels that go over TCP.
    threads
        CUDA devices of the threads that speak.
    """

    present: bool = False
    version: Known[NcclVersion] | None = None
    is_rccl: bool = False
    env: dict[str, Known[str]] = field(default_factory=dict)
    nics: dict[int, LogNicView] = field(default_factory=dict)
    hcas: dict[str, Known[bool]] = field(default_factory=dict)
    ranks: list[RankView] = field(default_factory=list)
    decisions: list[PairDecision] = field(default_factory=list)
    channels: list[ChannelView] = field(default_factory=list)
    warnings: list[WarningView] = field(default_factory=list)
    sockets: list[Evidence] = field(default_factory=list)
    threads: set[int] = field(default_factory=set)
    readings: tuple[Reading, ...] = ()

    @property
    def refused_hcas(self) -> dict[str, Known[bool]]:
        """NICs with which NCCL found no GPUDirect RDMA."""
        return {name: known for name, known in self.hcas.items() if not known.value}

    def hca(self, name: str) -> Known[bool] | None:
        """Return whether NCCL found GPUDirect RDMA with a NIC, None where no log says."""
        return self.hcas.get(name) if name else None

    @cached_property
    def dma_buf_lines(self) -> tuple[Evidence, ...]:
        """Lines in which NCCL finds DMA-BUF available."""
        from gdviz.doctor.evidence.grep import grep_readings

        return grep_readings(self.readings, _DMA_BUF)[:2]

    def nic_index_of(self, name: str) -> int | None:
        """Return a NIC's number in the log."""
        return next((nic.index for nic in self.nics.values() if nic.name == name), None)


def hosts_of(readings: Iterable[Reading]) -> tuple[str, ...]:
    """Return the hosts that NCCL's logs name, in order."""
    found: dict[str, None] = {}
    for reading in readings:
        if isinstance(reading.facts, NcclLog):
            found.update(dict.fromkeys(reading.facts.hosts))
    return tuple(found)


def log_view(readings: Iterable[Reading], host: str) -> LogView:
    """Return what the logs among some readings say of a host; '' for all hosts."""
    logs = [(reading, reading.facts) for reading in readings if isinstance(reading.facts, NcclLog)]
    view = LogView(present=bool(logs), readings=tuple(reading for reading, _log in logs))
    for reading, log in logs:
        _take(view, reading, log, host)
    return view


def _mine(host: str, other: str | None) -> bool:
    return not host or not other or host == other


def _take(view: LogView, reading: Reading, log: NcclLog, host: str) -> None:
    if log.version and (parsed := NcclVersion.parse(log.version)) and view.version is None:
        view.version = Known(parsed, (reading.cite(log.version_line),))
    view.is_rccl = view.is_rccl or log.is_rccl
    for setting in log.env:
        if _mine(host, setting.host):
            view.env.setdefault(setting.name, Known(setting.value, (reading.cite(setting.line),)))
    for nic in log.nics:
        if _mine(host, nic.host) and nic.plugin.lower() != "socket":
            known = view.nics.get(nic.index)
            busid = normal_bus_id(nic.busid) if nic.busid else None
            if known is None or (known.busid is None and busid):
                speed = nic.speed_bytes_per_s or (known.speed_bytes_per_s if known else None)
                view.nics[nic.index] = LogNicView(
                    nic.index, nic.name, busid, speed, nic.layer, reading.cite(nic.line)
                )
    for hca in log.hcas:
        if _mine(host, hca.host):
            name = hca.name or f"HCA {hca.index}"
            cited = reading.cite(hca.line)
            view.threads |= {hca.gpu} if hca.gpu is not None and hca.gpu >= 0 else set()
            view.hcas.setdefault(name, Known(hca.enabled, (cited,)))
            view.nics.setdefault(hca.index, LogNicView(hca.index, name, None, None, "", cited))
    ranks = [rank for rank in log.ranks if _mine(host, rank.host)]
    # Where each process sees one GPU only, all of them call it 0: then only bus ids tell them apart.
    numbered = len({rank.gpu for rank in ranks}) == len({rank.busid for rank in ranks})
    for rank in ranks:
        busid = busid_of(rank.busid)
        index = rank.gpu if numbered or busid is None else None
        view.ranks.append(RankView(rank.rank, index, busid, reading.cite(rank.line)))
    _take_decisions(view, reading, log, host)
    for warning in log.warnings:
        if _mine(host, warning.host):
            view.warnings.append(
                WarningView(
                    warning.text,
                    warning.errno,
                    warning.call or "",
                    warning.status,
                    warning.host or "",
                    reading.cite(warning.line),
                )
            )


def _take_decisions(view: LogView, reading: Reading, log: NcclLog, host: str) -> None:
    by_rank = {rank.rank: rank for rank in view.ranks}
    ambiguous = any(rank.gpu_index is None for rank in view.ranks)

    def whose(rank: int | None, text: str, gpu: int | None) -> tuple[int | None, str | None]:
        """Return index and bus id of a GPU from its rank, the line's text and the thread's device."""
        known = by_rank.get(rank) if rank is not None else None
        busid = (known.busid if known else None) or (busid_of(text) if len(text) > 1 else None)
        index = known.gpu_index if known and known.gpu_index is not None else None if ambiguous else gpu
        return index, busid

    old = view.version is None or view.version.value < NcclVersion(2, 24)
    for each in log.decisions:
        if _mine(host, each.host):
            is_rank = not old and each.gpu_text.isdecimal()
            rank = int(each.gpu_text) if is_rank else None
            index, busid = whose(rank, "" if is_rank else each.gpu_text, each.gpu)
            cited = reading.cite(each.line)
            view.decisions.append(
                PairDecision(
                    index, busid, each.nic, each.enabled, each.distance, each.level, each.reads, cited
                )
            )
    for each_channel in log.channels:
        if _mine(host, each_channel.host):
            cited = reading.cite(each_channel.line)
            if each_channel.plugin.lower() == "socket":
                view.sockets.append(cited)
                continue
            rank = each_channel.source if each_channel.sends else each_channel.target
            text = each_channel.source_gpu if each_channel.sends else each_channel.target_gpu
            # From 2.17 on the brackets hold a device's number, not always that of the thread that speaks.
            told = int(text) if text.isdecimal() and len(text) <= 2 else each_channel.gpu
            index, busid = whose(rank, text if len(text) > 2 else "", told)
            view.channels.append(
                ChannelView(index, busid, each_channel.nic, each_channel.gdr, each_channel.sends, cited, rank)
            )


_DMA_BUF = re.compile(r"DMA-BUF is available on GPU")


_PACKED = re.compile(r"^[0-9a-f]{2,12}$", re.IGNORECASE)


def busid_of(text: str | None) -> str | None:
    """Return a bus id from NCCL's packed hexadecimal (``1b000``: bus 1b, device 00, function 0).

    Examples
    --------
    >>> busid_of("1b000"), busid_of("101c0"), busid_of("0000:1b:00.0"), busid_of("901000")
    ('0000:1b:00.0', '0000:10:1c.0', '0000:1b:00.0', '0009:01:00.0')
    """
    if not text:
        return None
    if normal := normal_bus_id(text):
        return normal
    if not _PACKED.match(text):
        return None
    number = int(text, 16)
    function, number = number & 0xF, number >> 4
    device, number = number & 0xFF, number >> 8
    bus, domain = number & 0xFF, number >> 8
    return f"{domain:04x}:{bus:02x}:{device:02x}.{function:x}" if function < 8 and device < 32 else None
