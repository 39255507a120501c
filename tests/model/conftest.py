from __future__ import annotations

import pytest

from gdviz.machine import Machine, reference_machine
from gdviz.model import Endpoint


@pytest.fixture(scope="session")
def h100() -> Machine:
    return reference_machine("hgx-h100")


@pytest.fixture
def pair(h100: Machine) -> tuple[Endpoint, Endpoint]:
    """Two GPUs, each with a NIC on its own switch (PIX)."""
    ends = [Endpoint(h100, h100.nics[index].id, h100.gpus[index].id) for index in (0, 4)]
    return ends[0], ends[1]


@pytest.fixture
def hosts(h100: Machine) -> tuple[Endpoint, Endpoint]:
    return Endpoint(h100, h100.nics[0].id), Endpoint(h100, h100.nics[4].id)
