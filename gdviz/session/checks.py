"""What people pass to the session, looked at before anything is done with it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.session.objects import Buffer, MemoryRegion

if TYPE_CHECKING:
    from gdviz.session.session import Session

Choice = TypeVar("Choice", bound=StrEnum)


def choice(kind: type[Choice], value: Any) -> Choice:
    """Return the member of an enumeration that a word names.

    Raises
    ------
    GdvizError
        There is none of that name; the message lists them.
    """
    try:
        return kind(value)
    except ValueError:
        raise GdvizError(
            _("{value} is not one of {names}.").format(
                value=repr(value)[:60], names=", ".join(repr(str(member)) for member in kind)
            )
        ) from None


def own_memory(session: Session, value: object, name: str) -> Buffer | MemoryRegion:
    """Return a buffer or region of this session.

    Raises
    ------
    GdvizError
        It is something else, or another session's.
    """
    if not isinstance(value, Buffer | MemoryRegion):
        raise GdvizError(
            _("{name} must be a buffer or a memory region, not {value}.").format(
                name=name, value=repr(value)[:60]
            )
        )
    if value._session is not session:
        raise GdvizError(
            _("{name} belongs to another session.").format(name=name),
            _("Allocate and register in the session that moves the bytes."),
        )
    return value
