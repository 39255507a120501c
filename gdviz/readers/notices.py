"""Collects what a reader could not read, so that a bad file gives a few sentences and not a million."""

from __future__ import annotations

from dataclasses import dataclass, field

from gdviz.machine import Notice
from gdviz.messages import _, ngettext

#: Kinds of notices that are kept of one file.
MAX_KINDS = 200


def shown(value: str, limit: int = 60) -> str:
    r"""Return a value of a file as a sentence can hold it: quoted, unprintable characters escaped, cut.

    Examples
    --------
    >>> print(shown("a\x1bb"))
    'a\x1bb'
    """
    return repr(value) if len(value) <= limit else repr(value[:limit]) + "..."


@dataclass
class _Kind:
    text: str
    line: int | None
    count: int = 1


@dataclass
class Notices:
    """Notices of one file; the same kind twice becomes one notice with a count."""

    _kinds: dict[str, _Kind] = field(default_factory=dict)
    _lost: int = 0

    def add(self, text: str, line: int | None = None, *, kind: str | None = None) -> None:
        """Note one thing.

        Parameters
        ----------
        text
            One sentence that names the element.
        line
            Its line, from 1.
        kind
            Notices of one kind are told once: the first, and how many more there are. By default each
            text is its own kind.
        """
        key = kind or text
        if key in self._kinds:
            self._kinds[key].count += 1
        elif len(self._kinds) < MAX_KINDS:
            self._kinds[key] = _Kind(text, line)
        else:
            self._lost += 1

    def all(self) -> tuple[Notice, ...]:
        """Return the notices by line; those without one first."""
        notices = []
        for kind in self._kinds.values():
            text = kind.text
            if more := kind.count - 1:
                text += " " + ngettext("(And {n} more.)", "(And {n} more.)", more).format(n=more)
            notices.append(Notice(text, kind.line))
        notices.sort(key=lambda notice: notice.line or 0)
        if self._lost:
            notices.append(Notice(_("{n} more notices were left out.").format(n=self._lost)))
        return tuple(notices)
