"""Which findings touch which pair."""

from __future__ import annotations

import re

from gdviz.doctor.findings import Finding
from gdviz.doctor.records import Pair

#: Findings on devices: only the pairs whose names they say.
_BY_NAME = {
    "acs-on-path", "link-degraded", "port-down", "port-rate-low", "no-near-nic", "mixed-distance-nics",
    "gid-index-wrong", "lossy-fabric", "mtu-small",
}  # fmt: skip

#: Findings on files: no pair.
_NONE = {"truncated-input", "unreadable-input", "unknown-element", "healthy"}

_FAR = {"distance-beyond-level", "c2c-needs-setting"}


def touching(found: Finding, pair: Pair) -> bool:
    """Return whether a finding touches a pair."""
    if found.code in _NONE or (found.node and pair.node not in found.node.split(", ")):
        return False
    if found.code in _FAR:
        return pair.gdr is False and pair.distance not in ("PIX", "PXB")
    if found.code in _BY_NAME:
        text = " ".join((found.title, found.effect, *(e.text for e in found.evidence)))
        return _named(pair.nic_ids, text) or _named(pair.gpu_ids, text)
    return True


def _named(names: tuple[str, ...], text: str) -> bool:
    for name in names:
        if name.isdecimal() or len(name) < 4:
            continue
        if re.search(rf"(?<![\w:]){re.escape(name)}(?![\w.])", text):
            return True
    return False
