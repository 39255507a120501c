"""What NCCL's log says, each datum with its line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EnvSetting:
    """A variable that NCCL took from the environment.

    Attributes
    ----------
    host
        Who said so; None where the line names nobody.
    """

    name: str
    value: str
    line: int
    host: str | None = None


@dataclass(frozen=True, slots=True)
class RankFacts:
    """A rank of a communicator.

    Attributes
    ----------
    gpu
        CUDA device number.
    busid
        As printed: packed hexadecimal (``1b000``: bus 1b, device 00, function 0); None if it is not.
    """

    rank: int
    ranks: int | None
    host: str | None
    pid: int | None
    gpu: int | None
    busid: str | None
    line: int


@dataclass(frozen=True, slots=True)
class LogNic:
    """A NIC that a network plugin uses.

    Attributes
    ----------
    index
        Its number in the log.
    layer
        ``IB``, ``RoCE`` or what is printed; empty where nothing is.
    speed_bytes_per_s
        Port speed, None where it is not printed.
    busid
        Last PCI function of its path, None where it is not printed.
    """

    host: str | None
    plugin: str
    index: int
    name: str
    port: int | None
    layer: str
    speed_bytes_per_s: float | None
    busid: str | None
    line: int


@dataclass(frozen=True, slots=True)
class HcaSupport:
    """'GPU Direct RDMA Enabled (or Disabled) for HCA 0 'mlx5_0'': the plugin's own check.

    Attributes
    ----------
    gpu
        CUDA device of the thread that says it.
    """

    host: str | None
    plugin: str
    index: int
    name: str
    enabled: bool
    gpu: int | None
    line: int


@dataclass(frozen=True, slots=True)
class GdrDecision:
    """'GPU Direct RDMA Enabled (or Disabled) for GPU x / HCA y (distance a > b)'.

    Attributes
    ----------
    gpu
        CUDA device of the thread that says it.
    gpu_text
        What is printed: packed bus id up to NCCL 2.23, rank from 2.24.
    nic
        Number of the NIC; None where it is not printed as one.
    distance, level
        Numbers as printed; what they mean depends on the release.
    reads
        Whether it is about sends, which read GPU memory; None where it is not printed.
    """

    host: str | None
    gpu: int | None
    gpu_text: str
    nic: int | None
    enabled: bool
    distance: int | None
    level: int | None
    reads: bool | None
    line: int


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel over the network, at one end.

    Attributes
    ----------
    gpu
        CUDA device of the thread that says it.
    source_gpu, target_gpu
        What stands in brackets behind the ranks: device number or packed bus id.
    sends
        Whether this end sends.
    nic
        Number of the NIC.
    gdr
        Whether it goes by GPUDirect RDMA.
    mode
        ``PCI`` or ``Shared`` where printed, else empty.
    """

    host: str | None
    gpu: int | None
    channel: int
    source: int
    target: int
    source_gpu: str
    target_gpu: str
    sends: bool
    plugin: str
    nic: int | None
    gdr: bool
    mode: str
    line: int


@dataclass(frozen=True, slots=True)
class LogWarning:
    """A warning, or a failed call of the verbs at any level.

    Attributes
    ----------
    call
        Function that failed, such as ``ibv_reg_mr``; None where none is named.
    errno
        Of the failure, as printed or by its text.
    status, vendor_error
        Of a failed completion.
    """

    host: str | None
    gpu: int | None
    text: str
    call: str | None
    errno: int | None
    status: int | None
    vendor_error: int | None
    line: int


@dataclass(frozen=True, slots=True)
class NcclLog:
    """The log of one or many ranks.

    Attributes
    ----------
    version
        ``2.27.7``; None where it is not printed.
    hosts
        Names of the hosts, in order of appearance.
    plugins
        Networks that are used, in order: ``IB``, ``AWS Libfabric``, ``Socket``.
    """

    version: str | None = None
    version_line: int | None = None
    is_rccl: bool = False
    hosts: tuple[str, ...] = ()
    plugins: tuple[str, ...] = ()
    ranks: tuple[RankFacts, ...] = ()
    nics: tuple[LogNic, ...] = ()
    hcas: tuple[HcaSupport, ...] = ()
    decisions: tuple[GdrDecision, ...] = ()
    channels: tuple[Channel, ...] = ()
    env: tuple[EnvSetting, ...] = ()
    warnings: tuple[LogWarning, ...] = ()
