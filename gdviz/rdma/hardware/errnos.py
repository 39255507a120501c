"""Numbers of errors as people write and search for them."""

from __future__ import annotations

import errno

#: Where one number has two names, the one that libibverbs' users know.
_KNOWN = {errno.EOPNOTSUPP: "EOPNOTSUPP", errno.EAGAIN: "EAGAIN", errno.EDEADLK: "EDEADLK"}


def named(code: int) -> str:
    """Return an errno with its name: ``EINVAL (22)``."""
    return f"{_KNOWN.get(code) or errno.errorcode.get(code, '?')} ({code})"
