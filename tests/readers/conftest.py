from __future__ import annotations

from collections.abc import Callable

import pytest

from gdviz.machine import Machine
from gdviz.readers import nccl_topology


def _whole(body: str) -> str:
    return f'<system version="1">\n<cpu numaid="0" affinity="ff" arch="x86_64">\n{body}\n</cpu>\n</system>\n'


@pytest.fixture
def below_cpu() -> Callable[[str], Machine]:
    """Read a topology of one CPU with `body` below it; the body begins on line 3."""

    def read(body: str) -> Machine:
        (machine,) = nccl_topology.read(_whole(body)).machines
        return machine

    return read


@pytest.fixture
def read_one() -> Callable[[str | bytes], Machine]:
    def read(data: str | bytes) -> Machine:
        (machine,) = nccl_topology.read(data).machines
        return machine

    return read
