"""The sentences round a path picture: its heading, and the whole picture as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gdviz.figures.lit import Lit
from gdviz.figures.path_table import hop_rows, table
from gdviz.figures.text_size import plain
from gdviz.machine import Machine, Path
from gdviz.messages import _
from gdviz.model.results import Ceiling, Place, Prediction
from gdviz.model.workload import DataPath
from gdviz.quantities import format_duration, format_rate, format_size


def transfer_heading(path: DataPath, prediction: Prediction | None) -> str:
    """Return what is said above a transfer: its path and what the model expects of it."""
    name = _("direct") if path is DataPath.DIRECT else _("staged, through host memory at both ends")
    if prediction is None:
        return name
    return _("{name}: {rate} expected, {latency} for one message of {size}").format(
        name=name,
        rate=format_rate(prediction.bandwidth_bytes_per_s),
        latency=format_duration(prediction.latency.p50),
        size=format_size(prediction.workload.size_bytes),
    )


def paths_heading(machines: Sequence[Machine], paths: Mapping[int, Path]) -> str:
    """Return what is said above paths from GPUs to NICs: their classes; without any, what to do."""
    said = [_path_line(machines[index], path, alone=len(paths) == 1) for index, path in sorted(paths.items())]
    if said:
        return "   ".join(said)
    if not any(machine.gpus and machine.nics for machine in machines):
        return _("No GPU or no NIC that the source names.")
    return _("Click a GPU, then a NIC.")


def _path_line(machine: Machine, path: Path, *, alone: bool) -> str:
    nic = plain(machine.nic(path.nic).name)
    line = f"GPU {machine.gpu(path.gpu).index} → {nic}: {path.distance.value}"
    if not alone:
        return line
    line += f", {path.distance.meaning}"
    narrow = path.bottleneck
    if narrow is not None and narrow.bytes_per_s:
        what = str(narrow.link) if narrow.link else narrow.kind.value
        rate = format_rate(narrow.bytes_per_s)
        line += " · " + _("narrowest {what}, {rate}").format(what=what, rate=rate)
    return line


def in_words(
    heading: str,
    machines: Sequence[Machine],
    lit: Lit,
    shares: Sequence[float] | None,
    narrowest: Ceiling | None,
    simulated: bool,
) -> str:
    """Return a picture as text: its heading and an aligned table of hops, the narrowest named."""
    lines = [heading] if lit.legs else [str(machine) for machine in machines]
    if lit.legs:
        place = narrowest.place if narrowest else _narrowest_place(lit)
        rows = hop_rows(lit.legs, dict(enumerate(machines)), lit.capacities, shares, place)
        heads = (_("node"), _("hop"), "PCIe", _("carries"), _("in use"), "")
        lines.append(table(rows, heads))
    if narrowest is not None:
        rate = format_rate(narrowest.bytes_per_s)
        lines.append(_("narrowest: {name}, {rate}").format(name=narrowest.name, rate=rate))
    if simulated:
        lines.append(_("simulated"))
    return "\n".join(lines)


def _narrowest_place(lit: Lit) -> Place | None:
    known = [(rate, i) for i, rate in enumerate(lit.capacities) if rate is not None]
    return lit.legs[min(known)[1]].place if known else None
