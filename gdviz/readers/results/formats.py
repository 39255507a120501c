"""The formats of this package."""

from __future__ import annotations

from gdviz.readers.formats import Format, of_module
from gdviz.readers.results import copies, nccl_tests, osu, perftest

FORMATS: tuple[Format, ...] = (
    of_module(perftest),
    of_module(nccl_tests),
    of_module(copies),
    of_module(osu),
)
