"""What a format is: how it is recognised, how much of a file it takes, who reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from gdviz.readers.reading import Reading


class Scope(Enum):
    """How much of a file a format takes."""

    #: The whole file or fenced block is one object (XML, JSON, YAML): the first such format has it alone.
    DOCUMENT = "document"
    #: A listing or log, alone in its file or one of several in a page; several may read one block.
    BLOCK = "block"
    #: Picks single lines out of any text, whatever else stands there; always sees the whole text.
    LINES = "lines"


@dataclass(frozen=True, slots=True)
class Format:
    """A format that gdviz reads.

    Attributes
    ----------
    kind
        Its name for programs.
    title
        Its name for people.
    looks_like
        Whether a text is meant to be of this format; cheap, and never raises.
    read
        Text and the keywords ``name`` and ``source`` to a `Reading`; never raises.
    scope
        How much of a file it takes.
    """

    kind: str
    title: str
    looks_like: Callable[[str], bool]
    read: Callable[..., Reading]
    scope: Scope = Scope.BLOCK
