"""``gdviz predict``: what the model expects of a transfer between two nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from gdviz.cli.calibrate import read_constants
from gdviz.cli.ends import end_options, two_ends
from gdviz.cli.output import print_json
from gdviz.cli.prediction import prediction_as_dict, print_prediction
from gdviz.errors import GdvizError
from gdviz.messages import _

if TYPE_CHECKING:
    from gdviz.model import Constants, Endpoint, Fabric, Prediction, Workload

_PATHS, _OPS = ["direct", "staged"], ["write", "read", "send"]

#: Path MTUs that queue pairs can have.
MTUS = (256, 512, 1024, 2048, 4096)


@click.command("predict")
@click.argument("path")
@end_options
@click.option("--size", default="64 KiB", show_default=True, help="Bytes of a message: 8, 4KiB, '64 MiB'.")
@click.option(
    "--path", "data_path", type=click.Choice(["direct", "staged"]), default="direct", show_default=True
)
@click.option("--op", type=click.Choice(["write", "read", "send"]), default="write", show_default=True)
@click.option("--depth", type=int, default=128, show_default=True, help="Messages in flight on a queue pair.")
@click.option("--qps", type=int, default=1, show_default=True, help="Queue pairs.")
@click.option("--mtu", help="Path MTU: 256, 512, 1024, 2048 or 4096, which it is if not given.")
@click.option("--switches", type=int, help="Switches on the way; 1 if not given.")
@click.option("--cable", type=float, metavar="METRES", help="Length of cable; 10 if not given.")
@click.option(
    "--relaxed-ordering/--strict-ordering",
    "relaxed",
    default=None,
    help="Whether NICs may reorder their PCIe writes; as in the constants if not given (relaxed).",
)
@click.option("--bidirectional", is_flag=True, help="The same transfer runs the other way at the same time.")
@click.option("--constants", metavar="FILE", help="Constants that gdviz calibrate --save has written.")
@click.option("--messages", type=int, default=10_000, show_default=True, help="Drawn for the latency.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed, the same answer.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--ceilings", "with_ceilings", is_flag=True, help="With --json: all ceilings as well.")
def command(
    path: str,
    size: str,
    data_path: str,
    op: str,
    depth: int,
    qps: int,
    mtu: str | None,
    switches: int | None,
    cable: float | None,
    relaxed: bool | None,
    bidirectional: bool,
    constants: str | None,
    messages: int,
    seed: int,
    as_json: bool,
    with_ceilings: bool,
    **ends: str | None,
) -> None:
    """Predict a transfer: bandwidth, latency, CPU time, and what limits it.

    Bandwidth and CPU time are those with the queue full (--depth, --qps). Latency is that of single
    messages, one in flight, from their posting to the poster's completion; what perftest calls the latency
    of a WRITE or a SEND is shorter, half of the way there and back.
    """
    from gdviz.model import DataPath, Op, Workload
    from gdviz.quantities import parse_size, whole_number

    workload = Workload(Op(op), DataPath(data_path), parse_size(size), depth, qps)
    messages = whole_number(messages, "messages", least=1, most=10_000_000)
    seed = whole_number(seed, "seed")
    near, far = two_ends(path, **ends)
    check_memory(workload.size_bytes, near, far)
    fabric = _fabric(near, far, mtu, switches, cable)
    used = read_constants(constants)
    if relaxed is not None:
        used = replace(used, relaxed_ordering=relaxed)
    ask = _both_ways if bidirectional else _one_way
    prediction = ask(near, far, workload, fabric, used, messages, seed)
    if as_json:
        print_json(prediction_as_dict(prediction, ceilings=with_ceilings))
    else:
        print_prediction(near, far, prediction, both_ways=bidirectional)


def _one_way(
    near: Endpoint,
    far: Endpoint,
    workload: Workload,
    fabric: Fabric,
    constants: Constants,
    messages: int,
    seed: int,
) -> Prediction:
    from gdviz.model import predict

    return predict(near, far, workload, fabric=fabric, constants=constants, messages=messages, seed=seed)


def _both_ways(
    near: Endpoint,
    far: Endpoint,
    workload: Workload,
    fabric: Fabric,
    constants: Constants,
    messages: int,
    seed: int,
) -> Prediction:
    """Return the first of two transfers that run against each other."""
    from gdviz.model import Transfer, predict_together

    # Machines of one name are one node, and here they are two.
    other = replace(far, machine=far.machine.renamed(f"{far.machine.name} (remote)"))
    there, back = Transfer(near, other, workload, fabric), Transfer(other, near, workload, fabric)
    return predict_together((there, back), constants=constants, messages=messages, seed=seed)[0]


def check_memory(size_bytes: int, *ends: Endpoint) -> None:
    """Refuse a message that is larger than the memory of an end's GPU.

    Raises
    ------
    GdvizError
        It does not fit.
    """
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
    if mtu is not None and parse_size(mtu) not in MTUS:
        raise GdvizError(
            _("A path MTU is {sizes} bytes, not {mtu}.").format(
                sizes=", ".join(str(size) for size in MTUS), mtu=mtu[:40]
            )
        )
    return replace(
        usual,
        mtu_bytes=usual.mtu_bytes if mtu is None else parse_size(mtu),
        switches=usual.switches if switches is None else switches,
        cable_m=usual.cable_m if cable is None else cable,
    )
