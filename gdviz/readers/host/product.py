"""What a machine is called: DMI names, ``dmidecode``, EC2's instance type, device tree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import has_any, lines_with, open_lines, short_lines, transcript

KIND = "product"
TITLE = "product name (DMI)"

_NAME = re.compile(
    r"^\s*(?:(?:product name|hardware model|system model):|product_name=)\s*(?P<value>\S.*)$"
    r"|^(?:\S*/)?(?:sys/class/dmi/id|sys/devices/virtual/dmi/id)/product_name\s*:\s*(?P<path>\S.*)$",
    re.IGNORECASE,
)
_VENDOR = re.compile(
    r"^\s*(?:(?:manufacturer|hardware vendor|system vendor):|sys_vendor=)\s*(?P<value>\S.*)$"
    r"|^(?:\S*/)?(?:sys/class/dmi/id|sys/devices/virtual/dmi/id)/sys_vendor\s*:\s*(?P<path>\S.*)$",
    re.IGNORECASE,
)
_TYPE = re.compile(
    r"(?:instance|machine|vm)[ _-]?(?:type|size)[\"']?\s*[:=]\s*[\"']?(?P<value>[A-Za-z][\w.-]{2,60})",
    re.IGNORECASE,
)
_EC2 = re.compile(
    r"(?<![\w.-])(?P<value>[a-z]{1,4}\d[a-z0-9-]{0,8}\.(?:\d{0,3}x?large|metal(?:-\d+xl)?))(?![\w-])"
)
_DMI = re.compile(r"\bDMI: (?P<value>\S.{0,200}?)(?:, BIOS |$)")
_ASKED_NAME = re.compile(r"system-product-name|dmi/id/product_name|device-tree/model")
_ASKED_VENDOR = re.compile(r"system-manufacturer|dmi/id/sys_vendor")
_ASKED_TYPE = re.compile(r"meta-data/instance-type|machine-type|vmSize")
_WORDS = (
    *("roduct Name", "roduct name", "roduct_name", "ardware Model", "ystem Model", "ystem model"),
    *(
        "nstance-type",
        "nstance type",
        "nstance Type",
        "nstance_type",
        "nstanceType",
        "achine type",
        "achine-type",
    ),
    *("vmSize", "VM size", "vm size", "DMI: ", "device-tree/model", "system-product", "large", "metal"),
)
_VENDOR_WORDS = ("anufacturer", "endor")


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


def looks_like(text: str) -> bool:
    """Return whether a line names the machine's make."""
    return has_any(text, _WORDS) and _find(short_lines(text)) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read the machine's make.

    Parameters
    ----------
    data
        The file's content.
    name
        Not used.
    source
        Where it was read.
    """
    lines, odd = open_lines(data)
    return Reading(KIND, source, facts=_find(lines), notices=odd, lines=lines)


def _find(lines: Sequence[str]) -> Product | None:
    name, vendor, line = "", "", 0
    typed: Product | None = None
    for place in lines_with(lines, (*_WORDS, *_VENDOR_WORDS)):
        number, text = place + 1, lines[place]
        # lspci shows what an adapter's maker has written into it in the same words.
        if len(text) > 400 or "Vital Product Data" in lines[max(0, place - 1)]:
            continue
        if not name and (match := _NAME.match(text) or _DMI.search(text)):
            parts = match.groupdict()
            name, line = (parts["value"] or parts.get("path") or "").strip(), number
        elif not vendor and (match := _VENDOR.match(text)):
            vendor = (match["value"] or match["path"]).strip()
        elif typed is None and (match := _TYPE.search(text) or _EC2.search(text)):
            typed = Product(match["value"], "", number)
    for answer in transcript(lines):
        if not answer.command or not answer.first or "No such file" in answer.first[1]:
            continue
        number, text = answer.first
        if not name and _ASKED_NAME.search(answer.command):
            name, line = text.strip(), number
        elif not vendor and _ASKED_VENDOR.search(answer.command):
            vendor = text.strip()
        elif typed is None and _ASKED_TYPE.search(answer.command):
            typed = Product(text.strip()[:100], "", number)
    # A cloud's own name for the machine says more than what its firmware was given.
    return typed or (Product(name[:200], vendor[:200], line) if name else None)
