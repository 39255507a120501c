"""Texts as tools print them, of invented hosts."""

from __future__ import annotations

LSMOD = """\
Module                  Size  Used by
nvidia_peermem         16384  0
nvidia              56713216  20 nvidia_uvm,nvidia_peermem
ib_core               466944  2 nvidia_peermem,mlx5_ib
"""

PROC_MODULES = (
    "nvidia_peermem 16384 0 - Live 0x0000000000000000 (OE)\nmlx5_ib 466944 0 - Live 0xffffffffc0a00000\n"
)

NOTES = """\
$ uname -r
5.15.0-99-generic
$ cat /proc/driver/nvidia/version
NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.11.22  Release Build  (root@build)
$ ls /sys/kernel/mm/memory_peers
ls: cannot access '/sys/kernel/mm/memory_peers': No such file or directory
$ cat /sys/module/nvidia_peermem/version
570.11.22
$ modinfo -F license nvidia
Dual MIT/GPL
$ env | grep NCCL
NCCL_DEBUG=INFO
$ sudo modprobe nvidia-peermem
modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument
ofed_info -s: MLNX_OFED_LINUX-23.10-9.9.9.9:
CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED = 0
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0)
/sys/kernel/iommu_groups/48/devices/0000:55:00.0
/sys/class/infiniband/mlx5_0/device ../../../0000:56:00.0
# ip -br link: ens6np0 UP mtu 9000, ens6np0.30@ens6np0 DOWN mtu 1500
With NCCL_NET_GDR_LEVEL=0 the job runs. Bare metal.
then ibv_reg_mr_iova2(pd, addr) failed: Cannot allocate memory
"""

DMESG = """\
[    0.000000] Linux version 6.8.0-55-generic (root@build) (gcc 13) #57 SMP
[    0.000000] Command line: BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro intel_iommu=on iommu=pt
[    0.000000] DMI: QEMU Standard PC (Q35 + ICH9, 2009), BIOS 1.16 04/01/2014
[    0.100000] Hypervisor detected: KVM
[    0.902114] DMAR: IOMMU enabled
[    2.911030] iommu: Default domain type: Passthrough (set via kernel command line)
[    3.000000] pci 0000:39:00.0: Adding to iommu group 35
[    4.000000] mlx5_core 0000:17:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:16:00.0 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)
[   31.447120] nvidia: module license 'NVIDIA' taints kernel.
[   31.902214] NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.1.2  Thu Oct 19 18:56:32 UTC 2023
[   36.551830] nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client
[   36.551836] nvidia_peermem: Unknown symbol ib_register_peer_memory_client (err -22)
[   40.000000] nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing
[   41.000000] nvidia-peermem nv_get_p2p_free_callback:127 ERROR detected invalid context, skipping further processing
[   42.000000] usb 1-1: new high-speed USB device
"""
