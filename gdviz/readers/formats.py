"""What a format is: how it is recognised, how much of a file it takes, who reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from types import ModuleType

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
    hints
        Parts of a file's name with which a text of one word, which has nothing else by which to know
        it, is this format's.
    """

    kind: str
    title: str
    looks_like: Callable[[str], bool]
    read: Callable[..., Reading]
    scope: Scope = Scope.BLOCK
    hints: tuple[str, ...] = ()


def of_module(module: ModuleType, scope: Scope = Scope.BLOCK) -> Format:
    """Return the format of a reader's module: its ``KIND``, ``TITLE``, ``looks_like`` and ``read``.

    Parameters
    ----------
    module
        May also have ``HINTS``, see `Format.hints`.
    scope
        How much of a file it takes.
    """
    hints = getattr(module, "HINTS", ())
    return Format(module.KIND, module.TITLE, module.looks_like, module.read, scope, hints)
