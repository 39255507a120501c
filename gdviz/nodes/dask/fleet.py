"""A fleet whose nodes are workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import logging
import pickle
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from distributed import Client, Security

from gdviz.errors import GdvizError, NodeLostError, UnknownDeviceError
from gdviz.messages import _
from gdviz.nodes.dask.plugin import LEASE_S, SIGN_S, NodePlugin, call_here, nodes_here
from gdviz.nodes.dask.supply import HardwareNodes, SimulatedNodes, Supply
from gdviz.nodes.fleet import LostHandler, ReportHandler
from gdviz.nodes.records import NodeRecord
from gdviz.version import VERSION

log = logging.getLogger(__name__)

#: Seconds that a scheduler has to answer.
CONNECT_S = 10.0


class DaskFleet:
    """Nodes on the workers of a Dask cluster.

    Make one with `open`, on the event loop that shall own it.
    """

    def __init__(self, client: Any, name: str) -> None:
        self._client = client
        self._name = name
        self._records: dict[str, NodeRecord] = {}
        self._where: dict[str, str] = {}
        self._handlers: list[ReportHandler] = []
        self._lost_handlers: list[LostHandler] = []
        self._signs: asyncio.Task[None] | None = None
        self._registered = False
        self._scheduler_gone = False

    @classmethod
    async def open(
        cls,
        scheduler: str,
        *,
        supply: Callable[[str], Supply] | None = None,
        security: Security | None = None,
        timeout_s: float = CONNECT_S,
    ) -> DaskFleet:
        """Connect to a scheduler and set up a node on each worker.

        Parameters
        ----------
        scheduler
            Address, such as ``tcp://10.0.0.1:8786`` or ``tls://...``.
        supply
            From the address of the first worker to what the nodes are; by default each worker's own
            hardware.
        security
            Dask's certificates for TLS.
        timeout_s
            How long the scheduler may take to answer.

        Raises
        ------
        GdvizError
            No scheduler answers, it has no worker, gdviz there is of another version, or no worker has a
            node; the message says which.
        """
        client = None
        try:
            client = Client(  # type: ignore[no-untyped-call]
                scheduler, asynchronous=True, security=security, timeout=timeout_s, set_as_default=False
            )
            await client
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            if client is not None:
                await client.close()  # type: ignore[no-untyped-call]
            raise GdvizError(
                _("No Dask scheduler answers at {address}: {error}.").format(
                    address=repr(scheduler)[:120], error=str(error).rstrip(".")[:200]
                ),
                _("Start one with: dask scheduler, and on each node: dask worker ADDRESS --nthreads 2."),
            ) from None
        fleet = cls(client, f"gdviz-{uuid.uuid4().hex[:8]}")
        try:
            await fleet._set_up(supply)
        except BaseException:
            await fleet.close()
            raise
        return fleet

    async def _set_up(self, supply: Callable[[str], Supply] | None) -> None:
        identity = await self._client.scheduler.identity(n_workers=-1)
        workers = sorted(identity["workers"])
        if not workers:
            raise GdvizError(
                _("The Dask scheduler has no worker."), _("Start one on each node: dask worker ADDRESS.")
            )
        chosen = supply(workers[0]) if supply is not None else HardwareNodes()
        try:
            await self._client.register_plugin(NodePlugin(self._name, chosen), name=self._name)
            self._registered = True
        except Exception as error:
            raise GdvizError(
                _("gdviz cannot be loaded on the workers: {error}.").format(error=str(error)[:200]),
                _("Install the same version there: pip install gdviz=={version}.").format(version=VERSION),
            ) from error
        troubles = await self._find_nodes()
        if not self._records:
            raise GdvizError(
                _("No worker has a node. {troubles}").format(troubles=" ".join(troubles)[:600]).strip(),
                _("gdviz nodes says on each of them what is missing."),
            )
        self._client.subscribe_topic(self._name, self._on_report)
        self._client.subscribe_topic("all", self._on_cluster)
        self._signs = asyncio.create_task(self._give_signs())

    async def _find_nodes(self) -> list[str]:
        """Note which worker holds which node; return what went wrong, a sentence a worker."""
        troubles = []
        told = await self._client.run(nodes_here, self._name)
        for address, (version, records, trouble) in sorted(told.items()):
            if version != VERSION:
                raise GdvizError(
                    _("gdviz is {theirs} on {worker} and {ours} here.").format(
                        theirs=version, worker=address, ours=VERSION
                    ),
                    _("Install the same version on both."),
                )
            if trouble:
                troubles.append(f"{address}: {trouble}")
            for record in records:
                self._place(record, address)
        return troubles

    def _place(self, record: NodeRecord, address: str) -> None:
        known = self._where.get(record.name)
        if known is not None and known != address:
            raise GdvizError(
                _("Two workers are both the node {name!r}: {one} and {other}.").format(
                    name=record.name, one=known, other=address
                ),
                _("Run one worker on each host."),
            )
        self._records.setdefault(record.name, record)
        self._where[record.name] = address

    @property
    def nodes(self) -> tuple[NodeRecord, ...]:
        """The nodes, by name of their workers; those that are lost stay in the list."""
        return tuple(self._records.values())

    async def call(self, node: str, command: str, *arguments: Any) -> Any:
        """Have a node's agent do a command and return its answer.

        Raises
        ------
        GdvizError
            What the agent raised.
        NodeLostError
            The node's worker is gone.
        """
        if node not in self._records:
            raise UnknownDeviceError(_("There is no node {node!r}.").format(node=node))
        address = self._where.get(node)
        if address is None:
            raise self._gone(node)
        try:
            told = await self._client.run(call_here, self._name, node, command, arguments, workers=[address])
        except (OSError, TimeoutError, KeyError, ValueError):
            # distributed says in many ways that a worker is not there.
            self._lose(node)
            raise self._gone(node) from None
        kind, value = told.get(address, ("lost", None))
        if kind == "error":
            raise value
        if kind == "lost":
            self._lose(node)
            raise self._gone(node)
        return value

    def subscribe(self, handler: ReportHandler) -> None:
        """Have reports of running transfers handed to `handler`."""
        self._handlers.append(handler)

    def on_lost(self, handler: LostHandler) -> None:
        """Have `handler` told of nodes that are gone."""
        self._lost_handlers.append(handler)

    async def close(self) -> None:
        """Close every node and leave the cluster as it was."""
        if self._signs is not None:
            self._signs.cancel()
        with suppress(Exception):  # never subscribed, or the scheduler is gone
            for topic in (self._name, "all"):
                self._client.unsubscribe_topic(topic)
        if self._registered:
            with suppress(Exception):  # a scheduler that is gone holds nothing; workers let go by themselves
                await self._client.unregister_worker_plugin(self._name)
        await self._client.close()

    def _on_report(self, event: Any) -> None:
        _time, told = event
        reports = pickle.loads(told["reports"])
        for handler in self._handlers:
            handler(told["node"], reports)

    def _on_cluster(self, event: Any) -> None:
        _time, told = event
        if not isinstance(told, dict) or told.get("action") != "remove-worker":
            return
        gone = told.get("worker")
        for node in [node for node, address in self._where.items() if address == gone]:
            self._lose(node)

    def _lose(self, node: str) -> None:
        if self._where.pop(node, None) is None:
            return
        why = str(self._gone(node))
        for handler in self._lost_handlers:
            handler(node, why)

    def _gone(self, node: str) -> NodeLostError:
        if self._scheduler_gone:
            return NodeLostError(
                _("{node} is gone: the Dask scheduler does not answer any more.").format(node=node),
                _("Its worker gives back what it held; start both again and open a new lab."),
            )
        return NodeLostError(
            _("{node} is gone: its Dask worker has ended.").format(node=node),
            _("What it held is lost; start the worker again and open a new lab."),
        )

    async def _give_signs(self) -> None:
        """Tell the workers that this fleet lives, and notice when nobody can be told any more."""
        while True:
            await asyncio.sleep(SIGN_S)
            addresses = sorted(set(self._where.values()))
            if not addresses:
                continue
            telling = self._client.run(nodes_here, self._name, workers=addresses, on_error="ignore")
            try:
                await asyncio.wait_for(telling, LEASE_S / 3)
            except TimeoutError:
                continue  # a worker that hangs must not keep the others from hearing of us
            except Exception as error:  # noqa: BLE001  (distributed says it in many ways)
                log.info("no sign could be given: %r", error)
                self._scheduler_gone = True
                for node in tuple(self._where):
                    self._lose(node)


def simulated(machines: Any, **options: Any) -> Callable[[str], Supply]:
    """Return the supply of simulated nodes, all on the first worker; options as in `SimulatedNodes`."""

    def supply(worker: str) -> Supply:
        return SimulatedNodes(worker, tuple(machines), **options)

    return supply
