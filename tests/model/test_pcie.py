from __future__ import annotations

import numpy as np
import pytest

from gdviz.machine import PcieLink
from gdviz.model import pcie

# Effective GB/s one way (write, read, both) of the published model, by link and MPS; MRRS 512.
TABLE = [
    (3, 8, 256, (6.62, 6.71, 6.34)),
    (3, 16, 128, (11.76, 12.08, 11.31)),
    (3, 16, 256, (12.99, 13.18, 12.46)),
    (3, 16, 512, (13.69, 13.79, 13.10)),
    (4, 16, 128, (23.52, 24.15, 22.62)),
    (4, 16, 256, (25.99, 26.37, 24.92)),
    (4, 16, 512, (27.37, 27.58, 26.20)),
    (5, 16, 128, (47.03, 48.30, 45.25)),
    (5, 16, 256, (51.98, 52.73, 49.84)),
    (5, 16, 512, (54.75, 55.16, 52.40)),
    (6, 16, 256, (99.8, 101.3, 95.7)),
]


@pytest.mark.parametrize(("gen", "width", "mps", "expected"), TABLE)
def test_effective_bandwidth_is_the_published_one(gen, width, mps, expected):
    link = PcieLink(gen, width)
    found = [
        pcie.effective_bytes_per_s(link, 4096, reads=reads, writes=writes, mps_bytes=mps) / 1e9
        for reads, writes in ((False, True), (True, False), (True, True))
    ]
    assert found == pytest.approx(expected, rel=0.002)


@pytest.mark.parametrize(("gen", "expected"), [(4, (20.67, 21.66, 16.24)), (5, (41.35, 43.31, 32.49))])
def test_small_transfers_cost_a_header_each(gen, expected):
    link = PcieLink(gen, 16)
    found = [
        pcie.effective_bytes_per_s(link, 64, reads=reads, writes=writes) / 1e9
        for reads, writes in ((False, True), (True, False), (True, True))
    ]
    assert found == pytest.approx(expected, rel=0.002)


@pytest.mark.parametrize("mps", [64, 128, 256, 512, 1024, 4096])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("gen", range(1, 7))
def test_every_link_carries_less_than_its_lanes(gen, width, mps):
    link = PcieLink(gen, width)
    rate = pcie.effective_bytes_per_s(link, 1 << 20, writes=True, mps_bytes=mps)
    assert 0.5 * link.bandwidth_bytes_per_s < rate < link.bandwidth_bytes_per_s


def test_bytes_on_the_link_come_in_arrays_too():
    sizes = np.array([1, 256, 257])
    assert pcie.write_bytes(sizes, 256).tolist() == [25, 280, 305]
    assert pcie.completion_bytes(sizes, 256).tolist() == [21, 276, 297]
    assert pcie.read_request_bytes(np.array([1, 512, 513]), 512).tolist() == [24, 24, 48]


@pytest.mark.parametrize(
    ("link", "expected", "assumed"),
    [
        (PcieLink(), PcieLink(3, 16), True),
        (PcieLink(4, 0), PcieLink(4, 16), True),
        (PcieLink(None, 8), PcieLink(3, 8), True),
        (PcieLink(9, 8), PcieLink(3, 8), True),
        (PcieLink(5, 8), PcieLink(5, 8), False),
    ],
)
def test_what_is_unknown_of_a_link_is_assumed_and_said(link, expected, assumed):
    assert pcie.known_link(link) == (expected, assumed)
