"""The lines of an ``lspci`` to its functions; lines of anything else around it are passed over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from gdviz.messages import _
from gdviz.readers.lspci.details import Details, acs_flags
from gdviz.readers.lspci.facts import AcsControl, Hint, PciFunction, PciListing
from gdviz.readers.lspci.head import Head, read_head
from gdviz.readers.lspci.kinds import hint_of
from gdviz.readers.lspci.setpci import read_register
from gdviz.readers.lspci.tree_text import TreeReader
from gdviz.readers.notices import Notices

#: Functions and loose lines that are kept of one text.
MAX_FUNCTIONS = 10_000
MAX_LOOSE = 2_000

_DETAILS_OF_BRIDGES = ("primary", "secondary", "subordinate", "bus_line")


@dataclass
class _Builder:
    notices: Notices
    functions: dict[str, PciFunction] = field(default_factory=dict)
    hints: dict[str, Hint] = field(default_factory=dict)
    loose: list[AcsControl] = field(default_factory=list)
    loose_links: int = 0
    head: Head | None = None
    line: int = 0
    details: Details = field(default_factory=Details)

    def begin(self, head: Head, line: int) -> None:
        self.end()
        self.head, self.line, self.details = head, line, Details()

    def end(self) -> None:
        """Keep the function that the lines so far described."""
        head, details = self.head, self.details
        self.head = None
        if head is None:
            return
        values = details.values
        if details.mixed:
            self._unmix(details)
        function = PciFunction(
            head.busid,
            self.line,
            head.class_code,
            head.class_name,
            head.vendor,
            head.device,
            name=head.name,
            above=head.above,
            link=details.link,
            bars=tuple(details.bars),
            **values,
        )
        hint = hint_of(function, details.subsystem)
        if hint is not None:
            self.hints.setdefault(hint.name, hint)
        self.keep(function)

    def keep(self, function: PciFunction) -> None:
        """Keep a function, together with what is known of it already."""
        known = self.functions.get(function.busid)
        if known is not None:
            function = merged(known, function)
        elif len(self.functions) >= MAX_FUNCTIONS:
            self.notices.add(
                _("Only the first {n} functions were read.").format(n=MAX_FUNCTIONS),
                function.line,
                kind="many",
            )
            return
        self.functions[function.busid] = function

    def _unmix(self, details: Details) -> None:
        """Of several ACSCtl or LnkSta below one head none can be trusted: other heads were filtered out."""
        control = details.values.pop("acs", None)
        details.values.pop("acs_capability", None)
        if isinstance(control, AcsControl):
            self._loose(control)
        details.link = type(details.link)()
        self.notices.add(
            _(
                "Capabilities of several functions stand below one: lines were filtered out, so these cannot "
                "be told apart."
            ),
            self.line,
            kind="mixed",
        )

    def _loose(self, control: AcsControl) -> None:
        if len(self.loose) < MAX_LOOSE:
            self.loose.append(control)

    def take(self, line: str, number: int) -> None:
        """Take a line that is no head."""
        if self.head is not None:
            before = self.details.values.get("acs")
            if self.details.take(line, number) and self.details.mixed and before is not None:
                if self.details.values.get("acs") is not before:
                    self._loose(before)
            elif line[:2] == "--":
                # grep's mark between two pieces: what follows belongs to a function that is not shown.
                self.end()
            return
        text = line.lstrip(" \t>")
        if text.startswith("ACSCtl") and (control := acs_flags(text, number)):
            self._loose(control)
        elif text.startswith("LnkSta:"):
            self.loose_links += 1


def read_listing(lines: Sequence[str], notices: Notices) -> PciListing:
    """Return what the lines of a text say.

    Parameters
    ----------
    lines
        The text by line.
    notices
        Takes what is odd.
    """
    builder = _Builder(notices)
    tree = TreeReader()
    for number, line in enumerate(lines, 1):
        if not line or line.isspace():
            builder.end()
            continue
        if line[0] not in "\t " or line[:12].strip()[:1] in tuple("0123456789abcdef>"):
            if head := read_head(line):
                builder.begin(head, number)
                continue
            if tree.take(line, number):
                builder.end()
                continue
            if found := read_register(line, number):
                builder.end()
                builder.keep(found)
                continue
        elif tree.active and tree.take(line, number):
            continue
        builder.take(line, number)
    builder.end()
    for function in tree.functions():
        builder.keep(function)
        if hint := hint_of(function):
            builder.hints.setdefault(hint.name, hint)
    functions = tuple(builder.functions.values())
    if builder.loose or builder.loose_links:
        notices.add(
            _("{n} lines of capabilities stand without the function that they belong to.").format(
                n=len(builder.loose) + builder.loose_links
            )
        )
    return PciListing(
        functions,
        tuple(builder.hints.values()),
        tuple(builder.loose),
        any(function.link.line is not None or function.port_type for function in functions),
        any(function.denied_line is not None for function in functions),
        tree.active,
    )


def merged(first: PciFunction, second: PciFunction) -> PciFunction:
    """Return what two listings of one function say together; the first has the word."""
    changes = {}
    for name in PciFunction.__slots__:
        old, new = getattr(first, name), getattr(second, name)
        if name == "link":
            if old.line is None and new.line is not None:
                changes[name] = new
        elif old in (None, "", ()) and new not in (None, "", ()):
            changes[name] = new
    return replace(first, **changes) if changes else first
