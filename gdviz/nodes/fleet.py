"""Where nodes are: what the session asks of any arrangement of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from gdviz.nodes.records import NodeRecord, Report

#: Takes the name of a node and its reports, on the session's event loop.
ReportHandler = Callable[[str, list[Report]], None]

#: Takes the name of a node that is gone and a sentence on why, on the session's event loop.
LostHandler = Callable[[str, str], None]


class Fleet(Protocol):
    """A set of nodes, here or elsewhere."""

    @property
    def nodes(self) -> tuple[NodeRecord, ...]:
        """The nodes, in order."""

    async def call(self, node: str, command: str, *arguments: Any) -> Any:
        """Have a node's agent do a command and return its answer.

        Parameters
        ----------
        command
            Name of a method of `gdviz.nodes.agent.NodeAgent`.

        Raises
        ------
        GdvizError
            What the agent raised.
        """

    def subscribe(self, handler: ReportHandler) -> None:
        """Have reports of running transfers handed to `handler`."""

    def on_lost(self, handler: LostHandler) -> None:
        """Have `handler` told of nodes that are gone, with all that they held."""

    async def close(self) -> None:
        """Close every node."""
