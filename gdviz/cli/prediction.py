"""How a prediction is printed: tables for people, one object for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gdviz.cli.output import print_table, printable
from gdviz.messages import _

if TYPE_CHECKING:
    from gdviz.model import Endpoint, Place, Prediction


def prediction_as_dict(prediction: Prediction, *, ceilings: bool = False) -> dict[str, object]:
    """Return a prediction as ``gdviz predict --json`` prints it: Gb/s and microseconds.

    Parameters
    ----------
    ceilings
        Whether all ceilings are in it too, narrowest first, and not only the bottleneck's name.
    """
    latency = prediction.latency
    told: dict[str, object] = {
        "bandwidth_gbps": _gbps(prediction.bandwidth_bytes_per_s),
        "latency_us": {
            "p50": _us(latency.p50),
            "p99": _us(latency.p99),
            "p999": _us(latency.p999),
        },
        "cpu_share": round(prediction.cpu_share, 6),
        "bottleneck": prediction.bottleneck.name,
        "stages": [
            {
                "key": stage.key,
                "name": stage.name,
                "side": stage.side.value,
                "start_us": _us(stage.start_s),
                "duration_us": _us(stage.duration_s),
                "cpu": stage.cpu,
                "moves_bytes": stage.moves_bytes,
                "places": [_place(place) for place in stage.places],
            }
            for stage in prediction.stages
        ],
    }
    if ceilings:
        told["ceilings"] = [
            {"name": ceiling.name, "place": _place(ceiling.place), "gbps": _gbps(ceiling.bytes_per_s)}
            for ceiling in prediction.ceilings
        ]
    return told


def _gbps(bytes_per_s: float) -> float:
    return round(bytes_per_s * 8 / 1e9, 6)


def _us(seconds: float) -> float:
    return round(seconds * 1e6, 6)


def _place(place: Place) -> str:
    return f"{place.side.value} {place.kind.value} {place.id}"


def print_prediction(
    near: Endpoint, far: Endpoint, prediction: Prediction, *, both_ways: bool = False
) -> None:
    """Print a prediction for people: what comes out, what limits, and where one message's time goes.

    Parameters
    ----------
    near, far
        The two ends.
    both_ways
        Whether the same transfer goes the other way at the same time.
    """
    from gdviz.quantities import format_bits, format_count, format_duration, format_rate, format_size

    work = prediction.workload
    words = _("{op} of {size}, {path}: {near} → {far}").format(
        op=work.op.value,
        size=format_size(work.size_bytes),
        path=work.path.value,
        near=_end(near),
        far=_end(far),
    )
    click.echo(printable(words))
    if both_ways:
        click.echo(_("The same goes the other way; bandwidth and CPU are those of one of the two."))
    latency = prediction.latency
    rate = prediction.bandwidth_bytes_per_s
    print_table(
        (_("what"), _("predicted"), ""),
        [
            (
                _("bandwidth"),
                format_bits(rate),
                _("{rate}, {count}; {depth} in flight on each of {qps} queue pairs").format(
                    rate=format_rate(rate),
                    count=format_count(prediction.messages_per_s, _(" messages/s")),
                    depth=work.depth,
                    qps=work.qps,
                ),
            ),
            (_("latency p50"), format_duration(latency.p50), _("one in flight")),
            (_("latency p99"), format_duration(latency.p99), ""),
            (_("latency p99.9"), format_duration(latency.p999), ""),
            (_("CPU"), f"{prediction.cpu_share:.1%}", _("of one core, both ends together")),
            (_("bottleneck"), prediction.bottleneck.name, _place(prediction.bottleneck.place)),
        ],
    )
    click.echo()
    print_table(
        (_("ceiling"), _("where"), _("carries")),
        [
            (ceiling.name, _place(ceiling.place), format_bits(ceiling.bytes_per_s))
            for ceiling in prediction.ceilings[:6]
        ],
    )
    click.echo()
    print_table(
        (_("stage"), _("side"), _("starts"), _("takes"), ""),
        [
            (
                stage.name,
                stage.side.value,
                format_duration(stage.start_s),
                format_duration(stage.duration_s),
                _("CPU") if stage.cpu else "",
            )
            for stage in prediction.stages
        ],
    )


def _end(end: Endpoint) -> str:
    gpu = end.gpu_part
    memory = _("host memory") if gpu is None else f"GPU {gpu.index} ({gpu.name})"
    return f"{memory}, {end.nic_part.name}"
