from __future__ import annotations

from pathlib import Path

from gdviz.rdma.hardware.counters import PortCounters


def make(folder: Path, **values: str) -> None:
    for name, text in values.items():
        kind = "hw_counters" if name.startswith("hw_") else "counters"
        path = folder / "mlx5_0/ports/1" / kind
        path.mkdir(parents=True, exist_ok=True)
        (path / name.removeprefix("hw_")).write_text(text)


def test_bytes_and_events(tmp_path: Path) -> None:
    make(
        tmp_path,
        port_xmit_data="25\n",
        port_xmit_packets="7\n",
        hw_out_of_sequence="3\n",
        hw_x="N/A\n",
    )
    first = PortCounters.read("mlx5_0", sysfs=tmp_path)
    assert first.values == {"port_xmit_data": 100, "port_xmit_packets": 7, "out_of_sequence": 3}
    make(tmp_path, port_xmit_data="35\n", port_xmit_packets="2\n")
    second = PortCounters.read("mlx5_0", sysfs=tmp_path)
    # A counter that is lower than before has been reset: it counts from zero again.
    assert second.since(first) == {"port_xmit_data": 40, "port_xmit_packets": 2, "out_of_sequence": 0}
    later = PortCounters(first.time_s + 2, second.values)
    assert later.rates(first)["port_xmit_data"] == 20


def test_no_such_device(tmp_path: Path) -> None:
    assert PortCounters.read("mlx5_9", sysfs=tmp_path).values == {}
