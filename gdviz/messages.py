"""Sentences that people read go through here, so that a catalogue can translate them.

Ids, units and names of the field stay as they are.
"""

from __future__ import annotations

import gettext as _gettext
import os
from functools import cache
from pathlib import Path

DOMAIN = "gdviz"


@cache
def _translations() -> _gettext.NullTranslations:
    languages = [os.environ["GDVIZ_LANG"]] if os.environ.get("GDVIZ_LANG") else None
    folder = Path(__file__).parent / "locale"
    return _gettext.translation(DOMAIN, folder, languages=languages, fallback=True)


def _(text: str) -> str:
    """Return `text` in the reader's language (``GDVIZ_LANG``, else the locale's)."""
    return _translations().gettext(text)


def ngettext(one: str, many: str, count: int) -> str:
    """Return the form of a sentence that fits `count`."""
    return _translations().ngettext(one, many, count)
