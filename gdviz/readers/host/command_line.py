"""The kernel's command line: ``/proc/cmdline``, GRUB's settings."""

from __future__ import annotations

from dataclasses import dataclass

KIND = "cmdline"
TITLE = "kernel command line"


@dataclass(frozen=True, slots=True)
class KernelCommandLine:
    """What the boot loader told the kernel.

    Attributes
    ----------
    arguments
        Word by word, such as ``iommu=pt``.
    line
        Line of the file, from 1.
    """

    arguments: tuple[str, ...]
    line: int

    def get(self, name: str) -> str | None:
        """Return the value of an argument (the last one counts), '' for a bare word, None if missing."""
        for argument in reversed(self.arguments):
            key, _, value = argument.partition("=")
            if key == name:
                return value
        return None
