"""Which bytes of a buffer may be used, and which registered: the same words from every provider."""

from __future__ import annotations

import errno
from typing import Protocol

from gdviz.errors import RegistrationError, VerbsError
from gdviz.messages import _
from gdviz.quantities import format_size


class Sized(Protocol):
    """What is asked of a buffer."""

    @property
    def size_bytes(self) -> int:
        """Its length."""

    @property
    def freed(self) -> bool:
        """Whether it is gone."""


def check_use(buffer: Sized, offset: int, length: int) -> None:
    """Refuse bytes that are not in a buffer.

    Raises
    ------
    VerbsError
        EFAULT where the buffer has been freed, EINVAL where bytes lie outside of it.
    """
    if buffer.freed:
        raise VerbsError(_("This buffer has been freed."), errno=errno.EFAULT)
    if offset < 0 or length < 0 or offset + length > buffer.size_bytes:
        raise VerbsError(
            _("Bytes {first} to {last} are outside of a buffer of {size}.").format(
                first=offset, last=offset + length, size=format_size(buffer.size_bytes)
            ),
            errno=errno.EINVAL,
        )


def check_range(buffer: Sized, offset: int, length: int) -> None:
    """Refuse a range that cannot be registered.

    Raises
    ------
    RegistrationError
        EFAULT where the buffer has been freed, EINVAL where the range is empty or not inside of it.
    """
    if buffer.freed:
        raise RegistrationError(
            _("This buffer has been freed: EFAULT (14)."), _("Allocate a new one."), errno=errno.EFAULT
        )
    if offset < 0 or length < 1 or offset + length > buffer.size_bytes:
        raise RegistrationError(
            _("Bytes {first} to {last} are not inside of a buffer of {size}: EINVAL (22).").format(
                first=offset, last=offset + length, size=format_size(buffer.size_bytes)
            ),
            errno=errno.EINVAL,
        )
