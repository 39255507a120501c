"""A test of ``gdviz bench``: from perftest's options to its rows, title and report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from gdviz.cli import perftest_tables
from gdviz.machine import LinkLayer
from gdviz.messages import _
from gdviz.model import DataPath, Fabric, Op
from gdviz.quantities import parse_size
from gdviz.session.bench import BandwidthTest, LatencyTest, Place, run_bandwidth, run_latency

if TYPE_CHECKING:
    from gdviz.session import Session

#: What perftest calls the operations in its titles.
_TITLES = {Op.WRITE: "RDMA_Write", Op.READ: "RDMA_Read", Op.SEND: "Send"}

#: perftest's ``--all``: 2 B to 8 MiB.
_ALL_SIZES = tuple(2**power for power in range(1, 24))

#: perftest's default sizes of a message.
_BANDWIDTH_BYTES, _LATENCY_BYTES = 65536, 2


@dataclass(frozen=True)
class Benchmark:
    """What is asked for.

    Attributes
    ----------
    sizes
        Message sizes in bytes.
    unit
        ``MB/sec`` or ``Gb/sec``.
    """

    test: BandwidthTest | LatencyTest
    sizes: Sequence[int]
    unit: str = "MB/sec"

    @classmethod
    def of(cls, name: str, options: Mapping[str, Any]) -> Benchmark:
        """Return the test of a name, ``write_bw``, by the command's options.

        Raises
        ------
        click.UsageError
            Options that do not go together, as in perftest.
        """
        word, _underscore, what = name.partition("_")
        op, path = Op(word), DataPath(options["data_path"])
        count, duration_s = options["iters"], options["duration"]
        if count is not None and duration_s is not None:
            raise click.UsageError(_("Either -n or -D."))
        if options["all_sizes"] and duration_s is not None:
            raise click.UsageError(_("-a goes with a number of messages, not with -D."))
        if duration_s is not None and not 0 < duration_s < 86400:
            raise click.UsageError(_("-D is a number of seconds, less than a day."))
        given = {name: options[key] for name, key in _BANDWIDTH_ONLY.items() if options[key]}
        counted = {} if count is None else {"count": count}
        default = _BANDWIDTH_BYTES
        test: BandwidthTest | LatencyTest
        if what == "lat":
            if given or options["report_gbits"]:
                raise click.UsageError(_("-t, -q, -b and --report_gbits are for bandwidth."))
            default = _LATENCY_BYTES
            test = LatencyTest(op, path, duration_s=duration_s, **counted)
        else:
            test = BandwidthTest(op, path, duration_s=duration_s, **counted, **given)
        size = default if options["size"] is None else parse_size(options["size"])
        sizes = _ALL_SIZES if options["all_sizes"] else (size,)
        return cls(test, sizes, "Gb/sec" if options["report_gbits"] else "MB/sec")

    @property
    def title(self) -> str:
        """Perftest's title."""
        name = _TITLES[self.test.op]
        if isinstance(self.test, LatencyTest):
            return f"{name} Latency Test"
        return f"{name} {'Bidirectional ' if self.test.bidirectional else ''}BW Test"

    def setup(self, session: Session, ends: tuple[Place, Place], mtu: str | None) -> dict[str, str]:
        """Return how it is done, by perftest's names where it has one."""
        first = ends[0]
        nic = first.node.machine.nic(first.nic)
        provider = first.node.record.provider
        found = {
            "Provider": _("simulated: no hardware, a model's figures")
            if session.simulated_nodes
            else provider,
            "Nodes": " -> ".join(f"{end.node.name} {end.nic}" for end in ends),
            "Buffers": _("host memory") if first.gpu is None else _("GPU {index}").format(index=first.gpu),
            "Path": self.test.path.value,
            "Device": first.nic,
            "Number of qps": "1",
            "Connection type": "RC",
        }
        if isinstance(self.test, BandwidthTest):
            found["Number of qps"] = str(self.test.qps)
            found["TX depth"] = str(self.test.spec(self.sizes[0]).depth)
        layer = nic.link_layer
        if session.simulated_nodes:
            usual = Fabric.between(nic, ends[1].node.machine.nic(ends[1].nic))
            mtu, layer = mtu or str(usual.mtu_bytes), usual.link_layer
        if mtu is not None:
            found["Mtu"] = f"{mtu}[B]"
        if layer is not LinkLayer.UNKNOWN:
            found["Link type"] = "IB" if layer is LinkLayer.INFINIBAND else "Ethernet"
        return found

    @property
    def head(self) -> str:
        """Head of the table."""
        if isinstance(self.test, LatencyTest):
            return perftest_tables.latency_head(self.test.duration_s is not None)
        return perftest_tables.bandwidth_head(self.unit)

    def rows(self, session: Session, ends: tuple[Place, Place]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Run each size; yield its line and its entry in the report."""
        for size in self.sizes:
            if isinstance(self.test, LatencyTest):
                timed = self.test.duration_s is not None
                latency = run_latency(session, ends, self.test, size)
                line = perftest_tables.latency_line(latency, timed)
                yield line, perftest_tables.latency_result(latency, timed)
            else:
                row = run_bandwidth(session, ends, self.test, size)
                line = perftest_tables.bandwidth_line(row, self.unit)
                yield line, perftest_tables.bandwidth_result(row, self.unit)

    def report(
        self, session: Session, setup: Mapping[str, str], results: Sequence[dict[str, Any]]
    ) -> dict[str, Any]:
        """Return the JSON object, with perftest's keys; `results` is one entry for a single size."""
        info: dict[str, Any] = {
            "test": self.title.replace(" ", "_"),
            "simulated": session.simulated_nodes,
        }
        for name, value in setup.items():
            text = value.removesuffix("[B]")
            info[name.replace(" ", "_")] = int(text) if text.isdecimal() else text
        return {"test_info": info, "results": results[0] if len(results) == 1 else list(results)}


#: Fields of `BandwidthTest` that latency tests do not have, and the options for them.
_BANDWIDTH_ONLY = {"depth": "tx_depth", "qps": "qp", "bidirectional": "bidirectional"}
