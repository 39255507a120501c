"""The model's constants: each with its unit and where it comes from.

A figure measured elsewhere is a default, not a law: `dataclasses.replace(DEFAULTS, ...)` makes another
machine room. `FITTED` names those that were chosen so that a published table comes out; a comparison
with that table then shows a fit, and not a prediction. "Unverified" marks a usual figure whose source has
not been read for this model; "assumed" one that has no source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Constants:
    """Constants of the performance model. Seconds, bytes and bytes per second.

    Attributes
    ----------
    mps_bytes
        Largest payload of one PCIe packet (MPS). 256 B is what current servers set.
    mrrs_bytes
        Largest PCIe read request (MRRS). 512 B is the default of ConnectX and of the PCIe specification.
    read_tags
        Read requests that a device has under way. 256: the 8-bit tags of the PCIe specification.
    pcie_link_s
        One way over one PCIe link, both ends' logic. 50 ns: a round trip to host memory then takes the
        350 ns that UCX 1.22 ships for fetching a work queue entry.
    pcie_switch_s
        Through a PCIe switch. 105 ns, usual for Gen4 and Gen5 switches; unverified.
    root_complex_s
        Through a CPU's root complex. 50 ns, see `pcie_link_s`.
    socket_s
        From one CPU socket to another. 150 ns, about what remote memory adds on two-socket servers;
        unverified.
    host_memory_s
        Access of host memory from the root complex. 90 ns, idle DRAM latency; unverified.
    gpu_memory_s
        Access of GPU memory from its PCIe port. 700 ns: GDRCopy's README reads 1 B of a V100 through
        the BAR in 0.907 us, of which the link and the root complex take 200 ns.
    nic_fetch_s
        What the NIC itself adds to a work queue entry's fetch. 60 ns, see `pcie_link_s`.
    host_memory_share
        Share of host memory's nominal bandwidth that streaming reaches. 0.8; assumed.
    host_memory_bytes_per_s
        Nominal bandwidth of a socket of unknown make. Six channels of DDR4-2666.
    nic_port_s
        Both NICs' logic and serialisers, one way. 400 ns: UCX 1.22 ships 600 ns a port, of which the
        delivery over PCIe (reckoned apart here) takes about 200 ns (an assumed split).
    ib_switch_s, ethernet_switch_s
        Through one switch. 130 ns (NDR) and 300 ns (secondary sources give 100 to 500 ns).
    cable_s_per_m
        Light in fibre or copper: 5 ns a metre.
    nic_bytes_per_s
        Port speed of a NIC of which neither the speed nor the model nor the link is known. 100 Gb/s, as
        NCCL assumes (12 GB/s usable).
    post_s
        CPU time to post and to poll one message of a batch. 51 ns: UCX 1.22 ships 65 ns for a doorbell
        (40), a completion (20) and a descriptor (5), unbatched.
    program_s
        Time that the posting program adds to one call of post and poll, shared by a batch. 0.1 us, a C
        program such as perftest (assumed).
    python_program_s
        The same of a program in Python, to put in `program_s`'s place. 1.25 us: published latencies that
        were measured from Python, less what all other stages take, whose errors it takes up too.
    batch
        Messages posted and polled in one call at most.
    qp_message_s
        A queue pair's own time for one message. 139 ns: 7.2 million messages a second from one queue
        pair (perftest over 100 Gb/s, 2 B to 1 KiB).
    qp_switch_s
        The NIC's change from one queue pair to another. 10 ns: of 4 and 16 KiB messages from 16 queue
        pairs each takes 10 to 13 ns longer than its bytes.
    nic_message_s
        A NIC's own time for one message. 3 ns, 330 million a second for ConnectX-7; unverified.
    first_burst_bytes
        What a NIC sends on an idle queue pair before it waits for a first acknowledgement. Published
        latencies rise by about 2 us between 64 KiB and 256 KiB, once, whatever the size above; that a wait
        for an acknowledgement causes it is inferred, and 128 KiB is chosen between the two sizes.
    nic_buffer_bytes
        What a NIC reads ahead of the wire. 128 KiB; assumed.
    vf_message_s, vf_gap_s, vf_latency_s
        A virtual function's own time for one message, 352 ns (2.84 million messages a second), and how
        long its port stays silent between two messages, once for each direction that a message uses
        (a WRITE one, a READ two): 115 ns. Both read off an HDR port behind an SR-IOV virtual function
        (perftest in AKS); that a scheduler takes that time is inferred. What a message is late each way,
        1.3 us, is read off the latencies of the same setup, and may be the virtual machine's.
    read_depth
        RDMA reads that a queue pair has under way. 16: max_qp_rd_atom of mlx5 devices; unverified.
    relaxed_ordering
        Whether the NIC may reorder its PCIe writes (IBV_ACCESS_RELAXED_ORDERING). perftest's default.
    peer_read_bytes_per_s, peer_write_bytes_per_s
        What the CPU's root complex lets through between GPU and NIC, where it has been measured here; None:
        the ceilings of `gdviz.model.peer` for its make.
    cqe_bytes, wqe_bytes
        Completion and work queue entries: 64 B each on mlx5; unverified.
    poll_s
        CPU time to see a completion. 20 ns, as UCX ships.
    inline_bytes
        Messages of host memory up to this size travel inside the work queue entry (IBV_SEND_INLINE), so
        that the NIC need not fetch them. 0, off.
    blueflame
        Whether the work queue entry of a message that is posted alone goes to the NIC with the doorbell, so
        that it need not be fetched. Off, the plain way of posting; mlx5's libraries do it where the CPU can
        combine writes, which makes a small message about 0.5 us quicker.
    ecrc
        Whether PCIe packets end in an end-to-end checksum of 4 B (ECRC). Off, as systems ship.
    copy_launch_s, copy_start_s, copy_wait_s
        A cudaMemcpyAsync call, the copy engine's start, and the CPU's waiting for its end. 6.5 us in all:
        GDRCopy's README gives 6 to 7 us for a small cudaMemcpy; the split among the three is assumed.
    chunk_bytes, bounce_buffers
        A staged message goes in chunks through so many bounce buffers. 512 KiB and 8: NCCL's default
        buffer of 4 MiB in 8 steps; unverified.
    memcpy_bytes_per_s
        One core's copy inside host memory. 12 GB/s, usual with large blocks; unverified.
    gdrcopy_bytes
        Staged messages up to this size are copied by the CPU through the GPU's BAR (GDRCopy) and not by
        its copy engine. 0, off; MVAPICH2-GDR switches at 8 KiB.
    gdrcopy_write_s, gdrcopy_write_bytes_per_s, gdrcopy_read_s, gdrcopy_read_bytes_per_s
        Start and bandwidth of a CPU's copy to and from GPU memory through the BAR. GDRCopy's README (V100):
        1 B in 0.0889 us and 16 MiB in 1661 us to the GPU; 1 B in 0.907 us and 1 MiB in 1970.7 us from it.
    socket_packet_s
        CPU time of the kernel's TCP stack for one packet. 0.9 us: 3.15 GB/s of NCCL's socket transport over
        IPoIB (AKS), with one copy to the user and packets of `socket_mtu_bytes`.
    socket_mtu_bytes
        Bytes of a TCP packet. 4092 - 52: the IPoIB MTU of a 4 KiB link less IP and TCP headers.
    notice_s
        CPU time to notice at the far end that data have come, and to act. 0.3 us: a poll of a flag in
        memory and a branch, assumed.
    cpu_sigma
        Spread (of the logarithm) of CPU work's duration. 0.2: p99 is then 1.6 times the median.
    interrupt_hz, interrupt_s
        Interrupts of a busy core, and how long one takes on average. 1000 Hz timer tick, 4 us; assumed.
    preempt_hz, preempt_s
        Preemptions of a busy core by other threads. 10 a second, 50 us on average; assumed.
    hardware_jitter_s
        Average delay that arbitration in hardware adds to a message. 15 ns; assumed.
    """

    mps_bytes: int = 256
    mrrs_bytes: int = 512
    read_tags: int = 256
    pcie_link_s: float = 50e-9
    pcie_switch_s: float = 105e-9
    root_complex_s: float = 50e-9
    socket_s: float = 150e-9
    host_memory_s: float = 90e-9
    gpu_memory_s: float = 700e-9
    nic_fetch_s: float = 60e-9
    host_memory_share: float = 0.8
    host_memory_bytes_per_s: float = 6 * 8 * 2666e6
    nic_port_s: float = 400e-9
    ib_switch_s: float = 130e-9
    ethernet_switch_s: float = 300e-9
    cable_s_per_m: float = 5e-9
    nic_bytes_per_s: float = 12.5e9
    post_s: float = 51e-9
    program_s: float = 0.1e-6
    python_program_s: float = 1.25e-6
    batch: int = 64
    qp_message_s: float = 139e-9
    qp_switch_s: float = 10e-9
    nic_message_s: float = 3e-9
    first_burst_bytes: int = 128 * 1024
    nic_buffer_bytes: int = 128 * 1024
    vf_message_s: float = 352e-9
    vf_gap_s: float = 115e-9
    vf_latency_s: float = 1.3e-6
    read_depth: int = 16
    relaxed_ordering: bool = True
    peer_read_bytes_per_s: float | None = None
    peer_write_bytes_per_s: float | None = None
    cqe_bytes: int = 64
    wqe_bytes: int = 64
    poll_s: float = 20e-9
    inline_bytes: int = 0
    blueflame: bool = False
    ecrc: bool = False
    copy_launch_s: float = 2.5e-6
    copy_start_s: float = 1.5e-6
    copy_wait_s: float = 2.5e-6
    chunk_bytes: int = 512 * 1024
    bounce_buffers: int = 8
    memcpy_bytes_per_s: float = 12e9
    gdrcopy_bytes: int = 0
    gdrcopy_write_s: float = 0.0889e-6
    gdrcopy_write_bytes_per_s: float = 16 * 2**20 / 1661e-6
    gdrcopy_read_s: float = 0.907e-6
    gdrcopy_read_bytes_per_s: float = 2**20 / 1970.7e-6
    socket_packet_s: float = 0.9e-6
    socket_mtu_bytes: int = 4092 - 52
    notice_s: float = 0.3e-6
    cpu_sigma: float = 0.2
    interrupt_hz: float = 1000.0
    interrupt_s: float = 4e-6
    preempt_hz: float = 10.0
    preempt_s: float = 50e-6
    hardware_jitter_s: float = 15e-9


DEFAULTS = Constants()

_H100 = "H100 + ConnectX-7 400G, PIX, RC WRITE, rdma4py ibverbs/BENCHMARKS.md"
_A30 = "A30 + ConnectX-6 at SYS, perftest #241 and ucx #9212"
_EPYC = "EPYC 7452 + V100, StackOverflow 59277346"
_VF = "HDR InfiniBand through a virtual function, AKS, aks-rdma-infiniband"
_STRICT = "relaxed ordering off, ucx PR #8062 (AMD) and PR #10955 (Emerald Rapids)"
_GDRCOPY = "gdrcopy_copylat on a V100, GDRCopy README"
_SOCKETS = "NCCL AllReduce over IPoIB, aks-rdma-infiniband"
_100G = "GPUDirect over 100GbE, MTU 1024, cloud-native-docs gpu-operator-rdma.rst"

#: Constants that were chosen so that a table comes out, and that table. A name with a dot is a ceiling of
#: `gdviz.model.peer` that is the measured figure itself.
FITTED: Mapping[str, str] = MappingProxyType(
    {
        "post_s": _H100,
        "python_program_s": _H100,
        "qp_switch_s": _H100,
        "first_burst_bytes": _H100,
        "cpu_sigma": _H100,
        "qp_message_s": _100G,
        "vf_message_s": _VF,
        "vf_gap_s": _VF,
        "vf_latency_s": _VF,
        "socket_packet_s": _SOCKETS,
        "peer.skylake_across": _A30,
        "peer.zen_2_read": _EPYC,
        "peer.strict_write": _STRICT,
        "peer.zen_3_read": "180 Gb/s on Threadripper PRO, open-gpu-kernel-modules #1253",
        "peer.broadwell_write": "E5-2650 v4 + P40, forums.developer.nvidia.com 55564",
        "peer.power_9": "39 Gb/s on AC922, nv_peer_memory #66",
        "gdrcopy_write_s": _GDRCOPY,
        "gdrcopy_write_bytes_per_s": _GDRCOPY,
        "gdrcopy_read_s": _GDRCOPY,
        "gdrcopy_read_bytes_per_s": _GDRCOPY,
    }
)
