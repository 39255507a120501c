"""NCCL's graph XML (``NCCL_GRAPH_DUMP_FILE``): the rings and trees that it found, channel by channel."""

from __future__ import annotations

from dataclasses import dataclass

from gdviz.messages import _
from gdviz.readers.notices import Notices
from gdviz.readers.reading import Reading
from gdviz.readers.source import to_text
from gdviz.readers.text_lines import split_lines
from gdviz.readers.xml_positions import Element, parse_xml, root_tag

KIND = "nccl_graph_xml"
TITLE = "NCCL graph XML"

#: NCCL's names of its patterns (src/include/graph.h of v2.30.7).
PATTERNS = {1: "balanced tree", 2: "split tree", 3: "tree", 4: "ring", 5: "NVLS", 6: "CollNet direct"}


@dataclass(frozen=True, slots=True)
class GraphChannel:
    """A channel: the NICs and GPUs that it passes, by number, in order; and its line."""

    nics: tuple[int, ...]
    gpus: tuple[int, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Graph:
    """One graph.

    Attributes
    ----------
    pattern
        As NCCL numbers it, see `PATTERNS`.
    intra_bytes_per_s, inter_bytes_per_s
        Bandwidth that NCCL reckons with for each channel, inside a node and between nodes.
    intra, inter
        Classes of the worst path that it uses inside and between: ``PIX``, ``SYS`` ...
    """

    number: int | None
    pattern: int | None
    cross_nic: bool | None
    intra_bytes_per_s: float | None
    inter_bytes_per_s: float | None
    intra: str
    inter: str
    channels: tuple[GraphChannel, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Graphs:
    """All graphs of a file."""

    graphs: tuple[Graph, ...] = ()


def looks_like(text: str) -> bool:
    """Return whether the first element is ``<graphs>``."""
    return root_tag(text) == "graphs"


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read all graphs.

    Parameters
    ----------
    data
        The file's content.
    name
        Not used.
    source
        Where it was read.
    """
    text, decoding = to_text(data)
    notices = Notices()
    for notice in decoding:
        notices.add(notice.text, notice.line)
    root = parse_xml(text, notices)
    graphs = []
    for element in root.children if root is not None else ():
        if element.tag == "graph":
            graphs.append(_graph(element))
        else:
            notices.add(
                _("<{tag}> in <graphs> is no graph; it was skipped.").format(tag=element.tag[:60]),
                element.line,
            )
    lines = tuple(split_lines(text))
    return Reading(KIND, source, facts=Graphs(tuple(graphs)), notices=notices.all(), lines=lines)


def _graph(element: Element) -> Graph:
    crossing = _whole(element, "crossnic")
    return Graph(
        _whole(element, "id"),
        _whole(element, "pattern"),
        None if crossing is None else crossing > 0,
        _rate(element, "speedintra"),
        _rate(element, "speedinter"),
        element.attributes.get("typeintra", "")[:20],
        element.attributes.get("typeinter", "")[:20],
        tuple(_channel(child) for child in element.children if child.tag == "channel"),
        element.line,
    )


def _channel(element: Element) -> GraphChannel:
    def numbers(tag: str) -> tuple[int, ...]:
        found = (_whole(child, "dev") for child in element.children if child.tag == tag)
        return tuple(number for number in found if number is not None)

    return GraphChannel(numbers("net"), numbers("gpu"), element.line)


def _whole(element: Element, name: str) -> int | None:
    text = element.attributes.get(name, "").strip()
    return int(text) if text.isdecimal() and text.isascii() and len(text) < 10 else None


def _rate(element: Element, name: str) -> float | None:
    try:
        value = float(element.attributes.get(name, ""))
    except ValueError:
        return None
    return value * 1e9 if 0 <= value < 1e6 else None
