"""What the sweep charts show, as numbers: columns over message sizes, crossings, ceilings. No Bokeh."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gdviz.figures.charts.short_names import short_name
from gdviz.figures.charts.text import table
from gdviz.messages import _
from gdviz.model import Ceiling, DataPath, PlaceKind, Prediction
from gdviz.quantities import format_duration, format_rate, format_size


@dataclass(frozen=True, slots=True)
class Point:
    """What was measured (or simulated) at one message size.

    Attributes
    ----------
    p50_s, p99_s
        Latency from posting to completion, seconds.
    """

    size_bytes: int
    bandwidth_bytes_per_s: float
    p50_s: float
    p99_s: float


Columns = dict[str, list[float] | list[str]]


def predicted_points(predictions: Iterable[Prediction]) -> tuple[Point, ...]:
    """Return predictions as points, by size."""
    points = (
        Point(one.workload.size_bytes, one.bandwidth_bytes_per_s, one.latency.p50, one.latency.p99)
        for one in predictions
    )
    return tuple(sorted(points, key=lambda point: point.size_bytes))


def columns(points: Mapping[DataPath, Sequence[Point]]) -> Columns:
    """Return points of all paths as columns, a row each: path, size, bandwidth, latency, and words for hover.

    Units are bytes, bytes a second and seconds. What is not above zero has no place on a log axis and is
    left out.
    """
    rows = [
        (path, point)
        for path, some in points.items()
        for point in some
        if all(
            math.isfinite(value) and value > 0
            for value in (point.size_bytes, point.bandwidth_bytes_per_s, point.p50_s)
        )
    ]
    return {
        "path": [path.value for path, _point in rows],
        "size": [float(point.size_bytes) for _path, point in rows],
        "bandwidth": [point.bandwidth_bytes_per_s for _path, point in rows],
        "latency": [point.p50_s for _path, point in rows],
        "size_text": [format_size(point.size_bytes) for _path, point in rows],
        "bandwidth_text": [format_rate(point.bandwidth_bytes_per_s) for _path, point in rows],
        "latency_text": [format_duration(point.p50_s) for _path, point in rows],
        "p99_text": [format_duration(point.p99_s) for _path, point in rows],
    }


def crossing(x: Sequence[float], left: Sequence[float], right: Sequence[float]) -> tuple[float, float] | None:
    """Return where two curves over the same `x` cross first, as the straight lines of a log-log chart do.

    Curves that touch without changing places do not cross.

    Returns
    -------
    tuple of float, or None
        x and y of the crossing.

    Examples
    --------
    >>> crossing([1, 100], [1, 100], [100, 1])
    (10.0, 10.0)
    """
    gaps = [math.log(a) - math.log(b) for a, b in zip(left, right, strict=True)]
    before: int | None = None
    for index, gap in enumerate(gaps):
        if abs(gap) < 1e-12:
            continue
        if before is not None and (gap > 0) != (gaps[before] > 0):
            if index - before > 1:  # they met in a row between
                return float(x[before + 1]), float(left[before + 1])
            share = gaps[before] / (gaps[before] - gap)
            return _between(x[before], x[index], share), _between(left[before], left[index], share)
        before = index
    return None


def _between(low: float, high: float, share: float) -> float:
    return float(f"{math.exp(math.log(low) + share * (math.log(high) - math.log(low))):.12g}")


def curve_crossing(points: Mapping[DataPath, Sequence[Point]], value: str) -> tuple[float, float] | None:
    """Return where the direct and the staged curve of `value` (a field of `Point`) cross, or None."""
    direct, staged = (
        {point.size_bytes: float(getattr(point, value)) for point in points.get(path, ())}
        for path in (DataPath.DIRECT, DataPath.STAGED)
    )
    sizes = sorted(size for size in direct.keys() & staged.keys() if direct[size] > 0 and staged[size] > 0)
    return crossing(sizes, [direct[size] for size in sizes], [staged[size] for size in sizes])


def swept_ceilings(predictions: Mapping[DataPath, Sequence[Prediction]]) -> tuple[Ceiling, ...]:
    """Return the ceilings to draw, lowest first: the wire's and the PCIe path's of the direct path.

    They are taken at the largest message, where headers cost least. Of each kind the narrowest stands.
    """
    swept = predictions.get(DataPath.DIRECT) or next(iter(predictions.values()), ())
    if not swept:
        return ()
    largest = max(swept, key=lambda one: one.workload.size_bytes)
    found = []
    for kinds in ((PlaceKind.PORT, PlaceKind.WIRE), (PlaceKind.LINK,)):
        some = [ceiling for ceiling in largest.ceilings if ceiling.place.kind in kinds]
        if some:
            found.append(min(some, key=lambda ceiling: ceiling.bytes_per_s))
    return tuple(sorted(found, key=lambda ceiling: ceiling.bytes_per_s))


def ceiling_labels(
    ceilings: Sequence[Ceiling], decade_px: float, *, label_px: float = 16.0
) -> list[tuple[float, str]]:
    """Return the lines to draw, as bytes a second and label, lowest first.

    Labels stand above their lines; a line too close below another one (`decade_px` is the height of a
    decade) has an empty label, and the other's label names both, one above the other like the lines.
    """
    marks: list[tuple[float, str]] = []
    for ceiling in sorted(ceilings, key=lambda one: one.bytes_per_s):
        label = f"{short_name(ceiling)}: {format_rate(ceiling.bytes_per_s)}"
        if marks and math.log10(ceiling.bytes_per_s / marks[-1][0]) * decade_px < label_px:
            rate, below = marks[-1]
            marks[-1] = (rate, "")
            label = f"{label}\n{below}"
        marks.append((ceiling.bytes_per_s, label))
    return marks


def log_ends(values: Iterable[float], headroom: float) -> tuple[float, float] | None:
    """Return ends of a log axis: the decade below the values, and above them the share `headroom` of it.

    None without a value above zero.
    """
    known = [value for value in values if math.isfinite(value) and value > 0]
    if not known:
        return None
    low = 10.0 ** math.floor(math.log10(min(known)))
    high = max(*known, low * 10)
    return low, float(high * (high / low) ** (headroom / (1 - headroom)))


def text(points: Mapping[DataPath, Sequence[Point]]) -> str:
    """Return bandwidth and median latency of each path by message size, as a table."""
    paths = [path for path in DataPath if points.get(path)]
    by_size = {path: {point.size_bytes: point for point in points[path]} for path in paths}
    sizes = sorted({size for some in by_size.values() for size in some})
    headings = [_("size"), *paths, *(_("{path} p50").format(path=path) for path in paths)]
    rows = []
    for size in sizes:
        here = [by_size[path].get(size) for path in paths]
        rows.append(
            [
                format_size(size),
                *(format_rate(point.bandwidth_bytes_per_s) if point else "–" for point in here),
                *(format_duration(point.p50_s) if point else "–" for point in here),
            ]
        )
    return table(headings, rows, left=0)
