"""A small file of each format that the doctor's cases do not hold, so that every reader is fuzzed anywhere."""

from __future__ import annotations

_AMD_TOPOLOGY = """\
============================ ROCm System Management Interface ============================
================================ Weight between two GPUs =================================
       GPU0         GPU1
GPU0   0            15
GPU1   15           0
================================= Hops between two GPUs ==================================
       GPU0         GPU1
GPU0   0            1
GPU1   1            0
=============================== Link Type between two GPUs ===============================
       GPU0         GPU1
GPU0   0            XGMI
GPU1   XGMI         0
======================================= Numa Nodes =======================================
GPU[0]\t\t: (Topology) Numa Node: 0
GPU[1]\t\t: (Topology) Numa Node: 1
LINK TYPE TABLE:
             0000:0c:00.0 0000:22:00.0
0000:0c:00.0 SELF         XGMI
0000:22:00.0 XGMI         SELF
"""

_AMD_SMI = """\
GPU: 0
    ASIC:
        MARKET_NAME: MI300X
        VENDOR_ID: 0x1002
    BUS:
        BDF: 0000:0c:00.0
        MAX_PCIE_WIDTH: 16
        MAX_PCIE_SPEED: 32 GT/s
    NUMA:
        NODE: 1
    VRAM:
        SIZE: 196288 MB
"""

_RDMA_LINK = """\
link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev enp1s0f0np0
link mlx5_1/1 state DOWN physical_state DISABLED netdev enp1s0f1np1
2/1: rxe0/1: state ACTIVE physical_state LINK_UP netdev eth0
"""

_MODINFO = """\
$ modinfo nvidia_peermem
filename:       /lib/modules/6.8.0-40-generic/updates/dkms/nvidia-peermem.ko.zst
version:        550.90.07
license:        Dual BSD/GPL
depends:        nvidia,ib_core
vermagic:       6.8.0-40-generic SMP preempt mod_unload modversions
"""

_GRAPH = """\
<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="1" speedintra="20" speedinter="20" typeintra="NVL">
    <channel><net dev="0"/><gpu dev="0"/><gpu dev="1"/><net dev="0"/></channel>
  </graph>
</graphs>
"""

_HWLOC = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3">
    <object type="Package" os_index="0" cpuset="0x3">
      <object type="Bridge" gp_index="3" bridge_type="0-1" depth="0" bridge_pci="0000:[00-ff]">
        <object type="Bridge" bridge_type="1-1" bridge_pci="0000:[01-04]" pci_busid="0000:00:01.0"
                pci_type="0604 [8086:1234] [0000:0000] 01" pci_link_speed="15.75">
          <object type="PCIDev" pci_busid="0000:02:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1"/>
          <object type="PCIDev" pci_busid="0000:03:00.0" pci_type="0207 [15b3:1021] [15b3:0041] 00">
            <object type="OSDev" name="mlx5_0" osdev_type="3"/>
          </object>
        </object>
      </object>
    </object>
  </object>
</topology>
"""

_NVLINK = """\
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0)
\t Link 0: 26.562 GB/s
\t Link 1: <inactive>
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-1)
\t Link 0: 26.562 GB/s
"""

_SLICE = """\
apiVersion: v1
kind: List
items:
- apiVersion: resource.k8s.io/v1
  kind: ResourceSlice
  metadata:
    name: node-1-gpu
  spec:
    driver: gpu.nvidia.com
    nodeName: node-1
    devices:
    - name: gpu-0
      attributes:
        type: {string: gpu}
        productName: {string: NVIDIA H100 80GB HBM3}
        resource.kubernetes.io/pciBusID: {string: "0000:1b:00.0"}
        resource.kubernetes.io/pcieRoot: {string: "pci0000:15"}
"""

_COPIES = """\
nvbandwidth Version: v0.6
Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     55.64     55.60

SUM host_to_device_memcpy_ce 111.24
"""

_OSU = """\
# OSU MPI-CUDA Bandwidth Test v7.2
# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)
# Size      Bandwidth (MB/s)
1                       0.45
4194304             24210.11
"""

_RDMA_TOPO = """\
RDMA NIC=0000:03:00.0, GPU=0000:06:00.0, RDMA DMA Function=None
OK   All PCI devices found
FAIL ACS for cx_switch 0000:02:00.0 0011101 != xx110x1, 0x1d != 0x19
"""

_SMI_QUERY = """\
==============NVSMI LOG==============
Driver Version                            : 550.90.07
CUDA Version                              : 12.4
Attached GPUs                             : 1
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    PCI
        Bus Id                            : 00000000:1B:00.0
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : 5
            Link Width
                Max                       : 16x
                Current                   : 16x
    BAR1 Memory Usage
        Total                             : 131072 MiB
        Used                              : 1 MiB
"""

_IBSTATUS = """\
Infiniband device 'mlx5_0' port 1 status:
	default gid:	 fe80:0000:0000:0000:0c42:a103:0011:2233
	base lid:	 0x20
	sm lid:		 0x1
	state:		 4: ACTIVE
	phys state:	 5: LinkUp
	rate:		 100 Gb/sec (2X HDR)
	link_layer:	 InfiniBand

"""

SAMPLES = (
    _IBSTATUS,
    *(_AMD_TOPOLOGY, _AMD_SMI, _RDMA_LINK, _MODINFO, _GRAPH, _HWLOC, _NVLINK, _SLICE),
    *(_COPIES, _OSU, _RDMA_TOPO, _SMI_QUERY),
)
