"""Matrices of bandwidth in an hwloc XML to NVLinks and xGMI links."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gdviz.machine import Gpu, NvLink, PeerKind
from gdviz.machine.known import NVLINK_BYTES_PER_S
from gdviz.readers.xml_positions import Element

#: Objects of a matrix that is read.
MAX_OBJECTS = 1024

#: Bandwidth is in MB/s; hwloc writes 1000000 for an object and itself.
_UNIT, _SELF = 1e6, 1_000_000


def nvlinks_of(root: Element, owners: Mapping[str, str], gpus: Mapping[str, Gpu]) -> tuple[NvLink, ...]:
    """Return the links that the matrices ``NVLinkBandwidth`` and ``XGMIBandwidth`` name.

    Parameters
    ----------
    root
        The topology.
    owners
        Ids of GPUs and other PCI functions by the index that matrices name them with.
    gpus
        GPUs by id.
    """
    found: dict[tuple[str, str], NvLink] = {}
    for matrix in root.children:
        name = matrix.attributes.get("name", "")
        if not matrix.tag.startswith("distances2") or name not in ("NVLinkBandwidth", "XGMIBandwidth"):
            continue
        technology = "NVLink" if name.startswith("NV") else "xGMI"
        names = list(_words(matrix, "indexes", MAX_OBJECTS))
        for place, word in enumerate(_words(matrix, "u64values", len(names) ** 2)):
            if not word.isdecimal() or not 0 < int(word[:9]) < _SELF:
                continue
            gpu = owners.get(_index(names[place // len(names)]), "")
            if gpu not in gpus:
                continue
            target, kind = _target(names[place % len(names)], owners, gpus)
            if target == gpu:
                continue
            rate = int(word[:9]) * _UNIT
            found[gpu, target] = NvLink(gpu, target, _count(gpus[gpu], rate), kind, technology, rate)
    return tuple(found.values())


def _words(matrix: Element, tag: str, most: int) -> Iterator[str]:
    left = most
    for child in matrix.children:
        if child.tag == tag:
            for word in child.text.split():
                if left <= 0:
                    return
                left -= 1
                yield word


def _index(word: str) -> str:
    return word.rpartition(":")[2]


def _target(word: str, owners: Mapping[str, str], gpus: Mapping[str, Gpu]) -> tuple[str, PeerKind]:
    kind, _colon, index = word.rpartition(":")
    owner = owners.get(index, "")
    if owner in gpus:
        return owner, PeerKind.GPU
    if owner:
        return owner, PeerKind.SWITCH
    return word[:60], PeerKind.CPU if kind in ("Package", "NUMANode") else PeerKind.UNKNOWN


def _count(gpu: Gpu, rate: float) -> int:
    """Return how many links carry a bandwidth: each the GPU's own, else what divides it without a rest."""
    own = NVLINK_BYTES_PER_S.get(gpu.compute_capability or 0)
    for each in (own,) if own else (25e9, 20e9):
        if rate % each < each * 0.01:
            return max(1, round(rate / each))
    return max(1, round(rate / own)) if own else 1
