from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gdviz.machine import LinkLayer
from gdviz.model import DEFAULTS, Fabric, Op, wire

ROCE, INFINIBAND = Fabric(LinkLayer.ETHERNET), Fabric(LinkLayer.INFINIBAND)


@pytest.mark.parametrize(
    ("fabric", "mtu", "port_gbps", "measured_gbps", "tolerance"),
    [
        (ROCE, 1024, 100, 92.39, 0.003),
        (ROCE, 4096, 100, 98.01, 0.001),
        (ROCE, 4096, 400, 388.39, 0.011),
        (INFINIBAND, 4096, 200, 197.5, 0.01),
    ],
)
def test_efficiency_is_what_perftest_measures(fabric, mtu, port_gbps, measured_gbps, tolerance):
    found = port_gbps * wire.efficiency(replace(fabric, mtu_bytes=mtu))
    assert found == pytest.approx(measured_gbps, rel=tolerance)


def test_efficiency_is_the_formula():
    assert wire.efficiency(ROCE) == 4096 / 4178
    assert wire.efficiency(INFINIBAND) == 4096 / 4122


def test_the_last_packet_may_be_partial():
    sizes = np.array([1, 4096, 4097])
    assert wire.message_bytes(sizes, ROCE, Op.SEND).tolist() == [83, 4178, 4261]


def test_a_write_says_once_where_it_goes():
    assert wire.message_bytes(8192, ROCE, Op.WRITE) - wire.message_bytes(8192, ROCE, Op.SEND) == 16


def test_way_grows_with_cable_and_switches():
    base = wire.one_way_s(ROCE, DEFAULTS)
    assert wire.one_way_s(replace(ROCE, cable_m=20.0), DEFAULTS) - base == pytest.approx(50e-9)
    assert wire.one_way_s(replace(ROCE, switches=3), DEFAULTS) - base == pytest.approx(
        2 * DEFAULTS.ethernet_switch_s
    )
    assert wire.one_way_s(INFINIBAND, DEFAULTS) < base
