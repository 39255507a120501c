"""What a machine is called: DMI names, ``dmidecode``, EC2's instance type, device tree."""

from __future__ import annotations

from dataclasses import dataclass

KIND = "product"
TITLE = "product name (DMI)"


@dataclass(frozen=True, slots=True)
class Product:
    """A machine's make.

    Attributes
    ----------
    name
        Product name, such as ``DGXH100`` or ``g6e.24xlarge``.
    vendor
        Its maker; empty where the text does not say.
    line
        Line of the file, from 1.
    """

    name: str
    vendor: str
    line: int
