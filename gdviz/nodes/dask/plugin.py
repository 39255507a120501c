"""What runs on a worker: the agents of its nodes, in a thread of their own.

Dask's actors do not survive what a plugin survives (they have no resilience), so the agents live in a worker
plugin. It is set up on every worker of the cluster, now and later, and closes what it holds when the worker
ends, when the fleet closes, or when nothing is heard of the fleet any more.
"""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from distributed import WorkerPlugin

from gdviz.clock import wall_seconds
from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.nodes.agent import NodeAgent
from gdviz.nodes.dask.supply import Supply
from gdviz.nodes.records import NodeRecord
from gdviz.version import VERSION

#: Seconds between two looks at the running transfers, and between two signs of life of the fleet.
TICK_S, SIGN_S = 0.05, 5.0

#: A fleet that is silent for so long is gone, with the kernel that it lived in.
LEASE_S = 45.0


class NodePlugin(WorkerPlugin):
    """Holds the nodes of a worker for one fleet.

    Parameters
    ----------
    name
        Of the fleet; reports come under this topic.
    supply
        Makes the providers.
    """

    def __init__(self, name: str, supply: Supply) -> None:
        self.name = name
        self._supply = supply
        self._agents: dict[str, NodeAgent] = {}
        self._trouble = ""

    async def setup(self, worker: Any) -> None:
        """Make the providers; what goes wrong is told to the fleet, and is no fault of the worker's."""
        self._worker = worker
        self._heard = wall_seconds()
        self._thread = ThreadPoolExecutor(1, "gdviz-node")
        try:
            providers = await self._in_thread(self._supply.providers, worker.address)
            self._agents = {provider.node: NodeAgent(provider) for provider in providers}
        except Exception as error:  # noqa: BLE001  (a worker without RDMA is a worker all the same)
            kind = "" if isinstance(error, GdvizError) else f"{type(error).__name__}: "
            self._trouble = f"{kind}{error}"
        self._ticker = asyncio.create_task(self._tick_for_ever())

    async def teardown(self, worker: Any) -> None:
        """Give everything back."""
        del worker
        self._ticker.cancel()
        await self._close_agents()
        self._thread.shutdown(wait=False)

    def records(self) -> tuple[tuple[NodeRecord, ...], str]:
        """Return the nodes here, and what went wrong."""
        self._heard = wall_seconds()
        return tuple(agent.record for agent in self._agents.values()), self._trouble

    async def call(self, node: str, command: str, arguments: tuple[Any, ...]) -> Any:
        """Have a node's agent do a command.

        Raises
        ------
        GdvizError
            What the agent raised, or there is no such node here any more.
        """
        self._heard = wall_seconds()
        agent = self._agents.get(node)
        if agent is None:
            raise GdvizError(_("{node} is not on this worker any more.").format(node=node))
        answer = await self._in_thread(getattr(agent, command), *arguments)
        if command == "stop":
            await self._report(node, agent)
        return answer

    async def _in_thread(self, act: Callable[..., Any], *arguments: Any) -> Any:
        # One thread for all: neither the providers nor the agents expect to be called by two.
        return await asyncio.get_running_loop().run_in_executor(self._thread, act, *arguments)

    async def _tick_for_ever(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            for node, agent in tuple(self._agents.items()):
                if agent.busy:
                    await self._report(node, agent)
            if self._agents and wall_seconds() - self._heard > LEASE_S:
                await self._close_agents()

    async def _report(self, node: str, agent: NodeAgent) -> None:
        reports = await self._in_thread(agent.tick)
        if reports:
            self._worker.log_event(self.name, {"node": node, "reports": pickle.dumps(reports)})

    async def _close_agents(self) -> None:
        agents, self._agents = tuple(self._agents.values()), {}
        for agent in agents:
            try:
                await self._in_thread(agent.close)
            except Exception as error:  # noqa: BLE001  (the others are closed all the same)
                self._trouble = f"{type(error).__name__}: {error}"


def nodes_here(name: str, dask_worker: Any = None) -> tuple[str, tuple[NodeRecord, ...], str]:
    """Return gdviz's version on a worker, the nodes of a fleet there, and what went wrong."""
    plugin = dask_worker.plugins.get(name)
    return (VERSION, *(((), "") if plugin is None else plugin.records()))


async def call_here(
    name: str, node: str, command: str, arguments: tuple[Any, ...], dask_worker: Any = None
) -> tuple[str, Any]:
    """Do a command on a worker; return ``('answer', value)`` or ``('error', exception)``."""
    plugin = dask_worker.plugins.get(name)
    if plugin is None:
        return "lost", None
    try:
        return "answer", await plugin.call(node, command, arguments)
    except GdvizError as error:
        return "error", error
