"""The kernel's configuration: ``/boot/config-*``, ``/proc/config.gz`` unpacked, or grepped lines of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

KIND = "kernel_config"
TITLE = "kernel configuration"


@dataclass(frozen=True, slots=True)
class ConfigOption:
    """An option of the kernel.

    Attributes
    ----------
    value
        ``y``, ``m``, a number or text; ``n`` for ``# ... is not set``.
    line
        Line of the file, from 1.
    """

    value: str
    line: int


@dataclass(frozen=True, slots=True)
class KernelConfig:
    """Options by name.

    Attributes
    ----------
    options
        Such as ``CONFIG_PCI_P2PDMA``.
    whole
        Whether it is a whole configuration (its heading is there), so that an option that is not there
        is not set.
    line
        Line on which it begins.
    """

    options: Mapping[str, ConfigOption]
    whole: bool
    line: int

    def get(self, name: str) -> ConfigOption | None:
        """Return an option, None where the file does not name it."""
        return self.options.get(name)
