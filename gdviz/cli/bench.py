"""``gdviz bench``: perftest's tests, with perftest's options and columns."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gdviz.cli.ends import HOST
from gdviz.cli.output import print_json, printable
from gdviz.cli.predict import MTUS
from gdviz.errors import GdvizError
from gdviz.messages import _

if TYPE_CHECKING:
    from gdviz.machine import Machine
    from gdviz.session import Session
    from gdviz.session.bench import Place

_OPS = ("write", "read", "send")
_TESTS = [f"{op}_{what}" for what in ("bw", "lat") for op in _OPS]
_MTUS = [str(mtu) for mtu in MTUS]

#: The machine that is simulated where none is named.
_DEFAULT_MACHINE = "hgx-h100"


class _Test(click.ParamType):  # type: ignore[type-arg]
    """A test's name, with or without perftest's ``ib_``, or that of an operation."""

    name = "test"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        name = str(value).removeprefix("ib_")
        if name not in _TESTS and f"{name}_bw" not in _TESTS:
            self.fail(
                _("{value} is none of {tests}. A machine comes after: gdviz bench write {value}").format(
                    value=name[:40], tests=", ".join((*_TESTS, *_OPS))
                )
            )
        return name


@click.command("bench")
@click.argument("test", type=_Test(), default="write")
@click.argument("path", required=False)
@click.option("-s", "--size", help="Bytes of a message, 65536 or 64k: by default 65536, for latency 2.")
@click.option("-a", "--all", "all_sizes", is_flag=True, help="Run sizes from 2 till 2^23.")
@click.option(
    "-n", "--iters", type=click.IntRange(5), help="Messages on each queue pair: 5000, latency 1000."
)
@click.option("-D", "--duration", type=float, help="Run for so many seconds instead.")
@click.option("-t", "--tx-depth", type=click.IntRange(1), help="Messages in flight on a queue pair: 128.")
@click.option("-q", "--qp", type=click.IntRange(1), help="Queue pairs: 1.")
@click.option("-b", "--bidirectional", is_flag=True, help="Both ways at the same time; rates are sums.")
@click.option("--lat", is_flag=True, help="Latency, where TEST is an operation alone.")
@click.option("-d", "--ib-dev", "--nic", "nic", help="NIC; else the GPU's nearest, or the first.")
@click.option("-x", "--gid-index", type=click.IntRange(0), help="Entry of the GID table, on real nodes.")
@click.option("-m", "--mtu", type=click.Choice(_MTUS), help="Path MTU; the port's if not given.")
@click.option("--report_gbits", is_flag=True, help="Gb/sec (10^9 bits) instead of MB/sec (2^20 bytes).")
@click.option(
    "--use_cuda", "--gpu", "gpu", metavar="GPU", help="Buffers in this GPU's memory; else in the host's."
)
@click.option("--path", "data_path", type=click.Choice(["direct", "staged"]), default="direct")
@click.option(
    "--provider",
    type=click.Choice(["auto", "simulated", "verbs"]),
    default="auto",
    help="auto: this host's verbs where there are some and no PATH is given.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Between two workers of a Dask cluster.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object with perftest's keys.")
@click.option("--out_json_file", type=click.Path(dir_okay=False), help="Write that object to a file, too.")
def command(
    test: str,
    path: str | None,
    lat: bool,
    nic: str | None,
    gpu: str | None,
    provider: str,
    scheduler: str | None,
    gid_index: int | None,
    mtu: str | None,
    as_json: bool,
    out_json_file: str | None,
    **options: Any,
) -> None:
    """Measure as perftest does, in its columns.

    TEST is write_bw, read_bw, send_bw, write_lat, read_lat or send_lat, or an operation alone: write (which
    it is if none is given), read or send, with --lat for its latency. PATH is a file or a reference machine
    (see gdviz machines), whose nodes are simulated.
    """
    from gdviz.cli.benchmark import Benchmark
    from gdviz.cli.perftest_tables import LINE, setup_lines

    benchmark = Benchmark.of(_test_of(test, lat), options)
    with _open(path, provider, scheduler, gid_index, mtu) as session:
        ends = _ends(session, nic, gpu)
        setup = benchmark.setup(session, ends, mtu)
        if not as_json:
            _say(*setup_lines(benchmark.title, setup), benchmark.head)
        results = []
        for line, result in benchmark.rows(session, ends):
            results.append(result)
            if not as_json:
                _say(line)
        report = benchmark.report(session, setup, results)
    if as_json:
        print_json(report)
    else:
        _say(LINE)
    if out_json_file is not None:
        Path(out_json_file).write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def _test_of(name: str, lat: bool) -> str:
    if name not in _TESTS:
        return f"{name}_{'lat' if lat else 'bw'}"
    if lat and name.endswith("_bw"):
        raise click.UsageError(_("Either {test} or --lat.").format(test=name))
    return name


def _open(
    path: str | None, provider: str, scheduler: str | None, gid_index: int | None, mtu: str | None
) -> Session:
    """Return the session to measure in."""
    from gdviz.clock import SteppedClock
    from gdviz.model import Fabric
    from gdviz.session import Session

    if path is not None and provider == "verbs":
        raise GdvizError(_("Real nodes are what their hosts are: they take no PATH."))
    if provider == "auto" and path is None and scheduler is None:
        from gdviz.nodes.discovery import nodes

        provider = "simulated" if nodes().simulated else "verbs"
    machines = []
    if path is not None or provider == "simulated":
        machines = _machines(path)
    fabric = None
    if mtu is not None:
        nics = [nic for machine in machines for nic in machine.nics]
        usual = Fabric.between(nics[0], nics[-1]) if nics else Fabric()
        fabric = replace(usual, mtu_bytes=int(mtu))
    if scheduler is not None:
        return Session.dask(scheduler, machines, fabric=fabric)
    if not machines:
        return Session.hardware(fabric=fabric, gid_indexes=(gid_index,))
    return Session.simulated(machines, fabric=fabric, clock=SteppedClock(autojump=True))


def _machines(path: str | None) -> list[Machine]:
    """Return two machines to simulate: those of a file, or two of the same."""
    from gdviz.cli.opening import open_path_or_catalogue

    found = open_path_or_catalogue(path or _DEFAULT_MACHINE).machines
    if len(found) > 1:
        return list(found[:2])
    return [found[0].renamed(name) for name in ("node-a", "node-b")]


def _ends(session: Session, nic: str | None, gpu: str | None) -> tuple[Place, Place]:
    """Return where the buffers lie: who posts first."""
    from gdviz.session.bench import Place

    if len(session.nodes) < 2:
        raise GdvizError(_("A benchmark is between two nodes, and there is one."), _("Start another worker."))
    places = []
    for node in session.nodes[:2]:
        machine = node.machine
        if not machine.nics:
            raise GdvizError(_("{node} has no NIC.").format(node=node.name))
        # What is not there is said before anything is printed.
        memory = None if gpu is None or gpu == HOST else machine.gpu(gpu)
        usual = (machine.nearest_nic(memory) if memory else None) or machine.nics[0]
        part = usual if nic is None else machine.nic(nic)
        places.append(Place(node, part.name, None if memory is None else machine.gpus.index(memory)))
    return places[0], places[1]


def _say(*lines: str) -> None:
    for line in lines:
        click.echo(printable(line))
