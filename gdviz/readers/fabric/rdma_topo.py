"""``rdma_topo``: its check, its JSON of NICs with GPUs beside them, its dump of ACS."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

from gdviz.machine import normal_bus_id
from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import open_lines

KIND = "rdma_topo"
TITLE = "rdma_topo"

_BDF = r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]"
_LINE = re.compile(r"^\s*(?:\x1b\[[\d;]*m)?(?P<result>FAIL|OK)(?:\x1b\[[\d;]*m)?\s+(?P<text>\S.*)$")
_CHECK = re.compile(
    rf"(?m)^\s*(?:\x1b\[[\d;]*m)?(?:FAIL|OK)\S{{0,6}}\s+.*(?:\bACS\b.*{_BDF}|iommu_group"
    rf"|ConnectX DMA|\bATS\b.*{_BDF}|PCI topology)"
)
_PAIR = re.compile(
    rf"(?m)^\s*RDMA NIC=(?P<nic>{_BDF}),\s*GPU=(?P<gpu>{_BDF})(?:,\s*RDMA DMA Function=(?P<dma>{_BDF}))?"
)
_ACS = re.compile(
    rf"\bACS for (?P<role>\w+) {_BDF}\D.*?(?P<actual>\b[01]{{7}}\b)(?:.*?[!=]= ?|.*? = )"
    rf"(?P<wanted>[01x]{{7}})"
)
_ROLE = re.compile(rf"\b(?P<role>[a-z]\w*_(?:rp|switch|nic|dma)|nvgpu)\s+{_BDF}")
_ANY = re.compile(_BDF)
_NUMA = re.compile(r"^\s+NUMA Node: (?P<numa>\d{1,5})")
_NAME = re.compile(r"^\s+(?:RDMA device|infiniband)s?: (?P<names>\S.*)$")

#: Key of ``rdma_topo topo -j`` by which its objects are known.
_JSON_KEY = '"rdma_nic_pf_bdf"'


@dataclass(frozen=True, slots=True)
class TopoCheck:
    """A line of ``rdma_topo check``.

    Attributes
    ----------
    ok
        False for ``FAIL``.
    subject
        ``acs``, ``iommu-group``, ``ats`` or ``other``.
    role
        What the function is there (``grace_rp``, ``cx_switch``); empty where not told.
    busids
        The functions named, in their normal spelling.
    actual, wanted
        The masks of an ACS line as printed, such as ``0011101`` and ``xx110x1``.
    text
        The line.
    """

    ok: bool
    subject: str
    role: str
    busids: tuple[str, ...]
    actual: str
    wanted: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class TopoPair:
    """A NIC with a GPU that shares its switch; names and bus ids empty where not told."""

    nic_busid: str
    nic_name: str
    gpu_busid: str
    line: int
    data_direct_busid: str = ""
    numa: int = -1


@dataclass(frozen=True, slots=True)
class RdmaTopo:
    """What ``rdma_topo`` printed.

    Attributes
    ----------
    checks
        Lines of a check.
    pairs
        NICs with their GPUs, of JSON or the listing.
    """

    checks: tuple[TopoCheck, ...] = ()
    pairs: tuple[TopoPair, ...] = ()

    @property
    def failures(self) -> tuple[TopoCheck, ...]:
        """What failed."""
        return tuple(check for check in self.checks if not check.ok)


def looks_like(text: str) -> bool:
    """Return whether lines of a check, the listing of NICs with their GPUs, or its JSON are there."""
    if _JSON_KEY in text and text.lstrip("\ufeff \t\r\n").startswith(("[", "{")):
        return True
    return ("FAIL" in text or "OK" in text or "RDMA NIC=" in text) and (
        _CHECK.search(text) is not None or _PAIR.search(text) is not None
    )


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read a check, the listing or its JSON.

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
    text = "\n".join(lines)
    if _JSON_KEY in text:
        pairs, torn = _from_json(text)
        facts = RdmaTopo(pairs=pairs)
        return Reading(KIND, source, facts=facts, notices=odd, truncated=torn, lines=lines)
    checks: list[TopoCheck] = []
    listed: list[TopoPair] = []
    for number, line in enumerate(lines, 1):
        if match := _PAIR.match(line):
            listed.append(
                TopoPair(_busid(match["nic"]), "", _busid(match["gpu"]), number, _busid(match["dma"]))
            )
        elif listed and (match := _NUMA.match(line)):
            listed[-1] = replace(listed[-1], numa=int(match["numa"]))
        elif listed and (match := _NAME.match(line)):
            listed[-1] = replace(listed[-1], nic_name=match["names"].split(",")[0].strip())
        elif (match := _LINE.match(line)) and _CHECK.match(line):
            checks.append(_check(match, number))
    return Reading(KIND, source, facts=RdmaTopo(tuple(checks), tuple(listed)), notices=odd, lines=lines)


def _check(match: re.Match[str], line: int) -> TopoCheck:
    text = match["text"]
    acs, role = _ACS.search(text), _ROLE.search(text)
    subject = "other"
    if "iommu_group" in text:
        subject = "iommu-group"
    elif re.search(r"\bACS\b", text):
        subject = "acs"
    elif re.search(r"\bATS\b", text):
        subject = "ats"
    busids = tuple(dict.fromkeys(_busid(found) for found in _ANY.findall(text)))
    return TopoCheck(
        match["result"] == "OK",
        subject,
        acs["role"] if acs else role["role"] if role else "",
        busids,
        acs["actual"] if acs else "",
        acs["wanted"] if acs else "",
        text[:1000],
        line,
    )


def _busid(text: str | None) -> str:
    return normal_bus_id(text or "") or ""


def _from_json(text: str) -> tuple[tuple[TopoPair, ...], bool]:
    """Return the pairs, and whether the JSON is broken (then object by object, as far as that goes)."""
    torn = False
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        torn, found = True, []
        for chunk in re.findall(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*){0,64}\}", text)[:4096]:
            try:
                found.append(json.loads(chunk))
            except (ValueError, RecursionError):
                continue
    items = found if isinstance(found, list) else [found]
    return tuple(pair for item in items if isinstance(item, dict) and (pair := _pair(item, text))), torn


def _pair(item: dict[str, object], text: str) -> TopoPair | None:
    nic, gpu = item.get("rdma_nic_pf_bdf"), item.get("gpu_bdf")
    if not isinstance(nic, str):
        return None
    at = text.find(f'"{nic}"')
    numa = item.get("numa_node")
    subsystems = item.get("subsystems")
    own = subsystems.get(nic) if isinstance(subsystems, dict) else None
    names = own.get("infiniband") if isinstance(own, dict) else None
    first = names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""
    dma = item.get("rdma_dma_bdf")
    return TopoPair(
        _busid(nic),
        first,
        _busid(gpu if isinstance(gpu, str) else None),
        text.count("\n", 0, at) + 1,
        _busid(dma if isinstance(dma, str) else None),
        numa if isinstance(numa, int) else -1,
    )
