"""What a worker can be told to do. Things are named by numbers; what cannot be done raises OSError."""

from __future__ import annotations

import errno
import ipaddress
import itertools
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gdviz.errors import VerbsError
from gdviz.messages import _
from gdviz.rdma.hardware.backends import Backend, choose
from gdviz.rdma.hardware.backends.base import Capacity, Completed, Context, Region
from gdviz.rdma.hardware.gpu import memory as gpu_memory
from gdviz.rdma.hardware.worker.copies import Stretch, host_copy
from gdviz.rdma.hardware.worker.direct import DirectWork
from gdviz.rdma.hardware.worker.memory import HostMemory, frames
from gdviz.rdma.hardware.worker.pingpong import PingPong
from gdviz.rdma.hardware.worker.queues import OpenedDevice, OpenedDomain, OpenedPair, SharedQueue
from gdviz.rdma.hardware.worker.service import SendService, StagedService
from gdviz.rdma.hardware.worker.staged import StagedWork
from gdviz.rdma.hardware.worker.watching import WatchedPingPong
from gdviz.rdma.hardware.worker.work import Order, Report, Work
from gdviz.rdma.requests import Opcode, RecvRequest, SendRequest
from gdviz.rdma.states import QpAttributes, QpState, QpType, check_transition

#: Where the kernel names the character device of each RDMA device, and where that is.
SYSFS, DEVICES = Path("/sys/class/infiniband_verbs"), Path("/dev/infiniband")

#: Entries of a GID table that are looked at.
MOST_GIDS = 16


@dataclass(eq=False)
class OpenedRegion:
    """A memory region, and the transfers that read or write it without the NIC."""

    domain: OpenedDomain
    region: Region
    close_too: Any = None


def _refuse(code: int) -> OSError:
    return OSError(code, os.strerror(code))


class Commands:
    """The things of one provider, and what is done with them."""

    def __init__(self) -> None:
        self._next = itertools.count(1)
        self._backend: Backend | None = None
        self._things: dict[int, Any] = {}
        self._works: dict[int, Work] = {}

    @property
    def running(self) -> list[Work]:
        """Works that go on."""
        return [work for work in self._works.values() if not work.final]

    def _add(self, thing: Any) -> int:
        number = next(self._next)
        self._things[number] = thing
        return number

    # The binding and its devices

    def hello(self, names: Sequence[str]) -> tuple[str, str, list[str]]:
        """Choose a binding; return its name, its version, and the devices it sees."""
        self._backend = choose(names) if names else choose()
        try:
            devices = self._backend.devices()
        except OSError:
            devices = []  # pyverbs fails where there is none
        return self._backend.name, self._backend.version, devices

    def open(self, name: str, port: int, gid_index: int | None) -> tuple[int, str, int, int, int, bool]:
        """Open a device; return its number, GID, GID index, MTU in bytes, LID, and whether it is Ethernet."""
        assert self._backend is not None
        try:
            context = self._backend.open(name)
        except OSError:
            # libibverbs says ENOENT of a device that may not be opened: it has looked elsewhere, too.
            if may_not_open(name):
                raise _refuse(errno.EACCES) from None
            raise
        try:
            found = context.port(port)
            index = gid_index if gid_index is not None else _best_gid(context, port, ethernet=found.ethernet)
            gid = context.gid(port, index)
            if not int(ipaddress.IPv6Address(gid)):
                raise VerbsError(
                    _("Entry {index} of the GID table of {nic} is empty.").format(index=index, nic=name),
                    _("Give the network card an address, or choose another entry: `rdma link`, `show_gids`."),
                    errno=errno.EINVAL,
                )
        except BaseException:
            context.close()
            raise
        opened = OpenedDevice(name, context, found, gid, index)
        return self._add(opened), gid, index, found.mtu_bytes, found.lid, found.ethernet

    def alloc_pd(self, device: int) -> int:
        """Make a protection domain."""
        opened: OpenedDevice = self._things[device]
        return self._add(OpenedDomain(opened, opened.context.domain()))

    def create_cq(self, device: int, depth: int) -> int:
        """Make a completion queue."""
        opened: OpenedDevice = self._things[device]
        return self._add(SharedQueue(opened, opened.context.queue(depth)))

    # Memory

    def alloc(self, size_bytes: int, align: int, gpu: str | None = None) -> tuple[int, int, int]:
        """Allocate memory, of a GPU if its bus id is given.

        Returns
        -------
        tuple
            Its number, its address, and where it begins in its file (-1: it has none).
        """
        if gpu is not None:
            memory: Any = gpu_memory.GpuMemory(gpu, size_bytes, align)
            return self._add(memory), memory.address, -1
        memory = HostMemory(size_bytes, align)
        return self._add(memory), memory.address, memory.offset

    def file_of(self, answer: tuple[int, int, int]) -> int | None:
        """Return the file of memory that `alloc` has just given."""
        return getattr(self._things[answer[0]], "fd", None)

    def gpu_read(self, memory: int, offset: int, length: int) -> bytes:
        """Read GPU memory."""
        data: bytes = self._things[memory].read(offset, length)
        return data

    def gpu_write(self, memory: int, offset: int, data: bytes) -> None:
        """Write GPU memory."""
        self._things[memory].write(offset, data)

    def register(
        self, domain: int, memory: int, offset: int, length: int, access: int
    ) -> tuple[int, int, int, str, list[tuple[int, int | None, int]]]:
        """Register memory; return number, lkey, rkey, how, and its pages as `frames` gives them."""
        opened: OpenedDomain = self._things[domain]
        held = self._things[memory]
        if held.on_gpu:
            region, how, closer = gpu_memory.register(opened.domain, held, offset, length, access)
            pages: list[tuple[int, int | None, int]] = [(held.address + offset, None, length)]
        else:
            region = opened.domain.register(held.address + offset, length, access)
            how, closer, pages = "host pages", None, frames(held.address + offset, length)
        opened.users += 1
        return self._add(OpenedRegion(opened, region, closer)), region.lkey, region.rkey, how, pages

    # Queue pairs

    def create_qp(
        self, domain: int, send: int, receive: int, kind: int, capacity: Capacity
    ) -> tuple[int, int]:
        """Make a queue pair; return its number here and its number on the wire."""
        opened: OpenedDomain = self._things[domain]
        queues: list[SharedQueue] = [self._things[send], self._things[receive]]
        if any(queue.device is not opened.device for queue in queues):
            raise _refuse(errno.EINVAL)
        made = opened.domain.pair(queues[0].queue, queues[1].queue, kind, capacity)
        numbers = (capacity.max_send_wr, capacity.max_recv_wr, capacity.max_inline)
        pair = OpenedPair(opened, made, QpType(kind), queues[0], queues[1], *numbers)
        opened.users += 1
        for queue in queues:
            queue.pairs[made.qp_num] = pair
        return self._add(pair), made.qp_num

    def modify(self, pair: int, steps: Sequence[tuple[QpState, QpAttributes]], lid: int) -> None:
        """Change a queue pair's state, step by step; ``ah_attr`` is the other port's GID.

        Parameters
        ----------
        steps
            Each with the state to go to. One that the pair is past already is left out.
        """
        found: OpenedPair = self._things[pair]
        now = QpState(found.pair.state())
        for number, (state, attributes) in enumerate(steps):
            skip = number + 1 < len(steps) and state is now
            if not skip:
                self._step(found, now, state, attributes, lid)
                now = state

    def _step(
        self, found: OpenedPair, now: QpState, state: QpState, attributes: QpAttributes, lid: int
    ) -> None:
        check_transition(now, state, found.kind, attributes)
        given: dict[str, Any] = dict(attributes)
        gid = given.pop("ah_attr", None)
        if "path_mtu" in given:
            given["path_mtu"] = min(given["path_mtu"], found.domain.device.port.mtu_bytes)
        found.pair.modify(state.value, given, None if gid is None else found.path_to(gid, lid))
        if state is QpState.RESET:
            found.empty_receives = found.aimed_receives = 0
            found.posted = found.freed = 0
            found.signals.clear()
            for queue in (found.send, found.receive):
                queue.set_aside()
                kept = [entry for entry in queue.kept if entry[4] != found.number]
                queue.kept.clear()
                queue.kept.extend(kept)

    def state(self, pair: int) -> int:
        """Ask for a queue pair's state."""
        found: OpenedPair = self._things[pair]
        return found.pair.state()

    def post_send(self, pair: int, request: SendRequest) -> None:
        """Post a request; the state is looked at first, which a binding does not everywhere."""
        found: OpenedPair = self._things[pair]
        if found.work is not None:
            raise _refuse(errno.EBUSY)
        if found.pair.state() < 3:
            raise _refuse(errno.EINVAL)
        if found.full:
            raise _refuse(errno.ENOMEM)
        found.pair.send(request)
        found.note_send(request.wr_id, signaled=request.signaled)

    def post_recv(self, pair: int, request: RecvRequest) -> None:
        """Post a receive."""
        found: OpenedPair = self._things[pair]
        if found.pair.state() < 1:
            raise _refuse(errno.EINVAL)
        found.pair.receive(request)

    def poll(self, queue: int, most: int) -> list[Completed]:
        """Take completions."""
        found: SharedQueue = self._things[queue]
        return found.poll(most)

    # Transfers

    def start(
        self,
        kind: str,
        pairs: Sequence[int],
        order: Order,
        data: tuple[int, int],
        bounce: tuple[int, int] | None = None,
    ) -> int:
        """Begin a transfer, or the other end's part of one; return its number.

        Parameters
        ----------
        kind
            ``run``, ``serve``, ``ping`` or ``pong``.
        data, bounce
            Memory and where to begin in it.
        """
        chosen: list[OpenedPair] = [self._things[pair] for pair in pairs]
        memory = self._things[data[0]]
        if kind in ("ping", "pong"):
            first = kind == "ping"
            if order.opcode is not Opcode.RDMA_WRITE:
                work: Work = PingPong(chosen, order, first=first)
            elif memory.on_gpu:
                raise _refuse(errno.EOPNOTSUPP)
            else:
                view = memory.view[data[1] : data[1] + order.size_bytes]
                work = WatchedPingPong(chosen, order, view, first=first)
        elif order.staged:
            assert bounce is not None
            held = self._things[bounce[0]]
            start = gpu_memory.copier(memory, held) if memory.on_gpu else host_copy
            kinds = StagedWork if kind == "run" else StagedService
            work = kinds(chosen, order, Stretch(memory, data[1]), Stretch(held, bounce[1]), start)
        elif kind == "run":
            work = DirectWork(chosen, order)
        else:
            work = SendService(chosen, order)
        number = next(self._next)
        self._works[number] = work
        return number

    def report(self, work: int) -> Report:
        """Tell how a transfer is; one that has ended is forgotten then."""
        told = self._works[work].report()
        if self._works[work].final:
            del self._works[work]
        return told

    def stop(self, work: int) -> None:
        """Begin no more messages."""
        if work in self._works:
            self._works[work].stop()

    def finish(self, work: int, patience_s: float) -> Report:
        """Stop a transfer and wait for its end, not longer than this."""
        found = self._works[work]
        found.finish(patience_s)
        return self.report(work)

    def region_gone(self, work: int) -> None:
        """Let a staged transfer know that its buffer may no longer be touched."""
        if work in self._works:
            self._works[work].region_gone = True

    # Giving back

    def give_back(self, thing: int) -> None:
        """Close a thing: memory, region, queue pair, queue, domain or device."""
        found = self._things[thing]
        if isinstance(found, OpenedPair):
            self._close_pair(found)
        elif isinstance(found, SharedQueue):
            if found.pairs:
                raise _refuse(errno.EBUSY)
            found.queue.close()
        elif isinstance(found, OpenedDomain):
            if found.users:
                raise _refuse(errno.EBUSY)
            found.domain.close()
        elif isinstance(found, OpenedRegion):
            found.region.close()
            found.domain.users -= 1
            if found.close_too is not None:
                found.close_too()
        elif isinstance(found, OpenedDevice):
            found.context.close()
        else:
            found.close()
        del self._things[thing]

    def _close_pair(self, pair: OpenedPair) -> None:
        if isinstance(pair.work, Work) and not pair.work.final:
            pair.work.finish(0.2)
        pair.pair.close()
        pair.domain.users -= 1
        for queue in (pair.send, pair.receive):
            queue.pairs.pop(pair.number, None)
            # A new queue pair may get the same number: nothing old may be taken for its own.
            kept = [entry for entry in queue.kept if entry[4] != pair.number]
            queue.kept.clear()
            queue.kept.extend(kept)

    def close(self) -> None:
        """Give everything back, in reverse order."""
        for work in self.running:
            with suppress(OSError):
                work.finish(0.2)
        self._works.clear()
        for thing in sorted(self._things, reverse=True):
            with suppress(Exception):  # one thing that cannot be given back keeps none of the others
                self.give_back(thing)


def may_not_open(name: str, sysfs: Path = SYSFS, devices: Path = DEVICES) -> bool:
    """Whether a device is there and this user may not open it."""
    for entry in sysfs.glob("*/ibdev"):
        with suppress(OSError):
            if entry.read_text().strip() == name:
                node = devices / entry.parent.name
                return node.exists() and not os.access(node, os.R_OK | os.W_OK)
    return False


def _best_gid(context: Context, port: int, *, ethernet: bool) -> int:
    """Return the index of the GID to use: on Ethernet one that is an IPv4 address, of RoCE v2."""
    if not ethernet:
        return 0
    gids = []
    for index in range(MOST_GIDS):
        try:
            gids.append(ipaddress.IPv6Address(context.gid(port, index)))
        except OSError:
            break
    mapped = [index for index, gid in enumerate(gids) if gid.ipv4_mapped is not None]
    # RoCE v1 and v2 of one address stand side by side, in this order.
    same = [index for index in mapped if gids[index] == gids[mapped[0]]]
    return same[-1] if same else 0
