"""Access flags of memory regions and queue pairs, with the numbers of ``enum ibv_access_flags``."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from enum import IntFlag
from typing import TypeAlias

from gdviz.errors import VerbsError
from gdviz.messages import _


class AccessFlags(IntFlag):
    """What may be done with a memory region, and by whom (``infiniband/verbs.h``)."""

    LOCAL_WRITE = 1 << 0
    REMOTE_WRITE = 1 << 1
    REMOTE_READ = 1 << 2
    REMOTE_ATOMIC = 1 << 3
    MW_BIND = 1 << 4
    ZERO_BASED = 1 << 5
    ON_DEMAND = 1 << 6
    HUGETLB = 1 << 7
    RELAXED_ORDERING = 1 << 20

    @classmethod
    def parse(cls, value: Access) -> AccessFlags:
        """Return flags from their names, joined by ``|`` or a comma, or from several of these.

        Parameters
        ----------
        value
            ``"local_write|remote_write"``, flags, an iterable of either; ``""`` and ``"local_read"``
            (which needs no flag) are none.

        Raises
        ------
        VerbsError
            EINVAL: no such flag.

        Examples
        --------
        >>> AccessFlags.parse("local_write|remote_write") == AccessFlags(3)
        True
        """
        if isinstance(value, AccessFlags):
            return value
        if not isinstance(value, str):
            if isinstance(value, bytes) or not isinstance(value, Iterable):
                raise VerbsError(
                    _("Access flags are names, not {value}.").format(value=repr(value)[:40]),
                    _("Write them like {example}.").format(example="'local_write|remote_write'"),
                    errno=errno.EINVAL,
                )
            flags = cls(0)
            for item in value:
                flags |= cls.parse(item)
            return flags
        flags = cls(0)
        for word in value.replace(",", "|").split("|"):
            name = word.strip().upper().replace(" ", "_").replace("-", "_").removeprefix("IBV_ACCESS_")
            if name in ("", "LOCAL_READ"):
                continue
            if name not in cls.__members__:
                raise VerbsError(
                    _("{name!r} is not an access flag.").format(name=word.strip()[:40]),
                    _("There are: {names}.").format(names=", ".join(cls.names())),
                    errno=errno.EINVAL,
                )
            flags |= cls[name]
        return flags

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all flags, in lower case."""
        return tuple(name.lower() for name in cls.__members__)

    @property
    def text(self) -> str:
        """The flags as `parse` reads them: ``'local_write|remote_write'``."""
        names = (name.lower() for name, flag in type(self).__members__.items() if flag in self)
        return "|".join(names) or "local_read"


Access: TypeAlias = "str | AccessFlags | Iterable[str | AccessFlags]"

#: What a buffer gets that others may write and read.
DEFAULT_ACCESS = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ
