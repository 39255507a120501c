"""``nvidia-smi -q``, the plain table, and the state of NVLinks."""

from __future__ import annotations

import pytest

from gdviz.readers.nvidia_smi import NvLinkStatus, SmiQuery, nvlink, query


def log(*gpus: str, attached: int = 1) -> str:
    return (
        "\n==============NVSMI LOG==============\n\n"
        "Timestamp                                 : Thu Apr 11 08:30:54 2024\n"
        "Driver Version                            : 550.54.15\n"
        "CUDA Version                              : 12.4\n\n"
        f"Attached GPUs                             : {attached}\n" + "".join(gpus)
    )


def gpu(
    busid: str = "00000000:3B:00.0", *, bar1: str = "131072 MiB", now: str = "5", mig: str = "Disabled"
) -> str:
    return f"""GPU {busid}
    Product Name                          : NVIDIA H100 80GB HBM3
    Product Brand                         : NVIDIA
    Persistence Mode                      : Enabled
    Addressing Mode                       : HMM
    MIG Mode
        Current                           : {mig}
        Pending                           : Enabled
    GPU Virtualization Mode
        Virtualization Mode               : Pass-Through
        Host VGPU Mode                    : N/A
    PCI
        Bus                               : 0x3B
        Device Id                         : 0x233010DE
        Bus Id                            : {busid}
        GPU Link Info
            PCIe Generation
                Max                       : 5
                Current                   : {now}
                Device Current            : 5
                Host Max                  : 5
            Link Width
                Max                       : 16x
                Current                   : 8x
    FB Memory Usage
        Total                             : 81559 MiB
        Used                              : 4 MiB
    BAR1 Memory Usage
        Total                             : {bar1}
        Used                              : 2 MiB
"""


TABLE = """
+---------------------------------------------------------------------------------------+
| NVIDIA-SMI 535.161.08             Driver Version: 535.161.08   CUDA Version: 12.2     |
|-----------------------------------------+----------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id        Disp.A | Volatile Uncorr. ECC |
|=========================================+======================+======================|
|   0  NVIDIA A100-SXM4-80GB          On  | 00000000:07:00.0 Off |                    0 |
| N/A   32C    P0              63W / 400W |      4MiB / 81920MiB |      0%      Default |
|                                         |                      |             Disabled |
+-----------------------------------------+----------------------+----------------------+
|   1  Tesla T4                       Off | 00000000:0F:00.0 Off |                    0 |
| N/A   32C    P0              63W / 400W |      4MiB / 15360MiB |      0%      Default |
|                                         |                      |                  N/A |
+-----------------------------------------+----------------------+----------------------+
"""

LINKS = """GPU 0: NVIDIA A100-SXM4-80GB (UUID: GPU-5269b708-678a)
\t Link 0: 25 GB/s
\t Link 1: 25 GB/s
\t Link 2: <inactive>
GPU 1: NVIDIA A100-SXM4-80GB (UUID: GPU-a7605225-d684)
\t Link 0: 25 GB/s
\t Link 1: 25 GB/s
\t Link 2: 25 GB/s
"""


def query_of(text: str) -> SmiQuery:
    assert query.looks_like(text)
    facts = query.read(text).facts
    assert isinstance(facts, SmiQuery)
    return facts


def test_query() -> None:
    text = log(gpu(), gpu("00000000:5E:00.0", bar1="256 MiB", mig="Enabled", now="1"), attached=2)
    found = query_of(text)
    lines = text.splitlines()
    assert (found.driver, found.cuda, found.attached) == ("550.54.15", "12.4", 2)
    assert found.driver_line is not None
    assert "Driver Version" in lines[found.driver_line - 1]
    first, second = found.gpus
    assert (first.busid, first.vendor, first.device) == ("0000:3b:00.0", 0x10DE, 0x2330)
    assert (first.bar1_total_bytes, first.bar1_used_bytes) == (2**37, 2 * 2**20)
    assert first.memory_total_bytes == 81559 * 2**20
    assert (first.link.gen, first.link.width, first.link.max_gen, first.link.max_width) == (5, 8, 5, 16)
    assert (first.mig_mode, second.mig_mode) == ("Disabled", "Enabled")
    assert (first.virtualization_mode, first.addressing_mode) == ("Pass-Through", "HMM")
    assert (first.brand, first.persistence_mode, first.host_max_gen) == ("NVIDIA", "Enabled", 5)
    assert second.bar1_total_bytes == 256 * 2**20
    assert second.link.gen == 1
    for line, word in ((second.bar1_line, "256 MiB"), (first.name_line, "H100"), (second.line, "5E:00.0")):
        assert line is not None
        assert word in lines[line - 1]
    (machine,) = query.read(text).machines
    assert [part.name for part in machine.gpus] == ["H100-SXM5-80GB"] * 2
    assert [part.bar1_bytes for part in machine.gpus] == [2**37, 2**28]
    assert machine.gpus[0].compute_capability == 90


def test_gpus_that_are_not_shown_are_told() -> None:
    reading = query.read(log(gpu(), attached=8))
    assert "announces 8 GPUs and shows 1" in reading.notices[0].text
    assert not reading.truncated


def test_values_that_say_nothing_are_none() -> None:
    (found,) = query_of(log(gpu(bar1="N/A", now="N/A", mig="N/A"))).gpus
    assert (found.bar1_total_bytes, found.link.gen, found.mig_mode) == (None, None, "")


def test_equal_bus_ids_stay_two_gpus() -> None:
    (machine,) = query.read(log(gpu(), gpu(), attached=2)).machines
    assert len({part.id for part in machine.gpus}) == 2


def test_table() -> None:
    found = query_of(TABLE)
    assert (found.driver, found.cuda) == ("535.161.08", "12.2")
    assert [(gpu.index, gpu.busid, gpu.name) for gpu in found.gpus] == [
        (0, "0000:07:00.0", "NVIDIA A100-SXM4-80GB"),
        (1, "0000:0f:00.0", "Tesla T4"),
    ]
    assert [gpu.memory_total_bytes for gpu in found.gpus] == [81920 * 2**20, 15360 * 2**20]
    assert [gpu.mig_mode for gpu in found.gpus] == ["Disabled", ""]
    (machine,) = query.read(TABLE).machines
    assert [part.name for part in machine.gpus] == ["A100-SXM4-80GB", "T4"]


def test_links() -> None:
    assert nvlink.looks_like(LINKS)
    reading = nvlink.read(LINKS)
    assert isinstance(reading.facts, NvLinkStatus)
    first, second = reading.facts.gpus
    assert [link.active for link in first.links] == [True, True, False]
    assert first.links[0].bytes_per_s == 25e9
    assert first.links[2].bytes_per_s is None
    assert [link.line for link in second.links] == [6, 7, 8]
    assert [(notice.line, notice.text) for notice in reading.notices] == [
        (1, "GPU 0 has 2 NVLinks up, others have 3.")
    ]
    assert [part.name for part in reading.machines[0].gpus] == ["A100-SXM4-80GB"] * 2


@pytest.mark.parametrize(
    "text", ["", "Driver Version: 535\n", "GPU 0: a GPU\n", "Link 0: 25 GB/s\n", LINKS[:60]]
)
def test_other_texts(text: str) -> None:
    assert not query.looks_like(text)
    assert not nvlink.looks_like(text)


def test_no_format_takes_the_others_text() -> None:
    assert not query.looks_like(LINKS)
    assert not nvlink.looks_like(log(gpu()))
    assert not nvlink.looks_like(TABLE)
