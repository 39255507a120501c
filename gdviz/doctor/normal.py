"""'Is this number normal?': measured tables beside the model's answer and published bands."""

from __future__ import annotations

from collections.abc import Iterator

from gdviz.doctor.bands import bands
from gdviz.doctor.evidence.devices import Device
from gdviz.doctor.evidence.node import CaseEvidence, NodeEvidence
from gdviz.doctor.evidence.results import Run, case_runs, gpu_runs
from gdviz.doctor.near import line_rate, used_nics
from gdviz.doctor.records import Band, Measured
from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.model import DataPath, Endpoint, Op, Workload, predict
from gdviz.quantities import format_rate

#: Measured over expected: below the first it is low, above the second too good to be what it says.
LOW, HIGH = 0.7, 1.15

#: Bus bandwidth that even one 25 Gb/s port of a node gives, bytes per second.
LEAST_PORT = 2.5e9

#: Messages from which bandwidth limits, and not the rate of messages or the latency of many steps.
LARGE, LARGE_COLLECTIVE = 65536, 16 * 2**20


def measured(case: CaseEvidence) -> Iterator[Measured]:
    """Go through a case's tables of bandwidth, each beside what to expect."""
    for run in case_runs(case):
        if run.best_bytes_per_s is None:
            continue
        node = _node_of(case, run)
        if node is None:
            continue
        if run.tool == "perftest":
            yield _pair(node, run)
        elif run.tool == "nccl-tests":
            yield _collective(node, run)
        elif run.tool in ("osu", "ucx_perftest"):
            yield _pair(node, run)


def _node_of(case: CaseEvidence, run: Run) -> NodeEvidence | None:
    for node in case.nodes:
        if any(reading is run.reading for reading in node.readings):
            return node
    return case.nodes[0] if case.nodes else None


def _devices(node: NodeEvidence, run: Run) -> tuple[Device | None, Device | None]:
    nic = node.joined.nic(run.device) if run.device else None
    gpu = node.joined.gpu(index=run.gpu_index) if run.on_gpu and run.gpu_index is not None else None
    return gpu, nic


def _pair(node: NodeEvidence, run: Run) -> Measured:
    gpu, nic = _devices(node, run)
    predicted, by = None, _("No machine with this pair is among the files.")
    if nic is not None and (gpu is not None or not run.on_gpu):
        predicted, by = _predict(node, run, gpu, nic)
        if nic.speed_bytes_per_s is None:
            predicted, by = None, _("The rate of the port is not in the files.")
    port = nic.speed_bytes_per_s if nic is not None else None
    kind = "write" if run.on_gpu else "host-write"
    name = gpu.name if gpu is not None else ""
    return _judged(node, run, predicted, by, bands(name, port, kind) if run.tool == "perftest" else ())


def _predict(node: NodeEvidence, run: Run, gpu: Device | None, nic: Device) -> tuple[float | None, str]:
    for place, (reading, _machine) in enumerate(node.joined.sources):
        if place not in nic.parts or (gpu is not None and place not in gpu.parts):
            continue
        machine = node.joined.completed(place)
        end = Endpoint(machine, nic.parts[place], gpu.parts[place] if gpu is not None else None)
        op = next((op for op in Op if op.value in run.operation), Op.WRITE)
        try:
            work = Workload(op, DataPath.DIRECT, run.best_size_bytes or 65536, _depth(run), _qps(run))
            rate = predict(end, end, work, messages=100).bandwidth_bytes_per_s
        except GdvizError:
            continue
        return rate, _("model, on the machine of {kind}").format(kind=reading.kind)
    return None, _("No machine with this pair is among the files.")


def _depth(run: Run) -> int:
    return _whole(run, "tx_depth", 128)


def _qps(run: Run) -> int:
    return _whole(run, "qps", 1)


def _whole(run: Run, name: str, default: int) -> int:
    text = str(run.table.setup.get(name, "")).strip()
    return int(text) if text.isdecimal() and 0 < int(text) <= 4096 else default


def _collective(node: NodeEvidence, run: Run) -> Measured:
    predicted, by = expected_bus_bandwidth(node, run)
    names = [gpu.name for gpu in node.joined.gpus if gpu.name not in ("", "GPU")]
    rates = [nic.speed_bytes_per_s for nic in used_nics(node) if nic.speed_bytes_per_s]
    kind = "allreduce-node" if run.hosts == 1 else "allreduce"
    product = names[0] if names else run.gpu_name
    found = bands(product, rates[0] if rates else None, kind) if "all_reduce" in run.operation else ()
    return _judged(node, run, predicted, by, found)


def expected_bus_bandwidth(node: NodeEvidence, run: Run) -> tuple[float | None, str]:
    """Return what a ring over several hosts may reach: what all NICs of a host carry together.

    The rate of a NIC is the model's for its nearest GPU; where no file gives port rates, what perftest
    reached on one of them counts for each.
    """
    if run.hosts is not None and run.hosts < 2:
        return None, _("All ranks are on one node: no NIC is in the way.")
    nics = used_nics(node)
    if not nics:
        return None, _("No machine is among the files.")
    total = line_rate(node)
    if total is None:
        seen = [r.best_bytes_per_s for r in gpu_runs(node) if r.best_bytes_per_s]
        if not seen or not node.joined.best:
            return None, _("The rate of the ports is not in the files.")
        return max(seen) * len(nics), _("perftest's rate of one NIC, times {n}").format(n=len(nics))
    return total, _("rate of the {n} ports in use").format(n=len(nics))


def _judged(
    node: NodeEvidence, run: Run, predicted: float | None, by: str, found: tuple[Band, ...]
) -> Measured:
    best = run.best_bytes_per_s or 0.0
    verdict, why = "unknown", by
    if predicted:
        share = best / predicted
        verdict = "low" if share < LOW else "high" if share > HIGH else "normal"
        why = _("{best} is {percent:.0f} % of {expected} ({by})").format(
            best=format_rate(best), percent=100 * share, expected=format_rate(predicted), by=by
        )
    elif found:
        low = min(band.low for band in found)
        verdict = "normal" if best >= low else "low"
        why = _("{best}; published: at least {low}").format(best=format_rate(best), low=format_rate(low))
    what = f"{run.tool} {run.operation}".strip() + (f", {run.device}" if run.device else "")
    return Measured(
        node.name,
        what,
        run.best_size_bytes,
        best,
        predicted,
        by,
        found,
        verdict,
        why,
        run.evidence,
        run.hosts,
    )


def low_runs(case: CaseEvidence) -> list[Measured]:
    """Return runs over the network that stay far below what the machine should carry.

    Where no file tells the ports' rate, collectives count as low below what any port of a GPU server
    carries.
    """
    found = []
    for each in measured(case):
        known = each.predicted_bytes_per_s is not None
        slow = each.verdict == "low" and known
        least = LARGE
        if each.what.startswith("nccl-tests") and not known and (each.hosts or 0) > 1:
            slow, least = each.best_bytes_per_s < LEAST_PORT, LARGE_COLLECTIVE
        if slow and (each.size_bytes or 0) >= least:
            found.append(each)
    return found
