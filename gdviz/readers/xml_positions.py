"""XML to a tree of elements with their lines, as much of it as can be read.

Stands on defusedxml's SAX parser: document types (and with them every entity, internal or external) are
refused before a single one is expanded. The tree is built without recursion, so that depth costs
nothing, and growth is bounded by `MAX_ELEMENTS` and `MAX_VALUE`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl

from defusedxml.common import DefusedXmlException  # type: ignore[import-untyped, unused-ignore]
from defusedxml.expatreader import DefusedExpatParser  # type: ignore[import-untyped, unused-ignore]

from gdviz.messages import _
from gdviz.readers.notices import Notices, shown

#: Elements that are read of one file; the rest is left out with a notice.
MAX_ELEMENTS = 250_000

#: Characters that are kept of an attribute's value.
MAX_VALUE = 4096

#: Characters that are kept of all text between tags, where text is asked for.
MAX_TEXT = 8_000_000

#: Comments, quotes and brackets that are followed before the first element.
MAX_STEPS = 100_000

_DOCTYPE_MARK = re.compile(r"""["'\[\]>]|<!--""")
_CLOSERS = {'"': '"', "'": "'", "<!--": "-->"}
_SPACE = re.compile(r"[\s\ufeff]*")
_ROOT = re.compile(r"<([^\s<>/!?&;=\"']{1,200})")


@dataclass(slots=True, eq=False)
class Element:
    """An element: its tag, attributes, children and the line of its start tag.

    `text` is what stands in it beside its children, where `parse_xml` was asked to keep it.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list, repr=False)
    text: str = ""


class _Full(Exception):
    """Enough has been read."""


class _TreeBuilder(ContentHandler):
    def __init__(self, notices: Notices, parser: DefusedExpatParser, keep_text: bool) -> None:
        super().__init__()
        self.room = MAX_TEXT if keep_text else -1
        self.notices = notices
        self.parser = parser
        self.root: Element | None = None
        self.open: list[Element] = []
        self.count = 0

    def line(self) -> int:
        return int(self.parser.getLineNumber() or 1)

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802
        self.count += 1
        if self.count > MAX_ELEMENTS:
            raise _Full
        attributes = dict(attrs.items())
        element = Element(name, attributes, self.line())
        for key, value in attributes.items():
            if len(value) > MAX_VALUE:
                attributes[key] = value[:MAX_VALUE]
                self.notices.add(
                    _("Attribute {key} of <{tag}> was cut after {limit} characters.").format(
                        key=shown(key), tag=name[:60], limit=MAX_VALUE
                    ),
                    element.line,
                    kind="long value",
                )
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def endElement(self, name: str) -> None:  # noqa: N802
        self.open.pop()

    def characters(self, content: str) -> None:
        if self.room >= 0 and self.open:
            self.open[-1].text += content[: self.room]
            self.room -= min(len(content), self.room)
        elif not content.isspace() and self.open:
            self.notices.add(
                _("Text {text} inside <{tag}> was skipped; NCCL reads no further at such a place.").format(
                    text=shown(content.strip(), 20), tag=self.open[-1].tag[:60]
                ),
                self.line(),
                kind="text",
            )


def root_tag(text: str) -> str | None:
    """Return the tag of the first element, or None if `text` is no XML.

    Examples
    --------
    >>> root_tag("<?xml version='1.0'?><!-- hello --><system version='1'>")
    'system'
    """
    start = _prolog_end(text)
    if text.startswith("<!DOCTYPE", start):
        start = _prolog_end(text, _doctype_end(text, start))
    match = _ROOT.match(text, start)
    return match[1] if match else None


def parse_xml(text: str, notices: Notices, *, keep_text: bool = False) -> Element | None:
    """Return the root element, or None if not even its start tag could be read.

    Whatever stops the parser becomes a notice that names the innermost open element and the line; what
    was read before is returned. Text between tags is a notice too, unless it is to be kept.
    """
    body = text.lstrip()
    shift = text[: len(text) - len(body)].count("\n")
    start = _prolog_end(body)
    if body.startswith("<!DOCTYPE", start):
        end = _doctype_end(body, start)
        notices.add(
            _("A document type (<!DOCTYPE>) was skipped; entities are neither read nor expanded."),
            shift + body.count("\n", 0, start) + 1,
        )
        body = body[:start] + "\n" * body.count("\n", start, end) + body[end:]
    if shift:
        # Line numbers stay the file's own; a declaration is only legal at the very start.
        body = body if body.startswith("<?xml") else "\n" * shift + body
        shift = shift if body.startswith("<?xml") else 0
    return _feed(body, shift, notices, keep_text)


def _feed(text: str, shift: int, notices: Notices, keep_text: bool) -> Element | None:
    parser = DefusedExpatParser(forbid_dtd=True)
    builder = _TreeBuilder(notices, parser, keep_text)
    parser.setContentHandler(builder)
    try:
        parser.feed(text)
        parser.close()
    except _Full:
        notices.add(
            _("Only the first {n} elements were read.").format(n=MAX_ELEMENTS), builder.line() + shift
        )
    except SAXParseException as error:
        notices.add(_broken(builder, error.getMessage()), (error.getLineNumber() or 1) + shift)
    except (DefusedXmlException, SAXException, ValueError, LookupError) as error:
        notices.add(_broken(builder, type(error).__name__), builder.line() + shift)
    if shift and builder.root is not None:
        _shift_lines(builder.root, shift)
    return builder.root


def _broken(builder: _TreeBuilder, reason: str) -> str:
    if builder.open:
        element = builder.open[-1]
        busid = element.attributes.get("busid") or element.attributes.get("name")
        tag = f"<{element.tag[:60]}>" + (f" {shown(busid)}" if busid else "")
        return _("The XML breaks off inside {tag} ({reason}); what stands before it was read.").format(
            tag=tag, reason=reason
        )
    if builder.root is not None:
        return _("What stands after </{tag}> was not read ({reason}).").format(
            tag=builder.root.tag[:60], reason=reason
        )
    return _("The XML breaks off before its first element ({reason}).").format(reason=reason)


def _shift_lines(root: Element, shift: int) -> None:
    todo = [root]
    while todo:
        element = todo.pop()
        element.line += shift
        todo += element.children


def _prolog_end(text: str, start: int = 0) -> int:
    """Return where white space, comments and processing instructions end; the text's end if nowhere near."""
    for _step in range(MAX_STEPS):
        match = _SPACE.match(text, start)
        start = match.end() if match else start
        for opener, closer in (("<!--", "-->"), ("<?", "?>")):
            if text.startswith(opener, start):
                end = text.find(closer, start + len(opener))
                if end < 0:
                    return len(text)
                start = end + len(closer)
                break
        else:
            return start
    return len(text)


def _doctype_end(text: str, start: int) -> int:
    """Return where a document type ends, with its internal subset; the text's end if it does not."""
    depth = 0
    for _step in range(MAX_STEPS):
        match = _DOCTYPE_MARK.search(text, start)
        if match is None:
            break
        mark, start = match[0], match.end()
        if mark in _CLOSERS:
            end = text.find(_CLOSERS[mark], start)
            if end < 0:
                return len(text)
            start = end + len(_CLOSERS[mark])
        elif mark == ">" and depth <= 0:
            return start
        elif mark == "[":
            depth += 1
        elif mark == "]":
            depth -= 1
    return len(text)
