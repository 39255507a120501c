"""What people name a Dask cluster by: an address, or a client or cluster that they have already."""

from __future__ import annotations

from typing import Any

from gdviz.errors import GdvizError
from gdviz.messages import _


def address_of(scheduler: Any) -> tuple[str, Any]:
    """Return a scheduler's address, and the certificates that go with it.

    Parameters
    ----------
    scheduler
        An address such as ``tcp://10.0.0.1:8786``, or a `distributed.Client` or a cluster (`LocalCluster`,
        `SSHCluster`, those of dask-jobqueue). gdviz connects on its own; theirs is left as it is.

    Raises
    ------
    GdvizError
        It is none of these.
    """
    if isinstance(scheduler, str):
        return scheduler, None
    security = getattr(scheduler, "security", None)
    for holder in (getattr(scheduler, "scheduler", None), scheduler):
        for name in ("address", "scheduler_address"):
            address = getattr(holder, name, None)
            if isinstance(address, str) and "://" in address:
                return address, security
    raise GdvizError(
        _("scheduler must be an address, a Dask client or a Dask cluster, not {value}.").format(
            value=repr(scheduler)[:60]
        ),
        _("An address is such as tcp://10.0.0.1:8786."),
    )
