"""NVIDIA's kernel driver, its version and whether it is the open one: ``/proc/driver/nvidia/version``."""

from __future__ import annotations

from dataclasses import dataclass

KIND = "nvidia_driver"
TITLE = "NVIDIA driver version"


@dataclass(frozen=True, slots=True)
class NvidiaDriver:
    """The driver that is loaded.

    Attributes
    ----------
    version
        Such as ``550.127.05``; empty where the text does not say.
    is_open
        Whether these are the open kernel modules; None where the text does not say.
    line
        Line of the file, from 1.
    """

    version: str
    is_open: bool | None
    line: int
