"""What a host lacks for real verbs."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.messages import _
from gdviz.nodes.discovery.obstacle import Obstacle
from gdviz.nodes.discovery.probe import Probe
from gdviz.quantities import format_size
from gdviz.rdma.hardware.backends.choose import reason

#: How the system's part of the verbs is installed.
INSTALL = {
    "debian": "apt install rdma-core ibverbs-providers",
    "rhel": "dnf install rdma-core libibverbs",
    "": "conda install -c conda-forge rdma-core",
}

#: How a kernel with soft-RoCE is installed where the running one has none.
KERNEL = {"debian": "apt install linux-image-amd64", "rhel": "dnf install kernel-modules-extra", "": ""}


def verbs_obstacles(probe: Probe) -> Iterator[Obstacle]:
    """Yield what is missing, in the order in which one meets it."""
    if probe.system != "linux":
        yield Obstacle("verbs", _("RDMA needs Linux, and this is {system}.").format(system=probe.system))
        return
    if not probe.rdma_devices:
        yield from _no_device(probe)
    else:
        yield from _device_files(probe)
        yield from _ports(probe)
    yield from _bindings(probe)
    if probe.memlock_bytes is not None:
        why = _("Only {size} may be locked: larger registrations fail with ENOMEM (12).").format(
            size=format_size(probe.memlock_bytes)
        )
        command = "echo '* - memlock unlimited' | sudo tee /etc/security/limits.d/rdma.conf"
        if probe.in_container:
            command = "docker run --ulimit memlock=-1 ..."
        yield Obstacle("verbs", why, command, blocks=False)


def as_root(probe: Probe, command: str) -> str:
    """Return a command as this user has to type it."""
    return command if probe.is_root or not command else f"sudo {command}"


def _no_device(probe: Probe) -> Iterator[Obstacle]:
    if probe.cards:
        why = _("The NIC at {busid} has no RDMA device: its driver's RDMA part is not loaded.").format(
            busid=probe.cards[0]
        )
        yield Obstacle("verbs", why, as_root(probe, "modprobe mlx5_ib"))
        return
    # What helps is a NIC, or what soft-RoCE's own entry says.
    yield Obstacle("verbs", _("There is no RDMA device in /sys/class/infiniband."))
    yield from _soft_roce(probe)


def _soft_roce(probe: Probe) -> Iterator[Obstacle]:
    """Offer soft-RoCE, the verbs over any network card."""
    if not probe.netdevs:
        yield Obstacle("soft-RoCE", _("There is no network interface that it could use."), blocks=False)
        return
    netdev = probe.netdevs[0]
    link = as_root(probe, f"rdma link add rxe0 type rxe netdev {netdev}")
    command = f"{as_root(probe, 'modprobe rdma_rxe')} && {link}"
    if probe.has_rxe is False and probe.in_container:
        why = _(
            "The host's kernel ({kernel}) has no soft-RoCE (module rdma_rxe), and a container cannot change "
            "that: a virtual machine with a kernel of its own can have it."
        ).format(kernel=probe.kernel)
        command = ""
    elif probe.has_rxe is False:
        why = _(
            "The running kernel ({kernel}) has no soft-RoCE (module rdma_rxe); those for clouds have none."
        ).format(kernel=probe.kernel)
        command = as_root(probe, KERNEL[probe.family])
    elif probe.in_container:
        why = _("Soft-RoCE is made by the host, not in a container: run this there, pass /dev/infiniband in.")
    elif not probe.may_change_kernel:
        why = _(
            "Soft-RoCE is made by who may load modules (CAP_SYS_MODULE) and set up networks (CAP_NET_ADMIN), "
            "which root may not here: run this on the host itself."
        )
    else:
        why = _("Without a NIC for RDMA the verbs run over {netdev}, in software.").format(netdev=netdev)
    yield Obstacle("soft-RoCE", why, command, blocks=False)


def _device_files(probe: Probe) -> Iterator[Obstacle]:
    if not probe.verbs_files:
        if probe.in_container:
            why = _("This container has not been given /dev/infiniband.")
            command = "docker run --device /dev/infiniband --ulimit memlock=-1 --cap-add IPC_LOCK ..."
        else:
            why = _("There is no /dev/infiniband: ib_uverbs is not loaded.")
            command = as_root(probe, "modprobe ib_uverbs")
        yield Obstacle("verbs", why, command)
    elif not probe.verbs_allowed:
        file = f"/dev/infiniband/{probe.verbs_files[0]}"
        why = _("This user may not open {file}.").format(file=file)
        yield Obstacle("verbs", why, as_root(probe, "chmod a+rw /dev/infiniband/uverbs*"))


def _ports(probe: Probe) -> Iterator[Obstacle]:
    down = [port for port in probe.ports if port.state != "ACTIVE"]
    for port in down:
        why = _("Port {number} of {device} is {state}, not ACTIVE.").format(
            number=port.number, device=port.device, state=port.state or "?"
        )
        yield Obstacle(
            "verbs", why, f"rdma link show {port.device}/{port.number}", len(down) == len(probe.ports)
        )


def _bindings(probe: Probe) -> Iterator[Obstacle]:
    usable = any(not each.error for each in probe.bindings)
    if not probe.libibverbs and not usable:
        yield Obstacle("verbs", _("libibverbs is not installed."), as_root(probe, INSTALL[probe.family]))
    for each in probe.bindings:
        # A binding that nobody has installed is no news where another can be used.
        if each.error and (each.version or each.wanted):
            command = f"pip uninstall {each.name}" if each.wanted else "pip install 'gdviz[rdma]'"
            yield Obstacle("verbs", f"{reason(each)}.", "" if usable and not each.wanted else command, False)
    if usable:
        return
    if probe.unseen_pyverbs:
        why = _("The distribution's pyverbs is in {folder}, where this Python does not look.").format(
            folder=probe.unseen_pyverbs
        )
        yield Obstacle("verbs", why, f"ln -s {probe.unseen_pyverbs} {probe.own_packages}/")
    else:
        why = _("No Python binding of libibverbs can be used.")
        yield Obstacle("verbs", why, "pip install 'gdviz[rdma]'")
