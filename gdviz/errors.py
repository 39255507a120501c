"""One tree of exceptions. Each carries a sentence and, where there is one, the remedy.

A user's mistake ends in one of these, never in a bare traceback from below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


class GdvizError(Exception):
    """Base of everything gdviz raises on purpose.

    Parameters
    ----------
    message
        What is wrong and where, in one sentence.
    remedy
        What the reader can do about it, in one sentence; may be empty.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message} {self.remedy}".strip()

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors travel between processes, whatever their kind takes when it is made.
        return _again, (type(self), self.args, dict(self.__dict__))

    def _render_traceback_(self) -> list[str]:
        # IPython calls this: a user's mistake shows as one sentence, not as a stack.
        return [f"{type(self).__name__}: {self}"]


def _again(kind: type[GdvizError], arguments: tuple[Any, ...], fields: dict[str, Any]) -> GdvizError:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    error.__dict__.update(fields)
    return error


class QuantityError(GdvizError, ValueError):
    """A size, rate or duration could not be read."""


class ReaderError(GdvizError, ValueError):
    """A file is not of the format it was opened as, or cannot be read at all."""


class UnknownDeviceError(GdvizError, LookupError):
    """No GPU, NIC or node of that name, bus id or index."""


class MissingDependencyError(GdvizError, ImportError):
    """Something optional is not installed; the remedy names the command."""


class VerbsError(GdvizError):
    """A verbs call failed.

    Parameters
    ----------
    errno
        The errno that ``libibverbs`` gives for it, as a positive number.
    """

    def __init__(self, message: str, remedy: str = "", *, errno: int) -> None:
        super().__init__(message, remedy)
        self.errno = errno


class RegistrationError(VerbsError):
    """A memory region could not be registered."""


class AllocationError(VerbsError):
    """Memory could not be allocated."""


class QueuePairStateError(VerbsError):
    """A call that the queue pair's present state does not allow."""


class TransferError(GdvizError):
    """A transfer could not be started, or ended with a bad completion status."""


class NodeLostError(GdvizError):
    """A node that was there is gone."""


class SessionClosedError(GdvizError):
    """The session has been closed; nothing can be asked of it any more."""
