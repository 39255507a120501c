"""A worker process, seen from the program that uses it."""

from __future__ import annotations

import errno
import threading
from contextlib import suppress
from typing import Any

from gdviz.errors import GdvizError, MissingDependencyError, VerbsError
from gdviz.messages import _
from gdviz.rdma.hardware.errnos import named
from gdviz.rdma.hardware.launch import start_worker
from gdviz.rdma.hardware.line import LineClosed


class WorkerGone(VerbsError):
    """The worker process has ended: killed, or crashed in a library below."""


class Worker:
    """Calls commands of a worker process, one after the other."""

    def __init__(self, node: str) -> None:
        self._node = node
        self._line, self.pid = start_worker()
        self._lock = threading.Lock()
        self.gone = False
        self.closed = False

    def call(
        self,
        command: str,
        *arguments: Any,
        what: str = "",
        error: type[VerbsError] = VerbsError,
        remedies: dict[int, str] | None = None,
        **options: Any,
    ) -> Any:
        """Have a command done and return its answer.

        Parameters
        ----------
        what
            What failed, as a sentence's beginning, for the error.
        remedies
            What to do, by errno.

        Raises
        ------
        VerbsError
            Of the kind `error`, with the errno that libibverbs gave.
        WorkerGone
            ENODEV: the process has ended.
        """
        return self.call_with_files(
            command, *arguments, what=what, error=error, remedies=remedies, **options
        )[0]

    def call_with_files(
        self,
        command: str,
        *arguments: Any,
        what: str = "",
        error: type[VerbsError] = VerbsError,
        remedies: dict[int, str] | None = None,
        **options: Any,
    ) -> tuple[Any, list[int]]:
        """Do the same, and return the files that came with the answer as well."""
        with self._lock:
            if self.gone or self.closed:
                raise self._ended()
            try:
                self._line.send((command, arguments, options))
                (kind, *rest), files = self._line.receive()
            except LineClosed:
                self.gone = True
                raise self._ended() from None
        if kind == "ok":
            return rest[0], files
        code, message, remedy = rest
        if kind == "os":
            sentence = _("{what}: {error}.").format(what=what or command, error=named(code))
            raise error(sentence, (remedies or {}).get(code, ""), errno=code)
        if kind == "missing":
            raise MissingDependencyError(message, remedy)
        if kind == "gdviz" and code is not None:
            raise error(message, remedy, errno=code)
        raise GdvizError(message, remedy)

    def _ended(self) -> WorkerGone:
        if self.closed:
            return WorkerGone(_("{node} has been closed.").format(node=self._node), errno=errno.ENODEV)
        return WorkerGone(
            _("The process {pid} that holds the verbs of {node} has ended.").format(
                pid=self.pid, node=self._node
            ),
            _("What it held is free. Open the node again."),
            errno=errno.ENODEV,
        )

    def close(self) -> None:
        """Let the process end: it gives back what it holds."""
        with self._lock:
            if not self.closed:
                self.closed = True
                with suppress(OSError):
                    self._line.close()
