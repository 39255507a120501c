"""The table of plain ``nvidia-smi``: versions, and each GPU's name, bus id, memory and MIG mode."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gdviz.machine import normal_bus_id
from gdviz.readers.nvidia_smi.facts import SmiGpu, SmiQuery

TABLE_MARK = re.compile(r"NVIDIA-SMI [\d.]{3,16}.{0,60}Driver Version: ?[\d.]{3,16}")

_VERSIONS = re.compile(
    r"NVIDIA-SMI [\d.]{3,16}.{0,60}Driver Version: ?(?P<driver>[\d.]{3,16})"
    r"(?:.{0,60}CUDA Version: ?(?P<cuda>[\d.]{1,8}))?"
)
#: ``|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |                    0 |``
_FIRST = re.compile(
    r"^[\s>]*\|\s+(?P<index>\d{1,4})\s+(?P<name>\S.{0,40}?)(?:\s+(?P<persistence>On|Off|N/A))?\s*\|"
    r"\s*(?P<busid>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])\s"
)
_SIZE = re.compile(r"(\d{1,9})MiB\s*/\s*(\d{1,9})MiB")
_MIG = re.compile(r"\|\s+(Enabled|Disabled)\*?\s*\|\s*$")


def read_table(lines: Sequence[str], most: int) -> SmiQuery:
    """Return what the table says; the GPU's second line has its memory, its third the MIG mode.

    Parameters
    ----------
    lines
        The text by line.
    most
        GPUs that are kept.
    """
    query = SmiQuery()
    gpus: list[SmiGpu] = []
    last = 0
    for number, line in enumerate(lines, 1):
        if "Driver Version" in line and query.driver is None and (match := _VERSIONS.search(line)):
            query = SmiQuery(match["driver"], number, match["cuda"], number if match["cuda"] else None)
        if "|" not in line:
            continue
        if (match := _FIRST.match(line)) and len(gpus) < most:
            name = match["name"].rstrip(". ")
            busid = normal_bus_id(match["busid"]) or ""
            gpus.append(
                SmiGpu(
                    busid,
                    number,
                    index=int(match["index"]),
                    name=name,
                    name_line=number,
                    persistence_mode={"On": "Enabled", "Off": "Disabled"}.get(match["persistence"] or "", ""),
                )
            )
            last = number
        elif gpus and number == last + 1 and (match := _SIZE.search(line)):
            gpus[-1] = replace(gpus[-1], memory_total_bytes=int(match[2]) * 2**20)
        elif gpus and number == last + 2 and (match := _MIG.search(line)):
            gpus[-1] = replace(gpus[-1], mig_mode=match[1], mig_line=number)
    return replace(query, gpus=tuple(gpus))
