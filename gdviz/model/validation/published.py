"""All tables, in the order of their numbers."""

from __future__ import annotations

import re

from gdviz.model.validation.published_inside import INSIDE
from gdviz.model.validation.published_more import MORE
from gdviz.model.validation.published_paths import PATHS
from gdviz.model.validation.published_sizes import BY_SIZE
from gdviz.model.validation.table import Table


def _number(table: Table) -> int:
    number = re.match(r"V(\d+)", table.key)
    # The others stay in their order, after these.
    return int(number[1]) if number else 100


TABLES: tuple[Table, ...] = tuple(sorted((*BY_SIZE, *PATHS, *INSIDE, *MORE), key=_number))
