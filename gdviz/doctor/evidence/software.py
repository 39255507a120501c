"""Questions about a node's software: modules, driver, kernel, IOMMU, limits, virtual machine.

Each function returns what is known with its lines, or None where the inputs do not tell. What somebody
assumes (`NodeEvidence.assumed`) comes before what the files say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gdviz.doctor.evidence.grep import grep
from gdviz.doctor.evidence.known import Known
from gdviz.doctor.evidence.node import NodeEvidence, assumption
from gdviz.doctor.versions import MODULE, NV_MEM, NV_MEM_NC, PEERS_PEERMEM
from gdviz.readers import Evidence
from gdviz.readers.host import (
    Kernel,
    KernelConfig,
    KernelLog,
    KernelModules,
    Limits,
    ModuleInfos,
    NvidiaDriver,
    Statement,
)

#: Names of the peer-memory module: NVIDIA's own since R470, Mellanox's before. GDRCopy's gdrdrv is none.
PEERMEM_MODULES = ("nvidia_peermem", "nv_peer_mem")

_MEMORY_PEERS = "/sys/kernel/mm/memory_peers"
_FAILED_LOAD = re.compile(
    r"(?:could not insert|load(?:ing)?|insmod|modprobe)\W.{0,40}?(?:nvidia[_-]peermem|nv_peer_mem)"
    r".{0,40}?(?:invalid argument|failed|exec format error|operation not permitted|no such device)",
    re.IGNORECASE,
)
_SAID_LIMIT = re.compile(
    r"RLIMIT_MEMLOCK is (?P<bytes>\d{1,15}) bytes|max locked memory.{0,60}current: (?P<kb>\d{1,12}) kbytes"
)
_SYMBOL = re.compile(
    r"(?:nvidia_peermem|nv_peer_mem)\b.*(?:symbol|version magic)|ib_(?:un)?register_peer_memory_client"
)
_SYMBOL_ERROR = re.compile(r"disagrees about version|unknown symbol", re.IGNORECASE)
_FLAVOUR = re.compile(
    r"\bdriver\b[^\n]{0,60}\((?:[^)]*[\s,])?(?P<kind>closed|open|proprietary)\b[^)]*\)", re.IGNORECASE
)


def peermem_loaded(node: NodeEvidence) -> Known[bool] | None:
    """Return whether a peer-memory module is loaded."""
    if "peermem" in node.assumed:
        return Known(bool(node.assumed["peermem"]), (assumption(f"peermem={node.assumed['peermem']}"),))
    table = None
    for reading, modules in node.own(KernelModules):
        for name in PEERMEM_MODULES:
            if module := modules.find(name):
                return Known(True, (reading.cite(module.line),))
        if modules.whole and any(m.name.startswith("nvidia") for m in modules.loaded):
            table = reading.cite(modules.line, "lsmod: no nvidia_peermem, no nv_peer_mem")
    present = [e for path, is_there, e in peer_memory_paths(node) if is_there and path != _MEMORY_PEERS]
    if present:
        return Known(True, tuple(present))
    missing = (
        *(e for _path, is_there, e in peer_memory_paths(node) if not is_there),
        *(e for _statement, e in node.statements("peermem-absent")),
        *(e for statement, e in _modprobe_failures(node) if _is_not_there(statement.value)),
    )
    if table is not None:
        return Known(False, (table, *missing))
    return Known(False, missing) if missing else None


def peer_memory_paths(node: NodeEvidence) -> Iterator[tuple[str, bool, Evidence]]:
    """Go through the folders of peer memory that the files name: path, whether it is there, the line."""
    for statement, evidence in node.statements("peer-memory-path"):
        yield _folder(statement.subject), statement.value != "missing", evidence


def _folder(path: str) -> str:
    for known in (NV_MEM_NC, NV_MEM, PEERS_PEERMEM, MODULE, _MEMORY_PEERS):
        if path.replace("nvidia-peermem", "nvidia-peermem").startswith(known):
            return known
    return path


def memory_peers(node: NodeEvidence) -> Known[bool] | None:
    """Return whether something shows itself below /sys/kernel/mm/memory_peers."""
    found = [(there, e) for path, there, e in peer_memory_paths(node) if path.startswith(_MEMORY_PEERS)]
    yes = tuple(e for there, e in found if there)
    if yes:
        return Known(True, yes)
    return Known(False, tuple(e for _there, e in found)) if found else None


def load_refused(node: NodeEvidence) -> tuple[Evidence, ...]:
    """Return lines that show that loading the peer-memory module was tried and refused."""
    if node.assumed.get("peermem"):
        return ()
    found = [e for statement, e in _modprobe_failures(node) if not _is_not_there(statement.value)]
    return tuple(dict.fromkeys((*found, *grep(node, _FAILED_LOAD), *symbol_errors(node))))


def _modprobe_failures(node: NodeEvidence) -> Iterator[tuple[Statement, Evidence]]:
    for statement, evidence in node.statements("modprobe-failed"):
        if statement.subject.replace("-", "_") in PEERMEM_MODULES:
            yield statement, evidence


def _is_not_there(answer: str) -> bool:
    """Return whether modprobe says that there is no such module, rather than that the kernel refuses it."""
    return answer.startswith("not found")


def symbol_errors(node: NodeEvidence) -> tuple[Evidence, ...]:
    """Return lines in which the kernel refuses the module's symbols."""
    if node.assumed.get("peermem"):
        return ()
    found: list[Evidence] = []
    for reading, log in node.own(KernelLog):
        found += [
            reading.cite(entry.line)
            for entry in log.of("unknown-symbol", "symbol-version")
            if _SYMBOL.search(entry.text)
        ]
    if not found:
        found = [e for e in grep(node, _SYMBOL_ERROR) if _SYMBOL.search(e.text)]
    return tuple(dict.fromkeys(found))


def driver_open(node: NodeEvidence) -> Known[bool] | None:
    """Return whether NVIDIA's kernel modules are the open ones."""
    if "open_driver" in node.assumed:
        return Known(bool(node.assumed["open_driver"]), (assumption("open_driver"),))
    for reading, driver in node.own(NvidiaDriver):
        if driver.is_open is not None:
            return Known(driver.is_open, (reading.cite(driver.line),))
    for reading, log in node.own(KernelLog):
        for entry in log.of("nvidia-module-open", "nvidia-module-closed"):
            return Known(entry.kind.endswith("open"), (reading.cite(entry.line),))
    for statement, evidence in node.statements("module-licence"):
        if statement.subject.replace("-", "_") in ("nvidia", ""):
            return Known(statement.value.strip().upper() != "NVIDIA", (evidence,))
    for reading, infos in node.own(ModuleInfos):
        for info in infos.modules:
            if info.name == "nvidia" and info.license:
                cited = reading.cite(info.line_of("license"))
                return Known(info.license.strip().upper() != "NVIDIA", (cited,))
    for evidence in grep(node, _FLAVOUR):
        match = _FLAVOUR.search(evidence.text)
        if match:
            return Known(match["kind"].lower() == "open", (evidence,))
    return None


def cuda_attribute(node: NodeEvidence, name: str) -> Known[bool] | None:
    """Return a device attribute of CUDA: GPU_DIRECT_RDMA_SUPPORTED or DMA_BUF_SUPPORTED."""
    for statement, evidence in node.statements("cuda-attribute", name):
        return Known(statement.value.strip() not in ("0", "false", "False"), (evidence,))
    return None


def kernel(node: NodeEvidence) -> Known[Kernel] | None:
    """Return the kernel that runs."""
    for reading, found in node.own(Kernel):
        return Known(found, (reading.cite(found.line),))
    for reading, log in node.own(KernelLog):
        if log.kernel is not None:
            return Known(log.kernel, (reading.cite(log.kernel.line),))
    return None


def config_option(node: NodeEvidence, name: str) -> Known[str] | None:
    """Return an option of the kernel's configuration: 'y', 'm', 'n' ..., None where no file tells."""
    for reading, config in node.own(KernelConfig):
        option = config.get(name)
        if option is not None:
            return Known(option.value, (reading.cite(option.line),))
        if config.whole:
            return Known("n", (reading.cite(config.line, f"{name} does not occur"),))
    return None


def uses_ofed(node: NodeEvidence) -> Known[bool] | None:
    """Return whether the RDMA stack is MLNX_OFED or DOCA-OFED rather than the kernel's own."""
    for _statement, evidence in node.statements("ofed-version"):
        return Known(True, (evidence,))
    for reading, modules in node.own(KernelModules):
        if compat := modules.find("mlx_compat"):
            return Known(True, (reading.cite(compat.line),))
        if modules.whole and (ours := modules.find("mlx5_core") or modules.find("ib_core")):
            return Known(False, (reading.cite(ours.line, "lsmod: ib_core without mlx_compat"),))
    return None


def memlock_bytes(node: NodeEvidence) -> Known[int | None] | None:
    """Return the limit of locked memory; its value None means unlimited."""
    if "memlock_bytes" in node.assumed:
        return Known(node.assumed["memlock_bytes"], (assumption("memlock"),))
    for reading, limits in node.facts(Limits):
        if limits.hosts and node.host and node.host not in limits.hosts:
            continue
        return Known(limits.memlock_bytes, (reading.cite(limits.line),))
    # libibverbs and UCX tell the limit themselves when it is small.
    for evidence in grep(node, _SAID_LIMIT, job=True):
        match = _SAID_LIMIT.search(evidence.text)
        if match:
            return Known(int(match["bytes"]) if match["bytes"] else int(match["kb"]) * 1024, (evidence,))
    return None
