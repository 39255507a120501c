"""Published measurements beside the model: what `gdviz validate` prints.

Each table says what was measured on which hardware and by whom; `compare` asks the model the same
question. The model itself knows nothing of this package.
"""

from __future__ import annotations

from gdviz.model.validation.compare import Compared, Row, compare
from gdviz.model.validation.published import TABLES
from gdviz.model.validation.table import Point, Table

__all__ = ["TABLES", "Compared", "Point", "Row", "Table", "compare"]
