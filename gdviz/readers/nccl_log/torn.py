"""Whether a log ends in the middle of a channel: such a line does not say that GDRDMA is missing."""

from __future__ import annotations

import re

from gdviz.readers.nccl_log import messages as m
from gdviz.readers.nccl_log.facts import NcclLog

#: 'Channel 00/0 : 1[0] -> 0[0] [receive] via NET/IB/0' with or without its end; lists of rings have no arrow.
_BEGUN = re.compile(
    r"(?:Channel|Ring) \d{1,4}(?:/\d{1,4})? : \d{1,7}(?:\[[0-9a-f]{1,16}\])? -(?P<rest>>?[^>]{0,200})$"
)
#: Where the way is not yet said, or not yet the NIC.
_NO_WAY = re.compile(
    r"^(?:>(?: (?:\d{1,7}(?:\[[0-9a-f]{0,16}\]?)?)?)?(?: \[?[a-z]{0,7}\]?)?"
    r"(?: v?i?a?| via N?E?T?| via NET/(?:[^/\n]{1,60}/?)?)?)?$"
)
#: What may stand behind a NIC, whole.
_ENDS = ("/GDRDMA", "/GDRDMA(PCI)", "/GDRDMA/Shared", "/GDRDMA(PCI)/Shared", "/Shared")


def ends_in_channel(text: str, log: NcclLog, line: int) -> bool:
    """Return whether the last line of a log, which no line break ends, is a channel that was cut off.

    Parameters
    ----------
    text
        The last line.
    log
        What the log says, the last line too if it looks like a channel.
    line
        Number of the last line.
    """
    begun = _BEGUN.search(text)
    if begun is None:
        return False
    found = m.CHANNEL.search(text, begun.start())
    if found is None:
        return _NO_WAY.match(begun["rest"]) is not None
    end = text[found.start("rest") :]
    if not end:
        # It may be whole: it is not if all others like it go with GDRDMA and nothing forbids it for the NIC.
        nic = int(found["nic"])
        if any(not said.enabled and said.index == nic for said in log.hcas):
            return False
        if any(not said.enabled and said.nic == nic for said in log.decisions):
            return False
        alike = [c for c in log.channels if c.line != line and c.plugin == found["plugin"].strip()]
        same_way = [c for c in alike if c.sends == (found["way"] == "send")]
        return bool(alike) and all(channel.gdr for channel in same_way or alike)
    return end not in _ENDS and (
        re.match(r"^\(\d{0,7}$", end) is not None or any(whole.startswith(end) for whole in _ENDS)
    )
