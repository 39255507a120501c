"""The engine thread: one event loop that owns a session's state.

Cells and widget callbacks run in threads and at moments that nobody can rely on (ipykernel changed both
between releases), so they never touch state: they hand the engine a coroutine and wait for its answer.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from gdviz.errors import SessionClosedError
from gdviz.messages import _

Answer = TypeVar("Answer")

#: How soon an interrupt of a cell that awaits something is felt, at the latest.
_WAKE_S = 0.1

#: How long `close` waits for the thread to end; it has nothing to wait for itself.
_JOIN_S = 5.0


async def finished(done: concurrent.futures.Future[Answer]) -> Answer:
    """Return the answer of a future of another loop, so that an interrupt of the waiting cell is felt.

    A signal's handler that only cancels a task does not wake a loop that sleeps: a kernel with nothing
    else to do would notice the stop button at its next message. This loop wakes up by itself.
    """
    here = asyncio.wrap_future(done)
    # Who stopped waiting is not told any more what became of it, and asyncio need not complain of that.
    here.add_done_callback(lambda future: future.cancelled() or future.exception())
    while not here.done():
        # `wait`, unlike `wait_for`, leaves the future alone when it is cancelled.
        await asyncio.wait({here}, timeout=_WAKE_S)
    return here.result()


class Engine:
    """A daemon thread with its own event loop.

    Parameters
    ----------
    name
        Name of the thread, for people who list them.
    """

    def __init__(self, name: str = "gdviz-engine") -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._cancel_all()
            self._loop.close()

    def _cancel_all(self) -> None:
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        if tasks:
            self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The engine's event loop."""
        return self._loop

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive() and not self._loop.is_closed()

    @property
    def here(self) -> bool:
        """Whether the caller is on the engine's thread."""
        return threading.current_thread() is self._thread

    def submit(self, work: Coroutine[Any, Any, Answer]) -> concurrent.futures.Future[Answer]:
        """Start a coroutine on the engine and return its future.

        Raises
        ------
        SessionClosedError
            The engine has stopped.
        """
        if not self.alive:
            work.close()
            raise SessionClosedError(_("This session is closed."), _("Open a new one with gdviz.lab()."))
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def ask(self, work: Coroutine[Any, Any, Answer]) -> Answer:
        """Run a coroutine on the engine and wait for its answer.

        An interrupt of the waiting thread (the stop button of a notebook) cancels the work.
        """
        if self.here:
            work.close()
            raise RuntimeError("the engine cannot wait for itself; await the coroutine instead")
        future = self.submit(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Stop the loop and wait for the thread to end; closing twice is allowed."""
        if self._loop.is_closed():
            return
        try:
            self._loop.call_soon_threadsafe(self._loop.stop)
        except RuntimeError:  # closed in between
            return
        if not self.here:
            self._thread.join(_JOIN_S)
