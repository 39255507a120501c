"""A line between two processes of one computer: Python objects and open files over a socket pair."""

from __future__ import annotations

import pickle
import select
import socket
import struct
from collections.abc import Sequence
from typing import Any

_HEAD = struct.Struct("!Q")


class LineClosed(Exception):
    """The other end is gone."""


class Line:
    """One end."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self._poll = select.poll()
        self._poll.register(end, select.POLLIN | select.POLLHUP)

    @classmethod
    def pair(cls) -> tuple[Line, Line]:
        """Return both ends."""
        one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        return cls(one), cls(other)

    def fileno(self) -> int:
        """Return the socket's file descriptor."""
        return self._socket.fileno()

    def ready(self, timeout_s: float | None = 0.0) -> bool:
        """Whether there is something to receive (or the other end is gone), in a time; None: for ever."""
        return bool(self._poll.poll(None if timeout_s is None else timeout_s * 1e3))

    def send(self, thing: Any, files: Sequence[int] = ()) -> None:
        """Send an object, with open files.

        Raises
        ------
        LineClosed
            The other end is gone.
        """
        data = pickle.dumps(thing, protocol=pickle.HIGHEST_PROTOCOL)
        try:
            if files:
                socket.send_fds(self._socket, [_HEAD.pack(len(data))], list(files))
            else:
                self._socket.sendall(_HEAD.pack(len(data)))
            self._socket.sendall(data)
        except OSError as error:
            raise LineClosed(str(error)) from error

    def receive(self) -> tuple[Any, list[int]]:
        """Receive an object and its files.

        Raises
        ------
        LineClosed
            The other end is gone.
        """
        try:
            head, files, _flags, _address = socket.recv_fds(self._socket, _HEAD.size, 4)
            while head and len(head) < _HEAD.size:
                head += self._take(_HEAD.size - len(head))
            if not head:
                raise LineClosed("end of file")
            return pickle.loads(self._take(_HEAD.unpack(head)[0])), files
        except OSError as error:
            raise LineClosed(str(error)) from error

    def _take(self, length: int) -> bytes:
        parts = bytearray()
        while len(parts) < length:
            part = self._socket.recv(min(length - len(parts), 1 << 20))
            if not part:
                raise LineClosed("end of file")
            parts += part
        return bytes(parts)

    def close(self) -> None:
        """Close this end."""
        self._socket.close()
