"""Starting worker processes.

A worker is not forked from the program that wants it, which may have threads and a notebook's sockets, and is
not started anew each time, which takes a second: the first one starts a launcher, a process that has imported
what workers need and forks one for each provider. All of them end with the program that started them.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

from gdviz.rdma.hardware.line import Line, LineClosed

_START = "import sys; sys.path[:] = {path!r}; from gdviz.rdma.hardware.launch import main; main({fd})"


class _Launcher:
    """The launcher process of this program."""

    def __init__(self) -> None:
        self._line, theirs = Line.pair()
        fd = theirs.fileno()
        # A session of its own: the terminal's Ctrl-C is for the program, not for transfers.
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START.format(path=sys.path, fd=fd)],
            pass_fds=[fd],
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        self.owner = os.getpid()
        atexit.register(self.close)

    def close(self) -> None:
        """Let it end, and its workers with it."""
        if self.owner == os.getpid():
            self._line.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(2)

    @property
    def alive(self) -> bool:
        """Whether it is there, and this program's own (not that of a program it was forked from)."""
        return self.owner == os.getpid() and self._process.poll() is None

    def fork(self) -> tuple[Line, int]:
        """Return a line to a new worker, and its process id."""
        mine, theirs = Line.pair()
        self._line.send("fork", [theirs.fileno()])
        theirs.close()
        pid, _files = self._line.receive()
        return mine, int(pid)


_lock = threading.Lock()
_launcher: _Launcher | None = None


def start_worker() -> tuple[Line, int]:
    """Start a worker; return the line to it and its process id."""
    global _launcher
    with _lock:
        for _attempt in range(2):
            if _launcher is None or not _launcher.alive:
                _launcher = _Launcher()
            try:
                return _launcher.fork()
            except LineClosed:
                _launcher = None
    raise OSError("the process that starts workers does not start")


def main(fd: int) -> None:
    """Run the launcher: fork a worker for each request, until the program is gone."""
    from gdviz.rdma.hardware.backends import preload
    from gdviz.rdma.hardware.worker.serve import serve

    preload()
    # What is here now is never garbage; without this each worker's collector would copy all of it.
    gc.freeze()

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Workers that have ended are not kept as zombies.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    control = Line(socket.socket(fileno=fd))
    with suppress(LineClosed):
        while True:
            _word, files = control.receive()
            pid = os.fork()
            if pid == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                control.close()
                status = 1
                try:
                    serve(Line(socket.socket(fileno=files[0])))
                    status = 0
                finally:
                    os._exit(status)
            os.close(files[0])
            control.send(pid)
