"""The process that holds a node's verbs objects and moves its bytes: commands come in, reports go out."""

from __future__ import annotations
