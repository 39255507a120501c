"""A Dask cluster goes by its address, a client or a cluster object."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gdviz.errors import GdvizError
from gdviz.nodes.dask.scheduler import address_of

ADDRESS = "tls://10.0.0.1:8786"


@pytest.mark.parametrize(
    "given",
    [
        SimpleNamespace(scheduler=SimpleNamespace(address=ADDRESS), security="certificates"),
        SimpleNamespace(scheduler_address=ADDRESS, security="certificates"),
        SimpleNamespace(scheduler=SimpleNamespace(), scheduler_address=ADDRESS, security="certificates"),
    ],
)
def test_clients_and_clusters_bring_their_certificates(given: object) -> None:
    assert address_of(given) == (ADDRESS, "certificates")


def test_an_address_is_an_address() -> None:
    assert address_of(ADDRESS) == (ADDRESS, None)


def test_what_is_none_of_these() -> None:
    with pytest.raises(GdvizError, match="must be an address, a Dask client or a Dask cluster, not 8786"):
        address_of(8786)
