"""The first line of a function: bus id, class, vendor and device, in every way that lspci prints it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gdviz.machine import normal_bus_id
from gdviz.readers.lspci.names import class_of, unnamed_device, vendor_of

_BUS = r"(?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]"
#: ``lspci -PP`` prints the way down: ``15:01.0/16:00.0/17:01.0/19:00.0``.
_HEAD = re.compile(rf"^[\s>]{{0,12}}(?P<path>(?:{_BUS}/){{0,32}})(?P<busid>{_BUS}) +(?P<rest>\S.*)$")
_NUMBERS = re.compile(
    r"^(?:Class )?(?P<code>[0-9a-f]{4}): (?:Device )?(?P<vendor>[0-9a-f]{4}):(?P<device>[0-9a-f]{4})(?: |$)"
)
_WORDS = re.compile(r"^(?P<class>[A-Z0-9][\w ,/.()-]{2,80}?)(?: \[(?P<code>[0-9a-f]{4})\])?: *(?P<name>.*)$")
_QUOTED = re.compile(r'^"(?P<class>[^"]*)" "(?P<vendor>[^"]*)" "(?P<device>[^"]*)"')
_IDS = re.compile(r"\[([0-9a-f]{4}):([0-9a-f]{4})\]")
_CODE = re.compile(r" ?\[([0-9a-f]{4})\]$")
_TAIL = re.compile(r" \((?:rev [0-9a-f]{2}|prog-if [^()]{0,80})\)")

#: Whether a text has such a line; a class must follow the bus id.
FIRST_LINE = re.compile(
    rf"^[ \t>]{{0,12}}(?:{_BUS}/){{0,32}}{_BUS} +"
    r"(?:[A-Z0-9][\w ,/.()-]{2,80}?(?: \[[0-9a-f]{4}\])?: *\S"
    r"|(?:Class )?[0-9a-f]{4}: (?:Device )?[0-9a-f]{4}:[0-9a-f]{4}"
    r'|"[^"\n]{2,100}" "[^"\n]{2,200}" ")',
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Head:
    """What the first line of a function says."""

    busid: str
    above: str
    class_code: int | None
    class_name: str
    vendor: int | None
    device: int | None
    name: str


def read_head(line: str) -> Head | None:
    """Return what a line says if it is the first of a function, else None.

    Examples
    --------
    >>> head = read_head("06:00.0 3D controller [0302]: NVIDIA Corporation [A10] [10de:2236] (rev a1)")
    >>> (head.busid, head.class_name, hex(head.device or 0)) if head else None
    ('0000:06:00.0', '3D controller', '0x2236')
    """
    if "." not in line[:140] or ":" not in line[:140]:
        return None
    match = _HEAD.match(line)
    if match is None:
        return None
    busid = normal_bus_id(match["busid"])
    if busid is None:
        return None
    path = match["path"].rstrip("/").rpartition("/")[2]
    above = (normal_bus_id(path) or "") if path else ""
    rest = match["rest"]
    if found := _NUMBERS.match(rest):
        vendor, device = int(found["vendor"], 16), int(found["device"], 16)
        return Head(busid, above, int(found["code"], 16), "", vendor, device, "")
    if found := _QUOTED.match(rest):
        return _quoted(busid, above, found)
    if found := _WORDS.match(rest):
        return _worded(busid, above, found["class"], found["code"], found["name"])
    return None


def _worded(busid: str, above: str, class_name: str, code: str | None, text: str) -> Head:
    name = _TAIL.sub("", text).strip()
    ids = _IDS.findall(name)
    if ids:
        vendor, device = (int(number, 16) for number in ids[-1])
        name = name[: name.rindex("[")].strip()
    else:
        vendor, device = None, None
    return Head(
        busid,
        above,
        int(code, 16) if code else class_of(class_name),
        class_name,
        vendor if vendor is not None else vendor_of(name),
        device if device is not None else unnamed_device(name),
        name,
    )


def _quoted(busid: str, above: str, found: re.Match[str]) -> Head:
    """``lspci -m``: class, vendor and device in quotes, with -nn each with its number."""
    codes = [_CODE.search(found[key]) for key in ("class", "vendor", "device")]
    numbers = [int(code[1], 16) if code else None for code in codes]
    plain = [_CODE.sub("", found[key]) for key in ("class", "vendor", "device")]
    name = f"{plain[1]} {plain[2]}"
    return Head(
        busid,
        above,
        class_of(plain[0]) if numbers[0] is None else numbers[0],
        plain[0],
        vendor_of(name) if numbers[1] is None else numbers[1],
        unnamed_device(name) if numbers[2] is None else numbers[2],
        name,
    )
