"""The formats of this package."""

from __future__ import annotations

from gdviz.readers.formats import Format, of_module
from gdviz.readers.nvidia_smi import nvlink, query, topo_matrix

FORMATS: tuple[Format, ...] = (of_module(topo_matrix), of_module(query), of_module(nvlink))
