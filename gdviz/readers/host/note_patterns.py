"""What is known among the lines that people note of a host."""

from __future__ import annotations

import re

from gdviz.readers.host.environment import PREFIXES

_BDF = r"(?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"
_PEER = r"(?P<subject>/sys/(?:kernel/mm/memory_peers|module/(?:nvidia_peermem|nv_peer_mem))[\w/.-]*)"
_MISSING = r"No such file or directory"
_VARIABLE = rf"(?P<subject>(?:{'|'.join(PREFIXES)})_[A-Z0-9_]{{1,60}})=(?P<value>[^\s,;)]*)"

#: Kinds of statements, with what their subject and value are.
KINDS = {
    "peer-memory-path": "a path that shows peer memory, and its version, 'present' or 'missing'",
    "modprobe-failed": "a module, and the error",
    "ofed-version": "'' and what ofed_info prints",
    "rdma-core-version": "'' and the package's version",
    "peermem-absent": "'' and the answer that shows that no peer-memory module is loaded",
    "cuda-attribute": "such as GPU_DIRECT_RDMA_SUPPORTED, and 0 or 1",
    "module-licence": "a module, and what modinfo prints",
    "module-parameter": "a parameter of a driver, and its value",
    "gpu-name": "an index or bus id, and the product",
    "gpu-busid": "an index, and the bus id",
    "iommu-group": "a bus id, and the group's number",
    "iommu-group-type": "a group's number, and its type: identity, DMA, DMA-FQ",
    "ib-device": "a device's name, and its bus id",
    "ib-netdev": "a device's name, and its network interface",
    "netdev-mtu": "a network interface, and its MTU in bytes",
    "netdev-state": "a network interface, and UP or DOWN",
    "numa-cpus": "a NUMA node's number, and its CPUs as a list of ranges",
    "bare-metal": "'' and what was written",
    "virtual-machine": "'' and the hypervisor",
    "mlxconfig": "a setting, and its value",
    "verbs-failed": "a verbs call, and the error",
    "mentioned-setting": "a variable that a sentence speaks of, and its value: a trial, not the environment",
}

#: Kind, pattern with the groups ``subject`` and ``value``, and the value where the pattern has none.
LINES: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("peer-memory-path", re.compile(rf"cannot access '?{_PEER}'?: {_MISSING}"), "missing"),
    ("peer-memory-path", re.compile(rf"^\s*(?:cat|ls): {_PEER}: {_MISSING}"), "missing"),
    ("peer-memory-path", re.compile(rf"^\s*{_PEER}:\s*(?P<value>\d[\w.-]*)\s*$"), "present"),
    (
        "peer-memory-path",
        re.compile(rf"^\s*(?:ls |cat )?{_PEER}:?\s*(?:is )?(?:missing|absent|{_MISSING})"),
        "missing",
    ),
    (
        "modprobe-failed",
        re.compile(
            r"(?:modprobe|insmod): (?:ERROR|FATAL): could not insert "
            r"(?:module )?'?(?P<subject>[\w./-]+?)'?: (?P<value>[^\n]+)"
        ),
        "",
    ),
    (
        "modprobe-failed",
        re.compile(r"(?:modprobe): FATAL: Module (?P<subject>[\w-]+) (?P<value>not found.*)"),
        "",
    ),
    ("peermem-absent", re.compile(r"\bnv_peer_mem module is (?P<value>not loaded)\b"), ""),
    (
        "ofed-version",
        re.compile(
            r"(?P<value>MLNX_OFED_LINUX-\d[\w.-]*|OFED-internal-\d[\w.-]*"
            r"|DOCA[_-]OFED[ _-]?\d[\w.-]*|mlnx-ofed-kernel\S* \d\S*)"
        ),
        "",
    ),
    ("rdma-core-version", re.compile(r"\brdma-core[-\s:=]+(?:version )?(?P<value>\d[\w.+~-]*)"), ""),
    (
        "cuda-attribute",
        re.compile(
            r"\b(?:CU_DEVICE_ATTRIBUTE_|hipDeviceAttribute)?(?P<subject>GPU_DIRECT_RDMA\w{0,40}"
            r"|DMA_BUF_SUPPORTED)\)?\s*[:=]?\s*(?P<value>[01])\b"
        ),
        "",
    ),
    ("gpu-name", re.compile(r"\bGPU (?P<subject>\d{1,3}): (?P<value>[A-Z][^(\n]{2,80})(?:\(UUID|$)"), ""),
    (
        "gpu-name",
        re.compile(
            r"^\s*\[pid = \d{1,10}, dev = (?P<subject>\d{1,3})\] "
            r"device name = \[(?P<value>[A-Z][^\]\n]{2,80})\]"
        ),
        "",
    ),
    ("gpu-name", re.compile(rf"^\s*\d{{1,3}}, (?P<subject>{_BDF}), (?P<value>[A-Z][^,]{{2,80}})"), ""),
    ("gpu-busid", re.compile(rf"^\s*(?P<subject>\d{{1,3}}), (?P<value>{_BDF})(?:,|\s*$)"), ""),
    ("iommu-group", re.compile(rf"iommu_groups?/(?P<value>\d{{1,5}})/devices/(?P<subject>{_BDF})"), ""),
    (
        "iommu-group",
        re.compile(rf"(?P<subject>{_BDF})/iommu_group\s*(?:->)?\s*\S*/(?P<value>\d{{1,5}})\s*$"),
        "",
    ),
    ("iommu-group", re.compile(rf"(?i:\biommu group)[ :]+(?P<value>\d{{1,5}})[ :]+(?P<subject>{_BDF})"), ""),
    (
        "ib-device",
        re.compile(rf"infiniband/(?P<subject>[\w.-]{{1,64}})/device\s*(?:->)?\s*\S*/(?P<value>{_BDF})\s*$"),
        "",
    ),
    ("ib-device", re.compile(rf"^\s*(?P<value>{_BDF}) (?P<subject>\w+_\w+) \(MT\d+"), ""),
    (
        "ib-netdev",
        re.compile(
            r"\b(?P<subject>\w+_\w+) (?:\(.{0,120}\) .{0,120})?port \d+ (?:\(\w+ *\) )?==> (?P<value>[\w.-]+)"
        ),
        "",
    ),
    (
        "netdev-mtu",
        re.compile(
            r"(?:^|[\s,:])(?P<subject>[\w.-]{1,40})(?:@[\w.-]{1,40})?\s+(?:UP|DOWN|UNKNOWN)\s+"
            r"(?:\S+ )?mtu (?P<value>\d{2,5})\b"
        ),
        "",
    ),
    (
        "netdev-state",
        re.compile(
            r"(?:^|[\s,:])(?P<subject>[\w.-]{1,40})(?:@[\w.-]{1,40})?\s+(?P<value>UP|DOWN)\s+(?:\S+ )?mtu \d"
        ),
        "",
    ),
    (
        "netdev-mtu",
        re.compile(
            r"^\s*(?:\d{1,4}: )?(?P<subject>[\w.-]{1,40})(?:@[\w.-]{1,40})?: "
            r"(?:flags=\d+)?<[^>]{0,200}>\s+mtu (?P<value>\d{2,5})\b"
        ),
        "",
    ),
    (
        "netdev-state",
        re.compile(
            r"^\s*\d{1,4}: (?P<subject>[\w.-]{1,40})"
            r"(?:@[\w.-]{1,40})?: <[^>]{0,200}> mtu \d.{0,80} state (?P<value>UP|DOWN)\b"
        ),
        "",
    ),
    ("numa-cpus", re.compile(r"NUMA node(?P<subject>\d{1,4}) CPU\(s\):\s*(?P<value>[\d,-]+)"), ""),
    (
        "bare-metal",
        re.compile(r"(?i)(?P<value>\bbare[- ]metal\b|\bno hypervisor\b|\bnot virtuali[sz]ed\b)"),
        "",
    ),
    (
        "virtual-machine",
        re.compile(r"^\s*(?:Hypervisor vendor|Virtualization):\s*(?P<value>(?!VT-x|AMD-V|none)\S.*)$"),
        "",
    ),
    (
        "mlxconfig",
        re.compile(r"^\s*\**\s*(?P<subject>[A-Z][A-Z0-9_]{3,60})\s+(?P<value>\w+\(\d+\)|True|False)"),
        "",
    ),
    (
        "module-parameter",
        re.compile(
            r"\b(?:NVreg_)?(?P<subject>GrdmaPciTopoCheckOverride|EnableStreamMemOPs|RegistryDwords"
            r"|PeerMappingOverride)\s*[:=]\s*(?P<value>\S+)"
        ),
        "",
    ),
    (
        "verbs-failed",
        re.compile(
            r"\b(?P<subject>(?:ibv|mlx5dv)_[a-z0-9_]{3,40})(?:\([^)\n]{0,200}\))? "
            r"(?:failed|returned error)(?: with error)?:? (?P<value>[^\n]{2,200})"
        ),
        "",
    ),
    ("mentioned-setting", re.compile(rf"(?<=[A-Za-z,.:(] ){_VARIABLE}"), ""),
)

#: Kind, pattern of the command, and pattern of each line that it may print.
ANSWERS: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = (
    (
        "peer-memory-path",
        re.compile(
            r"\bcat (?P<subject>/sys/(?:kernel/mm/memory_peers|module/(?:nvidia_peermem"
            r"|nv_peer_mem))/[\w/.-]*version)\s*$"
        ),
        re.compile(r"^\s*(?P<value>\d[\w.-]*)\s*$"),
    ),
    (
        "peer-memory-path",
        re.compile(r"\bls (?:-\w+ )?(?P<subject>/sys/kernel/mm/memory_peers)/?\s*$"),
        re.compile(r"^(?:[dl-][rwx-]{9}.*\s)?(?P<subject>nv_mem(?:_nc)?|nvidia-peermem|amdkfd|amdgpu)/?\s*$"),
    ),
    (
        "module-licence",
        re.compile(
            r"\bmodinfo\b.*?-F ?licen[sc]e (?P<subject>[\w-]+)|\bmodinfo (?P<module>[\w-]+) .*licen[sc]e"
        ),
        re.compile(r"^\s*(?:license:\s*)?(?P<value>NVIDIA|Dual \S+|GPL\S*|Proprietary)\s*$"),
    ),
    (
        "bare-metal",
        re.compile(r"\bsystemd-detect-virt\b"),
        re.compile(r"^\s*(?P<value>none)\s*$"),
    ),
    (
        "virtual-machine",
        re.compile(r"\bsystemd-detect-virt\b"),
        re.compile(r"^\s*(?P<value>kvm|qemu|vmware|microsoft|amazon|xen|oracle|google|parallels)\s*$"),
    ),
    (
        "ofed-version",
        re.compile(r"\bofed_info\b"),
        re.compile(r"^\s*(?P<value>(?!MLNX_OFED|OFED-internal)\S*\d+\.\d\S*?):?\s*$"),
    ),
)

#: Words of which a line of each kind has at least one; cheap enough for every line of any log.
WORDS_OF: dict[str, tuple[str, ...]] = {
    "peer-memory-path": ("memory_peers", "peermem", "peer_mem"),
    "modprobe-failed": ("modprobe: ", "insmod: "),
    "peermem-absent": ("module is not loaded",),
    "ofed-version": ("OFED", "ofed"),
    "rdma-core-version": ("rdma-core",),
    "cuda-attribute": ("GPU_DIRECT_RDMA", "DMA_BUF_SUPPORTED"),
    "gpu-name": ("device name = [", "GPU 0: ", "GPU 1: ", "(UUID", ", 0000"),
    "gpu-busid": (", 0000",),
    "iommu-group": ("iommu_group", "ommu group", "ommu Group", "OMMU group", "OMMU Group"),
    "ib-device": ("infiniband/", "(MT"),
    "ib-netdev": ("==>",),
    "netdev-mtu": ("mtu ",),
    "netdev-state": ("mtu ",),
    "numa-cpus": ("NUMA node",),
    "bare-metal": ("are metal", "are-metal", "are Metal", "ARE METAL", "ypervisor", "irtuali"),
    "virtual-machine": ("ypervisor vendor", "irtualization:"),
    "mlxconfig": ("True(", "False(", "ENABLED", "_WR_", "ADVANCED_PCI"),
    "module-parameter": ("Grdma", "EnableStream", "RegistryDwords", "PeerMapping"),
    "verbs-failed": ("ibv_", "mlx5dv_"),
    "mentioned-setting": ("NCCL_", "RCCL_", "UCX_", "CUDA_", "OMPI_", "NVSHMEM_"),
}
WORDS = tuple(dict.fromkeys(word for words in WORDS_OF.values() for word in words))

#: What a command has that one of `ANSWERS` is for.
COMMAND_WORDS = ("lsmod", "/sys/", "modinfo", "detect-virt", "ofed_info")
