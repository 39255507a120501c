"""The files of a simulated host: what lsmod, dmesg, nvidia-smi, ibstat, show_gids and NCCL would print."""

from __future__ import annotations

from collections.abc import Mapping

from gdviz.doctor.simulated.lspci import lspci
from gdviz.doctor.simulated.nccl import nccl_log
from gdviz.doctor.simulated.state import HostState
from gdviz.machine import LinkLayer, Machine, Nic

_ADAPTERS = {"ConnectX-5": "MT4119", "ConnectX-6": "MT4123", "ConnectX-7": "MT4129", "ConnectX-8": "MT4131"}
_IOMMU = {"translate": "Translated", "pt": "Passthrough (set via kernel command line)"}
_CMDLINE = {"translate": "intel_iommu=on", "pt": "intel_iommu=on iommu=pt", "off": "quiet"}


def host_files(state: HostState) -> Mapping[str, str]:
    """Return the texts of a host by file name."""
    return {
        "uname.txt": _uname(state),
        "lsmod.txt": _lsmod(state),
        "dmesg.txt": _dmesg(state),
        "driver.txt": _driver(state),
        "ulimit.txt": _ulimit(state),
        "env.txt": _env(state),
        "lspci-vvv.txt": lspci(state),
        "nvidia-smi-topo.txt": topo_matrix(state.machine),
        "nvidia-smi-q.txt": _query(state),
        "ibstat.txt": _ibstat(state),
        "ibv_devinfo.txt": _devinfo(state),
        "show_gids.txt": _gids(state),
        "nccl.log": nccl_log(state),
        "perftest.txt": _perftest(state),
    }


#: Buffer that a simulated perftest asks for.
_BUFFER_BYTES = 2**30


def _perftest(state: HostState) -> str:
    """Return perftest's words where a buffer of 1 GiB does not fit into the BAR1 window; else nothing."""
    window = state.settings.bar1_bytes
    if window is None or window >= _BUFFER_BYTES or not state.machine.gpus or not state.machine.nics:
        return ""
    gpu, nic = state.machine.gpus[0], state.machine.nics[0]
    return (
        f"$ ib_write_bw -d {nic.name} --use_cuda=0 -s {_BUFFER_BYTES // 2} -F 10.0.0.1\n"
        f"initializing CUDA\nCUDA device 0: PCIe address is {gpu.busid[-7:-2].upper()}\n"
        f"cuMemAlloc() of a {_BUFFER_BYTES} bytes GPU buffer\n"
        "Couldn't allocate MR with error=12\nfailed to create mr\n"
    )


def _uname(state: HostState) -> str:
    return f"Linux {state.machine.name} 6.8.0-45-generic #45 SMP PREEMPT_DYNAMIC x86_64 x86_64 GNU/Linux\n"


def _lsmod(state: HostState) -> str:
    rows = [
        ("Module", "Size", "Used by"),
        *([("nvidia_peermem", "16384", "0")] if state.settings.peermem else []),
        ("nvidia_uvm", "4964352", "4"),
        ("nvidia", "54259712", "20 nvidia_uvm" + (",nvidia_peermem" if state.settings.peermem else "")),
        ("mlx5_ib", "532480", "0"),
        ("ib_uverbs", "200704", "1 mlx5_ib"),
        ("ib_core", "512000", "2 ib_uverbs,mlx5_ib"),
        ("mlx5_core", "2629632", "1 mlx5_ib"),
        ("mlx_compat", "73728", "4 ib_core,ib_uverbs,mlx5_ib,mlx5_core"),
    ]
    return "".join(f"{name:<20}{size:>10}  {used}\n" for name, size, used in rows)


def _dmesg(state: HostState) -> str:
    iommu = state.settings.iommu
    lines = [f"[    0.000000] Command line: BOOT_IMAGE=/vmlinuz-6.8.0-45-generic ro {_CMDLINE[iommu]}"]
    if iommu in _IOMMU:
        lines.append(f"[    0.500000] iommu: Default domain type: {_IOMMU[iommu]}")
    return "\n".join(lines) + "\n"


def _driver(state: HostState) -> str:
    if state.open_driver:
        kind = "NVIDIA UNIX Open Kernel Module for x86_64  550.90.07  Release Build  (gdviz)"
    else:
        kind = "NVIDIA UNIX x86_64 Kernel Module  550.90.07  Fri May 31 09:35:42 UTC 2024"
    supported = int(state.settings.dma_buf)
    return f"NVRM version: {kind}\nCU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED = {supported}\n"


def _ulimit(state: HostState) -> str:
    limit = state.settings.memlock_bytes
    return "$ ulimit -l\n" + ("unlimited" if limit is None else str(limit // 1024)) + "\n"


def _env(state: HostState) -> str:
    env = {"NCCL_DEBUG": "INFO", **state.env}
    if state.gid_index is not None:
        env["NCCL_IB_GID_INDEX"] = str(state.gid_index)
    if state.ports_down:
        env["NCCL_IB_HCA"] = ",".join(nic.name for nic in state.machine.nics)
    return "".join(f"{name}={value}\n" for name, value in env.items())


def topo_matrix(machine: Machine) -> str:
    """Return ``nvidia-smi topo -m`` of a machine."""
    gpus = [f"GPU{gpu.index}" for gpu in machine.gpus]
    nics = [f"NIC{nic.index}" for nic in machine.nics]
    rows = ["\t".join(("", *gpus, *nics, "CPU Affinity", "NUMA Affinity"))]
    for gpu in machine.gpus:
        cells = [" X " if other is gpu else _between(machine, gpu.id, other.id) for other in machine.gpus]
        cells += [machine.path(gpu, nic).distance.value for nic in machine.nics]
        cpu = machine.cpu_of(gpu.id)
        rows.append("\t".join((f"GPU{gpu.index}", *cells, "", str(cpu.numa if cpu else 0))))
    for nic in machine.nics:
        cells = [machine.path(gpu, nic).distance.value for gpu in machine.gpus]
        cells += [" X " if other is nic else _between(machine, nic.id, other.id) for other in machine.nics]
        rows.append("\t".join((f"NIC{nic.index}", *cells)))
    legend = [f"  NIC{nic.index}: {nic.name}" for nic in machine.nics]
    return "\n".join((*rows, "", "Legend:", "", "  X    = Self", "", "NIC Legend:", "", *legend)) + "\n"


def _between(machine: Machine, left: str, right: str) -> str:
    """Return the class of two devices of one kind, as far as a tree tells."""
    if any({link.gpu, link.target} == {left, right} for link in machine.nvlinks):
        return f"NV{sum(link.count for link in machine.nvlinks if {link.gpu, link.target} == {left, right})}"
    switched = [sum(link.count for link in machine.nvlinks if link.gpu == end) for end in (left, right)]
    if all(switched):
        return f"NV{min(switched)}"
    above = {part.id for part in machine.ancestors(left)[1:]}
    shared = next((part for part in machine.ancestors(right)[1:] if part.id in above), None)
    if shared is None:
        return "SYS"
    return "NODE" if shared in machine.cpus else "PIX"


def _query(state: HostState) -> str:
    gpus = state.machine.gpus
    lines = ["", "==============NVSMI LOG==============", "", "Driver Version : 550.90.07"]
    lines += ["CUDA Version : 12.4", "", f"Attached GPUs : {len(gpus)}"]
    for gpu in gpus:
        window = state.settings.bar1_bytes or gpu.bar1_bytes
        lines += [
            f"GPU 0000{gpu.busid.upper()}",
            f"    Product Name                          : NVIDIA {gpu.name}",
        ]
        lines += ["    PCI", f"        Bus Id                            : 0000{gpu.busid.upper()}"]
        if window:
            lines += [
                "    BAR1 Memory Usage",
                f"        Total                             : {window // 2**20} MiB",
            ]
    return "\n".join(lines) + "\n"


def _ibstat(state: HostState) -> str:
    blocks = []
    for nic in state.machine.nics:
        adapter = _ADAPTERS.get(nic.model, "MT4129")
        down = nic.name in state.ports_down
        rate = 0 if nic.speed_bytes_per_s is None else round(nic.speed_bytes_per_s * 8 / 1e9)
        guid = f"0xa088c20300{(nic.index + 1) * 256 + state.address:06x}"
        blocks.append(
            f"CA '{nic.name}'\n\tCA type: {adapter}\n\tNumber of ports: 1\n"
            f"\tFirmware version: 28.39.3560\n\tNode GUID: {guid}\n\tPort 1:\n"
            f"\t\tState: {'Down' if down else 'Active'}\n"
            f"\t\tPhysical state: {'Polling' if down else 'LinkUp'}\n\t\tRate: {rate}\n"
            f"\t\tLink layer: {_layer(nic)}\n"
        )
    return "".join(blocks)


def _layer(nic: Nic) -> str:
    return "InfiniBand" if nic.link_layer is LinkLayer.INFINIBAND else "Ethernet"


def _devinfo(state: HostState) -> str:
    codes = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
    blocks = []
    for nic in state.machine.nics:
        port = "PORT_DOWN (1)" if nic.name in state.ports_down else "PORT_ACTIVE (4)"
        part = _ADAPTERS.get(nic.model, "MT4129").removeprefix("MT")
        mtu = f"{state.mtu_bytes} ({codes.get(state.mtu_bytes, 5)})"
        blocks.append(
            f"hca_id:\t{nic.name}\n\ttransport:\t\t\tInfiniBand (0)\n\tfw_ver:\t\t\t\t28.39.3560\n"
            f"\tvendor_part_id:\t\t\t{part}\n\tphys_port_cnt:\t\t\t1\n\t\tport:\t1\n"
            f"\t\t\tstate:\t\t\t{port}\n\t\t\tmax_mtu:\t\t4096 (5)\n"
            f"\t\t\tactive_mtu:\t\t{mtu}\n\t\t\tlink_layer:\t\t{_layer(nic)}\n\n"
        )
    return "".join(blocks)


def _gids(state: HostState) -> str:
    rows = [
        "DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV",
        "---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---",
    ]
    count = 0
    for nic in state.machine.nics:
        if nic.link_layer is LinkLayer.INFINIBAND:
            continue
        net = 100 + nic.index
        local = f"fe80:0000:0000:0000:0a88:c2ff:fe{nic.index:02x}:{state.address:04x}"
        routed = f"0000:0000:0000:0000:0000:ffff:0a{net:02x}:00{state.address:02x}"
        ipv4 = f"10.{net}.0.{state.address}"
        for index, (gid, address, version) in enumerate(
            ((local, "", "v1"), (local, "", "v2"), (routed, ipv4, "v1"), (routed, ipv4, "v2"))
        ):
            rows.append(f"{nic.name}\t1\t{index}\t{gid}\t{address}\t{version}\teth{nic.index}")
            count += 1
    return "\n".join((*rows, f"n_gids_found={count}")) + "\n" if count else ""
