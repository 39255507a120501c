"""'Is this number normal?': measured tables beside the model and published bands."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdviz.doctor import diagnose
from gdviz.doctor.bands import bands
from gdviz.doctor.faults import apply
from gdviz.doctor.simulated import host_files
from gdviz.machine import reference_machine

TABLE = """\
$ ib_write_bw -d mlx5_0 --use_cuda=0 -s 1048576 -F --report_gbits 10.0.0.2
 Number of qps   : 1\t\tTransport type : IB
 TX depth        : 128
 Mtu             : 4096[B]
 Link type       : Ethernet
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 1048576    5000             {rate:.2f}             {rate:.2f} \t\t   0.046778
"""


def measured(folder: Path, rate: float) -> tuple[str, float | None, list[str]]:
    state = apply(None, [reference_machine("hgx-h100")]).states[0]
    files = {**host_files(state), "perftest.txt": TABLE.format(rate=rate)}
    for name, text in files.items():
        (folder / name).write_text(text)
    (each,) = diagnose(folder).measured
    return each.verdict, each.predicted_bytes_per_s, [band.source for band in each.bands]


@pytest.mark.parametrize(("rate", "verdict"), [(391.0, "normal"), (170.0, "low"), (500.0, "high")])
def test_a_perftest_is_held_against_the_model_of_that_machine(
    rate: float, verdict: str, tmp_path: Path
) -> None:
    answer, predicted, sources = measured(tmp_path, rate)
    assert answer == verdict
    assert predicted == pytest.approx(49e9, rel=0.03)
    assert any("azurehpc" in source for source in sources)
    assert any("ngc_multinode_perf" in source for source in sources)


def test_bands_carry_their_sources_and_know_their_machines() -> None:
    assert bands("NVIDIA H100 80GB HBM3", 50e9, "write")
    assert all(band.source for band in bands("NVIDIA H100 80GB HBM3", 50e9, "write"))
    assert [band.system for band in bands("NVIDIA A100-SXM4-80GB", 12.5e9, "allreduce")] == ["OCI A100"]
    assert bands("NVIDIA L40S", 12.5e9, "allreduce") == ()
    assert bands("", None, "write") == ()


def test_a_criterion_that_fits_any_port() -> None:
    (band,) = bands("NVIDIA L40S", 50e9, "write")
    assert band.low == pytest.approx(45e9)
