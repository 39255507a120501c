"""``nvidia-smi nvlink --status`` to a reading."""

from __future__ import annotations

import re
from dataclasses import replace

from gdviz.machine import Cpu, Gpu, Machine, Parts
from gdviz.messages import _
from gdviz.readers.gpu_names import gpu_model_by_name
from gdviz.readers.notices import Notices
from gdviz.readers.nvidia_smi.facts import NvLinkGpu, NvLinkState, NvLinkStatus
from gdviz.readers.reading import Reading
from gdviz.readers.source import to_text
from gdviz.readers.text_lines import short_lines

KIND = "nvlink_status"
TITLE = "nvidia-smi nvlink --status"

#: GPUs, and links of one GPU, that are kept.
MAX_GPUS, MAX_LINKS = 4096, 64

_GPU = re.compile(r"^[\s>]{0,8}GPU (?P<index>\d{1,4}): (?P<name>.{1,80}?) \(UUID: (?P<uuid>[\w-]{4,60})\)")
_LINK = re.compile(
    r"^[\s>]{0,40}Link (?P<number>\d{1,2}): "
    r"(?:(?P<rate>\d{1,4}(?:\.\d{1,4})?) GB/s|<?(?P<state>inactive|disabled)>?)",
    re.IGNORECASE,
)
_MARK = re.compile(
    r"^[ \t>]{0,8}GPU \d{1,4}: .{1,80} \(UUID: [\w-]{4,60}\)\s*\n(?:.*\n){0,2}[ \t>]{0,40}"
    r"Link \d{1,2}: <?(?:[\d.]{1,9} GB/s|inactive|disabled)",
    re.MULTILINE | re.IGNORECASE,
)


def looks_like(text: str) -> bool:
    """Return whether a text lists links below a GPU."""
    return "Link " in text and _MARK.search(text) is not None


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read the state of each link of each GPU.

    Returns
    -------
    Reading
        Its facts are an `NvLinkStatus`. The machine has the GPUs; the text does not say where links lead.
    """
    text, decoding = to_text(data)
    lines = tuple(short_lines(text))
    notices = Notices()
    for notice in decoding:
        notices.add(notice.text, notice.line)
    gpus: list[NvLinkGpu] = []
    links: list[list[NvLinkState]] = []
    for number, line in enumerate(lines, 1):
        if (match := _GPU.match(line)) and len(gpus) < MAX_GPUS:
            gpus.append(NvLinkGpu(int(match["index"]), match["name"], number, match["uuid"]))
            links.append([])
        elif gpus and (match := _LINK.match(line)) and len(links[-1]) < MAX_LINKS:
            rate = float(match["rate"]) * 1e9 if match["rate"] else None
            links[-1].append(NvLinkState(int(match["number"]), bool(rate), rate or None, number))
    found = tuple(replace(gpu, links=tuple(mine)) for gpu, mine in zip(gpus, links, strict=True))
    _compare(found, notices)
    told = notices.all()
    machine = Machine(name, _parts(found), source, told)
    return Reading(KIND, source, (machine,), NvLinkStatus(found), told, lines=lines)


def _compare(gpus: tuple[NvLinkGpu, ...], notices: Notices) -> None:
    most = max((sum(link.active for link in gpu.links) for gpu in gpus), default=0)
    for gpu in gpus:
        up = sum(link.active for link in gpu.links)
        if up < most:
            notices.add(
                _("GPU {gpu} has {n} NVLinks up, others have {most}.").format(gpu=gpu.index, n=up, most=most),
                gpu.line,
            )


def _parts(gpus: tuple[NvLinkGpu, ...]) -> Parts:
    parts = []
    for index, gpu in enumerate(gpus):
        model = gpu_model_by_name(gpu.name)
        parts.append(
            Gpu(
                id=f"gpu{index}",
                index=index,
                parent="cpu",
                busid="",
                name=model.name if model else gpu.name,
                compute_capability=model.compute_capability if model else None,
                memory_bytes=model.memory_bytes if model else None,
                memory_bytes_per_s=model.memory_bytes_per_s if model else None,
            )
        )
    return Parts((Cpu("cpu", -1),), (), tuple(parts))
