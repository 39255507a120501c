"""Names of ceilings as they stand on a chart, short enough for the narrow ones. No Bokeh."""

from __future__ import annotations

from gdviz.figures.text_size import shorten
from gdviz.messages import _
from gdviz.model import Ceiling, PlaceKind

#: Pixels that a name may take, at 12 px type.
ROOM_PX = 185


def short_name(ceiling: Ceiling) -> str:
    """Return a ceiling's name without the speed that it bears: 'NIC port' for 'NIC port 400 Gb/s'.

    The chart's label gives the rate that comes out of that, and its text twin the whole name.
    """
    kind = ceiling.place.kind
    if kind is PlaceKind.PORT:
        return _("NIC port")
    if kind is PlaceKind.WIRE:
        return _("wire")
    if kind is PlaceKind.LINK and ceiling.name.startswith("PCIe "):
        return "PCIe"
    return shorten(ceiling.name, 12, ROOM_PX)
