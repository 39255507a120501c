"""Simulated nodes in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from gdviz.clock import Clock
from gdviz.errors import UnknownDeviceError
from gdviz.messages import _
from gdviz.nodes.agent import NodeAgent
from gdviz.nodes.fleet import LostHandler, ReportHandler
from gdviz.nodes.records import NodeRecord
from gdviz.rdma import Provider

#: Seconds between two looks at the running transfers: a Stop takes effect within this time.
TICK_S = 0.05


class InProcessFleet:
    """Nodes whose agents run on the session's own event loop.

    Parameters
    ----------
    providers
        One for each node.
    clock
        The clock that the providers go by.
    """

    def __init__(self, providers: Sequence[Provider], clock: Clock) -> None:
        self._agents = {provider.node: NodeAgent(provider) for provider in providers}
        self._clock = clock
        self._handlers: list[ReportHandler] = []
        self._ticker: asyncio.Task[None] | None = None

    @property
    def nodes(self) -> tuple[NodeRecord, ...]:
        """The nodes, in order."""
        return tuple(agent.record for agent in self._agents.values())

    async def call(self, node: str, command: str, *arguments: Any) -> Any:
        """Have a node's agent do a command and return its answer."""
        if node not in self._agents:
            raise UnknownDeviceError(_("There is no node {node!r}.").format(node=node))
        answer = getattr(self._agents[node], command)(*arguments)
        if command == "start" and (self._ticker is None or self._ticker.done()):
            self._ticker = asyncio.create_task(self._tick_while_busy())
        if command == "stop":
            # Not at the next tick but now: a Stop that lingers is no Stop.
            self._report(node)
        return answer

    def subscribe(self, handler: ReportHandler) -> None:
        """Have reports of running transfers handed to `handler`."""
        self._handlers.append(handler)

    def on_lost(self, handler: LostHandler) -> None:
        """Do nothing: a node of this process goes only with the process."""

    async def close(self) -> None:
        """Close every node."""
        if self._ticker is not None:
            self._ticker.cancel()
        troubles = []
        for agent in self._agents.values():
            try:
                agent.close()
            except Exception as error:  # noqa: BLE001  (the other nodes are closed all the same)
                troubles.append(error)
        if troubles:
            raise troubles[0]

    async def _tick_while_busy(self) -> None:
        while any(agent.busy for agent in self._agents.values()):
            await self._clock.sleep(TICK_S)
            for node in self._agents:
                self._report(node)

    def _report(self, node: str) -> None:
        reports = self._agents[node].tick()
        if reports:
            for handler in self._handlers:
                handler(node, reports)
