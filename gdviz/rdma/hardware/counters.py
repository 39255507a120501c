"""What the kernel counts for a NIC's port, from sysfs: cheap to read, for everybody, and never waiting."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gdviz.clock import wall_seconds

SYSFS = Path("/sys/class/infiniband")

#: Counted in units of four bytes (InfiniBand specification, volume 1, 16.1.3.5).
_QUADS = frozenset({"port_xmit_data", "port_rcv_data"})


class PortCounters:
    """Counters of a port at one time.

    Attributes
    ----------
    time_s
        When they were read, by a monotonic clock.
    values
        By the kernel's names; ``port_xmit_data`` and ``port_rcv_data`` in bytes. Devices differ in what
        they have: soft-RoCE has hardware counters alone (``sent_pkts``, ``rcvd_pkts`` ...).
    """

    def __init__(self, time_s: float, values: Mapping[str, int]) -> None:
        self.time_s = time_s
        self.values = values

    @classmethod
    def read(cls, device: str, port: int = 1, *, sysfs: Path = SYSFS) -> PortCounters:
        """Read a port's counters; what cannot be read is left out.

        Parameters
        ----------
        device
            Its name, such as ``mlx5_0``.
        """
        values: dict[str, int] = {}
        for folder in ("counters", "hw_counters"):
            path = sysfs / device / "ports" / str(port) / folder
            try:
                files = sorted(path.iterdir())
            except OSError:
                continue
            for file in files:
                try:
                    number = int(file.read_text())
                except (OSError, ValueError):
                    continue  # counters that a device does not have fail with EINVAL; `lifespan` may be text
                values[file.name] = number * 4 if file.name in _QUADS else number
        return cls(wall_seconds(), values)

    def since(self, earlier: PortCounters) -> dict[str, int]:
        """Return what has been added since an earlier reading; a counter that was reset counts from zero."""
        grown = {}
        for name, now in self.values.items():
            before = earlier.values.get(name)
            if before is not None:
                grown[name] = now - before if now >= before else now
        return grown

    def rates(self, earlier: PortCounters) -> dict[str, float]:
        """Return the same a second."""
        seconds = max(self.time_s - earlier.time_s, 1e-9)
        return {name: grown / seconds for name, grown in self.since(earlier).items()}
