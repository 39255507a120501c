"""Small listings of our own, in the form in which lspci prints them."""

from __future__ import annotations

OFF = "SrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-"
REDIRECT = "SrcValid+ TransBlk- ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans-"
_EXPRESS = (
    "\tCapabilities: [60] Express (v2) {port}, MSI 00\n"
    "\t\tDevCap:\tMaxPayload 512 bytes, PhantFunc 0\n"
    "\t\tDevCtl:\tCorrErr+ NonFatalErr+ FatalErr+ UnsupReq-\n"
    "\t\t\tRlxdOrd+ ExtTag+ PhantFunc- AuxPwr- NoSnoop-\n"
    "\t\t\tMaxPayload 256 bytes, MaxReadReq 4096 bytes\n"
    "\t\tLnkCap:\tPort #0, Speed {cap}, ASPM not supported\n"
    "\t\tLnkSta:\tSpeed {sta}\n"
)
_WIDE = "32GT/s, Width x16"


def bridge(
    busid: str,
    buses: tuple[str, str, str],
    port: str,
    *,
    acs: str = OFF,
    numa: int = 0,
    cap: str = _WIDE,
    sta: str = _WIDE,
    maker: str = "Broadcom / LSI PEX890xx PCIe Gen 5 Switch",
) -> str:
    """Return a bridge's block."""
    first, second, last = buses
    return (
        f"{busid} PCI bridge: {maker} (rev b0) (prog-if 00 [Normal decode])\n"
        f"\tNUMA node: {numa}\n"
        "\tIOMMU group: 7\n"
        f"\tBus: primary={first}, secondary={second}, subordinate={last}, sec-latency=0\n"
        + _EXPRESS.format(port=port, cap=cap, sta=sta)
        + "\tCapabilities: [148 v1] Access Control Services\n"
        f"\t\tACSCap:\t{REDIRECT}\n"
        f"\t\tACSCtl:\t{acs}\n"
        "\tKernel driver in use: pcieport\n\n"
    )


def gpu(busid: str, *, numa: int = 0, cap: str = _WIDE, sta: str = _WIDE) -> str:
    """Return a GPU's block."""
    return (
        f"{busid} 3D controller: NVIDIA Corporation Device 2330 (rev a1)\n"
        f"\tNUMA node: {numa}\n"
        "\tRegion 0: Memory at 214042000000 (64-bit, prefetchable) [size=16M]\n"
        "\tRegion 2: Memory at 210000000000 (64-bit, prefetchable) [size=128G]\n"
        + _EXPRESS.format(port="Endpoint", cap=cap, sta=sta)
        + "\tKernel driver in use: nvidia\n\tKernel modules: nvidiafb, nvidia\n\n"
    )


def nic(busid: str, *, numa: int = 0, cap: str = _WIDE, sta: str = _WIDE, ats: str = "") -> str:
    """Return a NIC's block."""
    return (
        f"{busid} Infiniband controller: Mellanox Technologies MT2910 Family [ConnectX-7]\n"
        f"\tNUMA node: {numa}\n"
        + _EXPRESS.format(port="Endpoint", cap=cap, sta=sta)
        + (
            "\tCapabilities: [580 v1] Address Translation Service (ATS)\n"
            f"\t\tATSCap:\tInvalidate Queue Depth: 00\n\t\tATSCtl:\t{ats}, Smallest Translation Unit: 00\n"
            if ats
            else ""
        )
        + "\tKernel driver in use: mlx5_core\n\n"
    )


ROOT_A = bridge("15:01.0", ("15", "16", "1a"), "Root Port (Slot-)", maker="Intel Corporation Device 352a")
UP_A = bridge("16:00.0", ("16", "17", "1a"), "Upstream Port")
DOWN_GPU = bridge("17:01.0", ("17", "18", "18"), "Downstream Port (Slot+)", acs=REDIRECT)
DOWN_NIC = bridge("17:02.0", ("17", "19", "19"), "Downstream Port (Slot+)", acs=REDIRECT)
ROOT_B = bridge("37:01.0", ("37", "38", "38"), "Root Port (Slot-)", maker="Intel Corporation Device 352a")
ROOT_C = bridge(
    "97:01.0", ("97", "98", "98"), "Root Port (Slot-)", numa=1, maker="Intel Corporation Device 352a"
)

#: A switch with a GPU and a NIC, a NIC on another root bus of the node, one on the other node.
SERVER = (
    ROOT_A
    + UP_A
    + DOWN_GPU
    + DOWN_NIC
    + gpu("18:00.0")
    + nic("19:00.0")
    + ROOT_B
    + nic("38:00.0")
    + ROOT_C
    + nic("98:00.0", numa=1)
)

TREE = r"""-+-[0000:97]---01.0-[98]----00.0  Mellanox Technologies MT2910 Family [ConnectX-7]
 +-[0000:15]-+-00.0  Intel Corporation Device 09a2
 |           +-01.0-[16-1a]----00.0-[17-1a]--+-01.0-[18]----00.0  NVIDIA Corporation Device 2330
 |           |                               \-02.0-[19]--+-00.0  Mellanox Technologies [ConnectX-7]
 |           |                                            \-00.1  Mellanox Technologies [ConnectX-7]
 |           \-02.0-[1b]--
 \-[0000:00]-+-00.0  Intel Corporation Device 09a2
             \-1f.0  Intel Corporation Device 1b81
"""
