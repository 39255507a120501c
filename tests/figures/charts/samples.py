"""Small records of the model's types, made by hand so that the expected numbers can be read off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gdviz.model import (
    Ceiling,
    DataPath,
    LatencySummary,
    Place,
    PlaceKind,
    Prediction,
    Side,
    Stage,
    Workload,
)

WIRE = Place(Side.WIRE, PlaceKind.WIRE, "fabric")
PORT = Place(Side.LOCAL, PlaceKind.PORT, "mlx5_0")
LINK = Place(Side.LOCAL, PlaceKind.LINK, "0000:18:00.0")
NIC = Place(Side.LOCAL, PlaceKind.PART, "mlx5_0")
GPU = Place(Side.LOCAL, PlaceKind.PART, "0000:18:00.0")

HOSTILE = "<img src=x\nonerror=alert(1)>\x07"


def stage(key: str, start_us: float, end_us: float, **settings: object) -> Stage:
    fields = {"name": key, "side": Side.LOCAL, "places": (), **settings}
    return Stage(key=key, start_s=start_us / 1e6, end_s=end_us / 1e6, **fields)  # type: ignore[arg-type]


def ceiling(name: str, place: Place, gigabytes: float) -> Ceiling:
    return Ceiling(name, place, gigabytes * 1e9)


CEILINGS = (ceiling("port", PORT, 48.5), ceiling("PCIe", LINK, 57.0), ceiling("memory", GPU, 3000.0))


def prediction(
    size: int = 65536,
    path: DataPath = DataPath.DIRECT,
    *,
    bandwidth: float = 48e9,
    p50: float = 5e-6,
    stages: tuple[Stage, ...] = (),
    ceilings: tuple[Ceiling, ...] = CEILINGS,
    capacities: Mapping[Place, float] | None = None,
) -> Prediction:
    return Prediction(
        workload=Workload(path=path, size_bytes=size),
        bandwidth_bytes_per_s=bandwidth,
        messages_per_s=bandwidth / size,
        latency=LatencySummary(p50, 1.2 * p50, 2 * p50, p50, 3 * p50),
        cpu_share=0.05,
        bottleneck=ceilings[0],
        ceilings=ceilings,
        stages=stages,
        loads={},
        capacities=capacities or {},
    )


@dataclass
class Sample:
    time_s: float
    bandwidth_bytes_per_s: float = 40e9
    messages_per_s: float = 610_000.0
    p50_s: float | None = 5e-6
    p99_s: float | None = 7e-6
    p999_s: float | None = 2e-5
    cpu_share: float = 0.5
    loads: Mapping[Place, float] = field(default_factory=dict)
