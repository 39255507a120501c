"""``gdviz predict``: what the model expects of a transfer between two nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from gdviz.cli.calibrate import read_constants
from gdviz.cli.ends import endpoint, open_node
from gdviz.cli.output import print_json, print_table, printable
from gdviz.errors import GdvizError
from gdviz.messages import _

if TYPE_CHECKING:
    from gdviz.model import Endpoint, Fabric, Place, Prediction

_PATHS, _OPS = ["direct", "staged"], ["write", "read", "send"]


@click.command("predict")
@click.argument("path")
@click.option("--gpu", help="Index, bus id or name of the GPU whose memory it is; 'host' for host memory.")
@click.option("--nic", help="Index, bus id or name of the NIC; without it, the nearest one.")
@click.option("--node", help="Name or index of the node, where the file has several.")
@click.option("--remote", metavar="PATH", help="The other node; without it, one like the first.")
@click.option("--remote-gpu", help="As --gpu, of the other node; without it, the same.")
@click.option("--remote-nic", help="As --nic, of the other node; without it, the same.")
@click.option("--remote-node", help="As --node, of the other file.")
@click.option("--size", default="64 KiB", show_default=True, help="Bytes of a message: 8, 4KiB, '64 MiB'.")
@click.option(
    "--path", "data_path", type=click.Choice(["direct", "staged"]), default="direct", show_default=True
)
@click.option("--op", type=click.Choice(["write", "read", "send"]), default="write", show_default=True)
@click.option("--depth", type=int, default=128, show_default=True, help="Messages in flight on a queue pair.")
@click.option("--qps", type=int, default=1, show_default=True, help="Queue pairs.")
@click.option("--mtu", help="Path MTU; 4096 if not given.")
@click.option("--switches", type=int, help="Switches on the way; 1 if not given.")
@click.option("--cable", type=float, metavar="METRES", help="Length of cable; 10 if not given.")
@click.option("--relaxed-ordering/--strict-ordering", "relaxed", default=True, show_default=True)
@click.option("--constants", metavar="FILE", help="Constants that gdviz calibrate --save has written.")
@click.option("--messages", type=int, default=10_000, show_default=True, help="Drawn for the latency.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed, the same answer.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    path: str,
    gpu: str | None,
    nic: str | None,
    node: str | None,
    remote: str | None,
    remote_gpu: str | None,
    remote_nic: str | None,
    remote_node: str | None,
    size: str,
    data_path: str,
    op: str,
    depth: int,
    qps: int,
    mtu: str | None,
    switches: int | None,
    cable: float | None,
    relaxed: bool,
    constants: str | None,
    messages: int,
    seed: int,
    as_json: bool,
) -> None:
    """Predict a transfer: bandwidth, latency, CPU time, and what limits it.

    Bandwidth and CPU time are those with the queue full (--depth, --qps); latency is that of single
    messages, one in flight, as perftest's latency tests send them.
    """
    from gdviz.model import DataPath, Op, Workload, predict
    from gdviz.quantities import parse_size, whole_number

    workload = Workload(Op(op), DataPath(data_path), parse_size(size), depth, qps)
    messages = whole_number(messages, "messages", least=1, most=10_000_000)
    seed = whole_number(seed, "seed")
    near = endpoint(open_node(path, node), gpu, nic)
    other = near.machine if remote is None else open_node(remote, remote_node)
    far = endpoint(other, remote_gpu or gpu, remote_nic or nic, which="remote-")
    _check_memory(workload.size_bytes, near, far)
    prediction = predict(
        near,
        far,
        workload,
        fabric=_fabric(near, far, mtu, switches, cable),
        constants=replace(read_constants(constants), relaxed_ordering=relaxed),
        messages=messages,
        seed=seed,
    )
    if as_json:
        print_json(prediction_as_dict(prediction))
    else:
        _print_prediction(near, far, prediction)


def prediction_as_dict(prediction: Prediction) -> dict[str, object]:
    """Return a prediction as ``gdviz predict --json`` prints it: Gb/s and microseconds."""
    latency = prediction.latency
    return {
        "bandwidth_gbps": _gbps(prediction.bandwidth_bytes_per_s),
        "latency_us": {
            "p50": _us(latency.p50),
            "p99": _us(latency.p99),
            "p999": _us(latency.p999),
        },
        "cpu_share": round(prediction.cpu_share, 6),
        "bottleneck": prediction.bottleneck.name,
        "messages_per_s": round(prediction.messages_per_s, 3),
        "ceilings": [
            {"name": ceiling.name, "place": _place(ceiling.place), "gbps": _gbps(ceiling.bytes_per_s)}
            for ceiling in prediction.ceilings
        ],
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


def _gbps(bytes_per_s: float) -> float:
    return round(bytes_per_s * 8 / 1e9, 6)


def _us(seconds: float) -> float:
    return round(seconds * 1e6, 6)


def _place(place: Place) -> str:
    return f"{place.side.value} {place.kind.value} {place.id}"


def _check_memory(size_bytes: int, *ends: Endpoint) -> None:
    from gdviz.quantities import format_size

    for end in ends:
        gpu = end.gpu_part
        if gpu is not None and gpu.memory_bytes is not None and size_bytes > gpu.memory_bytes:
            raise GdvizError(
                _("A message of {size} does not fit in the memory of {gpu}: {memory}.").format(
                    size=format_size(size_bytes), gpu=gpu.name, memory=format_size(gpu.memory_bytes)
                )
            )


def _fabric(
    near: Endpoint, far: Endpoint, mtu: str | None, switches: int | None, cable: float | None
) -> Fabric:
    from gdviz.model import Fabric
    from gdviz.quantities import parse_size

    usual = Fabric.between(near.nic_part, far.nic_part)
    return replace(
        usual,
        mtu_bytes=usual.mtu_bytes if mtu is None else parse_size(mtu),
        switches=usual.switches if switches is None else switches,
        cable_m=usual.cable_m if cable is None else cable,
    )


def _print_prediction(near: Endpoint, far: Endpoint, prediction: Prediction) -> None:
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
