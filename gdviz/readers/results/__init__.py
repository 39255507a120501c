"""Tables that benchmarks print: perftest, nccl-tests, nvbandwidth, GDRCopy and OSU; text, and JSON of two.

Log lines in between, tables torn by them, prefixes of launchers and Markdown are taken as they come.
"""

from __future__ import annotations

from gdviz.readers.results.facts import ResultDevice, ResultRow, Results, ResultTable
from gdviz.readers.results.formats import FORMATS

__all__ = ["FORMATS", "ResultDevice", "ResultRow", "ResultTable", "Results"]
