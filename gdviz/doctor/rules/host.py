"""The host's own limits: IOMMU, locked memory, BAR1 windows (R7, R9, R14, R24)."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.doctor import support
from gdviz.doctor.evidence import software
from gdviz.doctor.evidence.known import Known, evidence_of, value_of
from gdviz.doctor.evidence.nics import gpu_functions
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.pci import listings
from gdviz.doctor.evidence.platform import iommu, is_grace, virtual
from gdviz.doctor.failures import Failure, failures
from gdviz.doctor.findings import Untold, finding
from gdviz.doctor.rules.base import Answer, rule
from gdviz.machine.known import gpu_model
from gdviz.messages import _
from gdviz.quantities import format_size
from gdviz.readers import Evidence
from gdviz.readers.host import Kernel
from gdviz.readers.nvidia_smi import SmiQuery


@rule("iommu-translating", number="R9")
def translating(case: CaseEvidence) -> Iterator[Answer]:
    """Find: the IOMMU translates on bare metal."""
    for node in case.nodes:
        known = iommu(node)
        if known is None or known.value != "translate" or value_of(virtual(node)):
            continue
        if _is_arm(node) or not support.hardware_capable(node):
            continue
        yield finding(
            "iommu-translating",
            _("{node}: the IOMMU translates (no iommu=pt)").format(node=node.name),
            *known.evidence,
            node=node.name,
            effect=_(
                "Peer-to-peer traffic is sent up to be translated, or refused; large registrations may fail "
                "with"
                " ENOMEM. On bare metal passthrough serves devices of the host without translation."
            ),
            check=_("cat /proc/cmdline; dmesg | grep -i -e 'Default domain type' -e DMAR -e AMD-Vi"),
            fix=_("iommu=pt on the kernel command line (GRUB_CMDLINE_LINUX), then a reboot"),
        )


def _is_arm(node: NodeEvidence) -> bool:
    """Return whether it is an ARM machine: its SMMU translates by design, with ATS."""
    machines = [machine for _r, machine in node.machines]
    if any(cpu.arch in ("arm64", "aarch64") for machine in machines for cpu in machine.cpus):
        return True
    kernel: Known[Kernel] | None = software.kernel(node)
    return (kernel is not None and kernel.value.machine == "aarch64") or any(
        is_grace(gpu.name) for gpu in node.joined.gpus
    )


@rule("memlock-limit", number="R7")
def memlock(case: CaseEvidence) -> Iterator[Answer]:
    """Find: too little memory may be locked: ENOMEM from a verbs call, and a finite limit."""
    for node in case.nodes:
        failed = [f for f in failures(node) if f.errno == support.ENOMEM]
        if not failed:
            continue
        limit = software.memlock_bytes(node)
        if limit is None:
            if _bar1_suspect(node, failed) is None:
                yield Untold(
                    "memlock-limit",
                    _(
                        "A verbs call found no memory (ENOMEM); the limit of locked memory is not among the "
                        "files."
                    ),
                    _("ulimit -l, inside the job: srun -N1 -w NODE bash -c 'ulimit -l'"),
                    node.name,
                )
            continue
        if limit.value is None:
            continue
        kib = limit.value // 1024
        yield finding(
            "memlock-limit",
            _("{node}: too little memory may be locked: {kib} KiB ({size})").format(
                node=node.name, kib=kib, size=format_size(limit.value)
            ),
            *tuple(dict.fromkeys(e for f in failed for e in f.evidence))[:3],
            *limit.evidence,
            node=node.name,
            effect=_(
                "Registering memory and creating queues lock pages; beyond {size} they fail with ENOMEM (12)."
            ).format(size=format_size(limit.value)),
            check=_("ulimit -l inside the job (a service such as slurmd hands on its own limit)"),
            fix=(
                _(
                    "'* soft memlock unlimited' and '* hard memlock unlimited' in "
                    "/etc/security/limits.conf, then log in again"
                ),
                _("services: LimitMEMLOCK=infinity (slurmd, containerd), then restart them"),
                _("containers: --ulimit memlock=-1 and the capability IPC_LOCK"),
            ),
        )


@rule("bar1-too-small", number="R14")
def bar1(case: CaseEvidence) -> Iterator[Answer]:
    """Find: the buffer is larger than the GPU's BAR1 window."""
    for node in case.nodes:
        failed = [
            f for f in failures(node) if f.errno in (support.ENOMEM, support.EFAULT, support.EINVAL, None)
        ]
        limit = software.memlock_bytes(node)
        if not failed or (limit is not None and limit.value is not None):
            continue
        found = _bar1_suspect(node, failed)
        if found is None:
            continue
        failure, window = found
        size = failure.size_bytes or 0
        yield finding(
            "bar1-too-small",
            _("{node}: a buffer of {size} cannot be registered through a BAR1 window of {window}").format(
                node=node.name, size=_exact(size), window=_exact(window.value)
            ),
            *window.evidence,
            *failure.evidence,
            *evidence_of(limit),
            node=node.name,
            effect=_(
                "The NIC reaches GPU memory through BAR1; {size} do not fit into {window}. Smaller buffers "
                "register."
            ).format(size=_exact(size), window=_exact(window.value)),
            check=_("nvidia-smi -q -d MEMORY: 'BAR1 Memory Usage', Total and Used"),
            fix=(
                _("register less at a time: buffers well below {window}").format(window=_exact(window.value)),
                _(
                    "a larger BAR1: resizable BAR and Above 4G Decoding in the BIOS, another mode of the "
                    "card (displaymodeselector)"
                ),
                _("or a card whose BAR1 covers its memory"),
            ),
        )


def _exact(size: int) -> str:
    return f"{size // 2**20} MiB" if size % 2**20 == 0 else f"{size} B"


def _bar1_suspect(node: NodeEvidence, failed: list[Failure]) -> tuple[Failure, Known[int]] | None:
    windows = bar1_windows(node)
    for failure in failed:
        if failure.size_bytes is None or failure.on_gpu is False:
            continue
        for window in windows:
            if failure.size_bytes >= window.value:  # the driver itself always keeps a piece
                return failure, window
        for free in _free_windows(node):
            if failure.size_bytes > free.value:
                return failure, free
    return None


def _free_windows(node: NodeEvidence) -> list[Known[int]]:
    """Return what is free of BAR1 windows that are more than half in use."""
    found = []
    for reading, query in node.own(SmiQuery):
        for gpu in query.gpus:
            total, used = gpu.bar1_total_bytes, gpu.bar1_used_bytes
            if total and used and 2 * used > total:
                found.append(Known(total - used, (reading.cite(gpu.bar1_line or gpu.line),)))
    return found


def bar1_windows(node: NodeEvidence) -> list[Known[int]]:
    """Return the sizes of the BAR1 windows of a node's GPUs, the smallest first."""
    found: list[Known[int]] = []
    for reading, query in node.own(SmiQuery):
        for gpu in query.gpus:
            if gpu.bar1_total_bytes:
                lines: tuple[Evidence, ...] = (reading.cite(gpu.bar1_line or gpu.line),)
                cited = lines[0]
                if gpu.bar1_line:
                    lines = (Evidence(cited.file, cited.line, f"BAR1 {cited.text}"),)
                found.append(Known(gpu.bar1_total_bytes, lines))
    if not found:
        for reading, _listing in listings(node):
            for function in gpu_functions(reading):
                # A GPU's window on its memory is its first 64-bit prefetchable region after the registers.
                sizes = [bar for bar in function.bars if bar.prefetchable and bar.size_bytes]
                if sizes:
                    largest = max(sizes, key=lambda bar: bar.size_bytes or 0)
                    found.append(Known(largest.size_bytes or 0, (reading.cite(largest.line),)))
    if not found:
        for gpu_device in node.joined.gpus:
            model = gpu_model(gpu_device.pci.vendor, gpu_device.pci.device)
            size = gpu_device.bar1_bytes or (model.bar1_bytes if model else None)
            if size:
                text = _("{gpu}: BAR1 of {size} (data sheet)").format(
                    gpu=gpu_device.name, size=format_size(size)
                )
                found.append(Known(size, (Evidence("", None, text),)))
    return sorted(found, key=lambda known: known.value)
