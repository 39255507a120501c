"""What ``lspci`` says, function by function; every datum with its line."""

from __future__ import annotations

from dataclasses import dataclass

from gdviz.machine import PcieLink, PciIds

#: PCI base classes and classes (the upper byte, or the upper two).
DISPLAY, NETWORK, ACCELERATOR = 0x03, 0x02, 0x12
BRIDGE_CLASS, INFINIBAND_CLASS = 0x0604, 0x0207
#: InfiniBand adapters before class 0207 was given.
OLD_INFINIBAND_CLASS = 0x0C06


@dataclass(frozen=True, slots=True)
class AcsControl:
    """Access Control Services of a function: ``ACSCtl`` (in force) or ``ACSCap`` (possible).

    Attributes
    ----------
    src_valid, trans_blk
        Source validation and translation blocking; they redirect nothing.
    req_redir, cmplt_redir
        Peer-to-peer requests and completions go up to the root complex.
    upstream_fwd, egress_ctrl, direct_trans
        Upstream forwarding, egress control vector, and direct translated peer-to-peer.
    line
        Where it stands, from 1.
    """

    src_valid: bool
    trans_blk: bool
    req_redir: bool
    cmplt_redir: bool
    upstream_fwd: bool
    egress_ctrl: bool
    direct_trans: bool
    line: int

    @property
    def redirects(self) -> bool:
        """Whether it sends peer-to-peer traffic up to the root complex."""
        return self.req_redir or self.cmplt_redir

    @property
    def mask(self) -> int:
        """The bits as the register has them: source validation is bit 0, direct translation bit 6."""
        bits = (
            *(self.src_valid, self.trans_blk, self.req_redir, self.cmplt_redir),
            *(self.upstream_fwd, self.egress_ctrl, self.direct_trans),
        )
        return sum(1 << position for position, bit in enumerate(bits) if bit)


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """``LnkCap`` and ``LnkSta`` of one function.

    Attributes
    ----------
    link
        As trained; its ``max_`` values are what this end alone can do.
    speed_downgraded, width_downgraded
        Whether lspci prints 'downgraded' behind them: below what *this* end can, which is no fault where
        the other end cannot more.
    line, cap_line
        Of ``LnkSta`` and of ``LnkCap``; None where it is not there.
    """

    link: PcieLink = PcieLink()
    speed_downgraded: bool = False
    width_downgraded: bool = False
    line: int | None = None
    cap_line: int | None = None

    @property
    def downgraded(self) -> bool:
        """Whether lspci prints 'downgraded' for this end."""
        return self.speed_downgraded or self.width_downgraded


@dataclass(frozen=True, slots=True)
class Bar:
    """A memory window of a function; `size_bytes` is None where lspci does not print it."""

    region: int
    size_bytes: int | None
    prefetchable: bool
    line: int


@dataclass(frozen=True, slots=True)
class PciFunction:
    """One PCI function as lspci lists it; None is what it does not say.

    Attributes
    ----------
    busid
        In its normal spelling, ``0000:1b:00.0``.
    class_code
        Class and subclass (0x0302 for a 3D controller), from ``-nn``, or from the class's name.
    class_name
        As printed; empty with ``-n``.
    vendor, device, subsystem_vendor, subsystem_device
        PCI ids.
    name
        Vendor and device as printed.
    line
        Of the function's head, from 1.
    mps_bytes, mrrs_bytes
        Largest payload and read request in force, with their line `devctl_line`.
    relaxed_ordering
        ``RlxdOrd`` of ``DevCtl``, on `devctl_line` or the line after.
    acs, acs_capability
        ``ACSCtl`` and ``ACSCap``.
    ats
        ``Enable`` of ``ATSCtl``; `ats_capable` where the capability is named at all.
    port_type
        ``Root Port``, ``Upstream Port``, ``Downstream Port``, ``Endpoint`` ...
    primary, secondary, subordinate
        Buses of a bridge.
    denied_line
        Line of ``<access denied>``: without root lspci shows no capabilities.
    above
        Bus id of the bridge above it, where the text itself says so (``-PP``, ``-t``).
    """

    busid: str
    line: int
    class_code: int | None = None
    class_name: str = ""
    vendor: int | None = None
    device: int | None = None
    subsystem_vendor: int | None = None
    subsystem_device: int | None = None
    name: str = ""
    link: LinkFacts = LinkFacts()
    mps_bytes: int | None = None
    mrrs_bytes: int | None = None
    relaxed_ordering: bool | None = None
    relaxed_ordering_line: int | None = None
    devctl_line: int | None = None
    acs: AcsControl | None = None
    acs_capability: AcsControl | None = None
    ats: bool | None = None
    ats_capable: bool | None = None
    ats_line: int | None = None
    iommu_group: int | None = None
    iommu_group_line: int | None = None
    numa: int | None = None
    driver: str = ""
    driver_line: int | None = None
    modules: tuple[str, ...] = ()
    bars: tuple[Bar, ...] = ()
    port_type: str = ""
    primary: int | None = None
    secondary: int | None = None
    subordinate: int | None = None
    bus_line: int | None = None
    physical_slot: str = ""
    serial: str = ""
    above: str = ""
    denied_line: int | None = None

    @property
    def acs_capable(self) -> bool | None:
        """Whether the function has the ACS capability; None where lspci could not look."""
        if self.acs is not None or self.acs_capability is not None:
            return True
        return False if self.link.line is not None else None

    @property
    def pci(self) -> PciIds:
        """The four ids."""
        return PciIds(self.vendor, self.device, self.subsystem_vendor, self.subsystem_device)

    @property
    def is_bridge(self) -> bool:
        """Whether it is a PCI-to-PCI bridge: a root port or a port of a switch."""
        return self.class_code == BRIDGE_CLASS or (self.class_code is None and self.secondary is not None)


@dataclass(frozen=True, slots=True)
class Hint:
    """A device of a hypervisor or a cloud.

    Attributes
    ----------
    name
        ``KVM/QEMU``, ``VMware``, ``Hyper-V``, ``Xen``, ``Amazon EC2``, ``Google Cloud``.
    proof
        Whether only virtual machines have it; a cloud's bare-metal machines have the cloud's devices too.
    """

    name: str
    line: int
    proof: bool = True


@dataclass(frozen=True, slots=True)
class PciListing:
    """All that one ``lspci`` says.

    Attributes
    ----------
    functions
        In the order of the text; a bus id occurs once (what a second block says of it is merged).
    hypervisor
        Devices that hypervisors and clouds make, one line for each of these.
    loose_acs
        ``ACSCtl`` lines of which no function is known: the text went through grep.
    verbose
        Whether capabilities were printed for at least one function (``-vv`` with root).
    denied
        Whether lspci says ``<access denied>``.
    tree
        Whether the text is (or holds) the tree of ``lspci -t``.
    """

    functions: tuple[PciFunction, ...] = ()
    hypervisor: tuple[Hint, ...] = ()
    loose_acs: tuple[AcsControl, ...] = ()
    verbose: bool = False
    denied: bool = False
    tree: bool = False

    @property
    def shows_places(self) -> bool:
        """Whether the text tells where functions are: buses of bridges, a tree, or one flat bus.

        ``lspci -nn`` and listings without ``-v`` do not; then nothing is known of distances.
        """
        if any(function.secondary or function.above for function in self.functions):
            return True
        return all(function.busid[5:7] == "00" for function in self.functions)

    @property
    def bridges(self) -> tuple[PciFunction, ...]:
        """PCI-to-PCI bridges: root ports and every port of every switch."""
        return tuple(function for function in self.functions if function.is_bridge)

    def function(self, busid: str) -> PciFunction | None:
        """Return the function of a bus id in its normal spelling, None if there is none."""
        return next((found for found in self.functions if found.busid == busid), None)
