"""NVLink and xGMI of an NCCL topology: joined by bus id, and compared end with end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gdviz.machine import Gpu, NvLink, PeerKind, normal_bus_id
from gdviz.machine.known import nvlink_bytes_per_s, xgmi_bytes_per_s
from gdviz.messages import _
from gdviz.readers.nccl_fields import integer, name_of, peer_kind
from gdviz.readers.notices import Notices, shown
from gdviz.readers.xml_positions import Element


@dataclass(slots=True)
class RawNvLink:
    """A link as it stands in the file, with the GPU that holds it.

    Attributes
    ----------
    architecture
        AMD's name of the GPU's architecture (``gfx942``); empty for NVIDIA's.
    """

    gpu: str
    element: Element
    architecture: str = ""


def join_nvlinks(raw: list[RawNvLink], gpus: Mapping[str, Gpu], notices: Notices) -> tuple[NvLink, ...]:
    """Return a machine's links, one for each pair of GPU and peer.

    Parameters
    ----------
    raw
        Links as they stand in the file.
    gpus
        The machine's GPUs by id.
    notices
        Takes what is odd: no target, a target that is not there, counts that differ or are missing at
        the other end.
    """
    by_bus: dict[str, str] = {}
    for gpu in gpus.values():
        by_bus.setdefault(gpu.busid, gpu.id)
    found: dict[tuple[str, str], NvLink] = {}
    lines: dict[tuple[str, str], int] = {}
    for link in raw:
        joined = _join(link, gpus, by_bus, notices)
        if joined is None:
            continue
        key = joined.gpu, joined.target
        before = found.get(key)
        if before is not None:
            joined = _rated(joined, gpus[joined.gpu], link.architecture, before.count + joined.count)
        found[key] = joined
        lines.setdefault(key, link.element.line)
    _compare_ends(found, lines, gpus, notices)
    return tuple(found.values())


def _join(
    raw: RawNvLink, gpus: Mapping[str, Gpu], by_bus: Mapping[str, str], notices: Notices
) -> NvLink | None:
    element = raw.element
    text = name_of(element, "target")
    gpu = gpus[raw.gpu]
    if not text:
        notices.add(
            _("A <{tag}> of GPU {gpu} names no target and was skipped.").format(
                tag=element.tag, gpu=gpu.busid
            ),
            element.line,
            kind="no target",
        )
        return None
    count = integer(element, "count", notices)
    if count is None or not 0 < count < 1000:
        notices.add(
            _("A <{tag}> of GPU {gpu} has no sensible count; one link was assumed.").format(
                tag=element.tag, gpu=gpu.busid
            ),
            element.line,
            kind="count",
        )
        count = 1
    target = normal_bus_id(text) or text
    kind = peer_kind(element.attributes.get("tclass"))
    if target in by_bus and kind in (PeerKind.GPU, PeerKind.UNKNOWN):
        kind, target = PeerKind.GPU, by_bus[target]
    elif kind is PeerKind.GPU:
        kind = PeerKind.UNKNOWN
        notices.add(
            _("<{tag}> from GPU {gpu} leads to {target}, which is not in the file.").format(
                tag=element.tag, gpu=gpu.busid, target=shown(target)
            ),
            element.line,
        )
    technology = "xGMI" if element.tag == "xgmi" else "NVLink"
    link = NvLink(gpu.id, target, count, kind, technology)
    return _rated(link, gpu, raw.architecture, count)


def _rated(link: NvLink, gpu: Gpu, architecture: str, count: int) -> NvLink:
    is_xgmi = link.technology == "xGMI"
    rate = (
        xgmi_bytes_per_s(architecture, count)
        if is_xgmi
        else nvlink_bytes_per_s(gpu.compute_capability, count)
    )
    return NvLink(link.gpu, link.target, count, link.kind, link.technology, rate)


def _compare_ends(
    found: Mapping[tuple[str, str], NvLink],
    lines: Mapping[tuple[str, str], int],
    gpus: Mapping[str, Gpu],
    notices: Notices,
) -> None:
    for (gpu, target), link in found.items():
        if link.kind is not PeerKind.GPU:
            continue
        back = found.get((target, gpu))
        here, there = gpus[gpu].busid, gpus[target].busid
        if back is None:
            notices.add(
                _("{technology} from GPU {here} to {there} has no way back in the file.").format(
                    technology=link.technology, here=here, there=there
                ),
                lines[gpu, target],
            )
        elif gpu < target and link.count != back.count:
            notices.add(
                _(
                    "GPU {here} counts {n} {technology} links to {there}, which counts {m} back: "
                    "links are down or the file was edited."
                ).format(here=here, there=there, n=link.count, m=back.count, technology=link.technology),
                lines[gpu, target],
            )
