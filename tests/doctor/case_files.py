"""Small cases, one text a case: a head with what is expected, then files after ``=== name`` lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gdviz.doctor import Report
from gdviz.machine import normal_bus_id

FOLDER = Path(__file__).parent / "cases"

RANKS = {"none": -1, "info": 0, "warning": 1, "error": 2}


@dataclass
class Expected:
    """What a case's head says."""

    must: list[str] = field(default_factory=list)
    must_not: list[str] = field(default_factory=list)
    mention: list[str] = field(default_factory=list)
    never_advise: list[str] = field(default_factory=list)
    most: str = "error"
    pairs: list[tuple[str, str, str, bool | None]] = field(default_factory=list)


def all_cases() -> list[Path]:
    return sorted(FOLDER.glob("*/*.case"))


def unpack(case: Path, folder: Path) -> Expected:
    """Write a case's files into a folder; return what is expected of them."""
    expected = Expected()
    name, lines = "", []
    for line in [*case.read_text(encoding="utf-8").splitlines(), "=== "]:
        if not line.startswith("=== "):
            if name:
                lines.append(line)
            else:
                _head(expected, line)
            continue
        if name:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = "\n".join(lines)
            path.write_text(f"{text}\n" if text.strip() else "", encoding="utf-8")
        name, lines = line[4:].strip(), []
    return expected


def _head(expected: Expected, line: str) -> None:
    key, _colon, value = line.partition(":")
    words = value.split()
    match key:
        case "must":
            expected.must = words
        case "must-not":
            expected.must_not = words
        case "mention":
            expected.mention = [value.strip()] if "version" in value else words
        case "never-advise":
            expected.never_advise = words
        case "max":
            (expected.most,) = words
        case "pair":
            gpu, nic, distance, gdr = words
            expected.pairs.append((gpu, nic, distance, {"true": True, "false": False, "null": None}[gdr]))
        case _:
            raise ValueError(line)


def differences(expected: Expected, report: Report) -> list[str]:
    """Return what of a report differs from what is expected."""
    codes = report.codes
    bad = [f"missing {code}" for code in expected.must if code not in codes]
    bad += [f"unwanted {code}" for code in expected.must_not if code in codes]
    worst = -1 if report.worst is None else report.worst.rank
    if worst > RANKS[expected.most]:
        bad.append(f"{report.findings[0].code} is {report.worst}, at most {expected.most} is expected")
    said = "\n".join(str(found.as_dict()) for found in report.findings if found.code in expected.must)
    bad += [f"not mentioned: {word}" for word in expected.mention if word not in said]
    advice = "\n".join(text for found in report.findings for text in found.fix)
    bad += [f"advises {word}" for word in expected.never_advise if word in advice]
    for gpu, nic, distance, gdr in expected.pairs:
        found = [p for p in report.pairs if _is(gpu, p.gpu_ids) and _is(nic, p.nic_ids)]
        if not any(p.distance == distance and p.gdr is gdr for p in found):
            bad.append(f"pair {gpu}-{nic}: {[(p.distance, p.gdr) for p in found]}")
    return bad


def _is(name: str, names: Sequence[str]) -> bool:
    return name in names or (normal_bus_id(name) is not None and normal_bus_id(name) in names)


def texts(report: Report) -> str:
    """Return a report's text without the folder that the files lie in."""
    return re.sub(r"(/[\w.-]+)+/", "", str(report))
