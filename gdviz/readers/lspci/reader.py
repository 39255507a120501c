"""Text of ``lspci`` to a reading."""

from __future__ import annotations

import re

from gdviz.machine import Machine
from gdviz.messages import _
from gdviz.readers.lspci.details import acs_flags
from gdviz.readers.lspci.facts import PciListing
from gdviz.readers.lspci.head import FIRST_LINE
from gdviz.readers.lspci.listing import read_listing
from gdviz.readers.lspci.machine import MachineBuilder
from gdviz.readers.lspci.setpci import FIRST_SETPCI_LINE
from gdviz.readers.lspci.tree_text import FIRST_TREE_LINE
from gdviz.readers.notices import Notices
from gdviz.readers.reading import Reading
from gdviz.readers.source import to_text
from gdviz.readers.text_lines import short_lines

KIND = "lspci"
TITLE = "lspci"

#: Lines that grep leaves of a verbose listing.
_GREPPED = re.compile(
    r"^[ \t>]{0,12}(?:ACSCtl:\s*SrcValid[+-]|ATSCtl:\s*Enable[+-]"
    r"|LnkSta:\s*Speed [\d.]{1,5} ?GT/s|LnkCap:\s*Port #\d)",
    re.MULTILINE,
)
#: Flags end in + or -; a last line that does not was cut.
_FLAGS = re.compile(r"^[ \t>]*(?:ACSC(?:ap|tl)|UE(?:Sta|Msk|Svrt)|CE(?:Sta|Msk)|Control|DevSta):")
_WORD = re.compile(r"\w+$")


def looks_like(text: str) -> bool:
    """Return whether `text` holds functions as ``lspci`` lists them, lines of ``-vv`` or ACS registers."""
    marks = (FIRST_LINE, FIRST_TREE_LINE, _GREPPED, FIRST_SETPCI_LINE)
    return any(mark.search(text) for mark in marks)


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read a listing; lines of anything else around it are passed over.

    Parameters
    ----------
    data
        The text, whole or through grep.
    name
        Name for the machine.
    source
        Where it was read, for the reader's eyes.

    Returns
    -------
    Reading
        Its facts are a `PciListing`; the machine has the GPUs, the NICs that can do RDMA, and what is
        above them.
    """
    text, decoding = to_text(data)
    lines = tuple(short_lines(text))
    notices = Notices()
    for notice in decoding:
        notices.add(notice.text, notice.line)
    listing = read_listing(lines, notices)
    parts = MachineBuilder(listing, notices).parts()
    truncated = _torn(text, lines, listing)
    if truncated:
        notices.add(_("The listing breaks off inside its last line."), len(lines))
    if listing.denied:
        line = next(
            function.denied_line for function in listing.functions if function.denied_line is not None
        )
        notices.add(_("lspci ran without root: ACS, ATS and links are not shown."), line)
    told = notices.all()
    machines = (Machine(name, parts, source, told),) if listing.functions else ()
    return Reading(KIND, source, machines, listing, told, truncated, lines)


def _torn(text: str, lines: tuple[str, ...], listing: PciListing) -> bool:
    """Whether the text ends inside a line: no line's end, and half a word where a flag should be."""
    if not listing.verbose or not lines or text.endswith(("\n", "\r")):
        return False
    last = lines[-1]
    if _FLAGS.match(last):
        return bool(_WORD.search(last)) or (acs_flags(last, 1) is None and "ACS" in last)
    return last.rstrip().endswith((",", ":", "(", "[")) or bool(re.match(r"^\t{1,2}\w{1,6}$", last))
