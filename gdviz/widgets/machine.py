"""Step 1, Machine: the nodes' PCIe trees, and the path from a GPU to a NIC."""

from __future__ import annotations

import ipywidgets as w

from gdviz.machine import Bridge, Cpu, Distance, Gpu, Hop, Machine, Nic, Path
from gdviz.messages import _
from gdviz.quantities import format_rate
from gdviz.session import Session
from gdviz.widgets.panel import Panel
from gdviz.widgets.parts import Controls, button, labelled, offer, table
from gdviz.widgets.stage import Stage

#: A dropdown shows None as nothing at all.
_NOBODY = ""


class MachinePanel(Panel):
    """The machine, its parts, and a path through it.

    Click a GPU, then a NIC of the same node, or choose them; the path lights up with its distance class,
    each hop and the narrowest one.
    """

    title = _("Machine")

    def build(self, session: Session, stage: Stage) -> None:
        """Make the controls."""
        names = [node.name for node in stage.nodes]
        self.node = labelled(_("Node"), w.Dropdown, options=[(n, i) for i, n in enumerate(names)])
        self.gpu = labelled(_("GPU"), w.Dropdown)
        self.nic = labelled(_("NIC"), w.Dropdown)
        self.hops = w.HTML()
        self._drawn: tuple[int, str | None, str | None] | None = None
        self._fill(0)
        self.controls = Controls(
            session,
            [
                self.node,
                self.gpu,
                self.nic,
                w.HBox([button(_("Clear"), self._clear, _("Forget the path"))]),
                self.hops,
            ],
        )
        self.controls.message.say(_("Click a GPU, then a NIC of the same node."))
        self.node.observe(lambda change: self._later(self._fill, change["new"]), "value")
        self.gpu.observe(lambda _change: self._later(self._show), "value")
        self.nic.observe(lambda _change: self._later(self._show), "value")

    def enter(self) -> None:
        """Take the picture's clicks."""
        self.stage.show_charts(False)
        self.stage.on_click(self._clicked)
        self._drawn = None
        self._show()

    def _fill(self, node: int) -> None:
        machine = self.stage.nodes[node].machine
        nobody = [("–", _NOBODY)]
        offer(self.gpu, nobody + [(f"{g.index}: {g.name}", g.id) for g in machine.gpus])
        offer(self.nic, nobody + [(f"{n.index}: {n.name}", n.id) for n in machine.nics])

    def _clicked(self, node: int, _part: str) -> None:
        gpu, nic = self.stage.picture.selected(node)
        if self.node.value != node:
            self.node.value = node
            self._fill(node)
        self.gpu.value, self.nic.value = gpu or _NOBODY, nic or _NOBODY
        self._show()

    def _clear(self) -> None:
        self.gpu.value = self.nic.value = _NOBODY
        self._later(self._show)

    def _show(self) -> None:
        node, gpu, nic = self.node.value, self.gpu.value or None, self.nic.value or None
        if (node, gpu, nic) == self._drawn:
            return
        self._drawn = (node, gpu, nic)
        picture = self.stage.picture
        picture.clear()
        for part in (gpu, nic):
            if part is not None:
                picture.select(node, part)
        if gpu is None or nic is None:
            self.hops.value = ""
            self.controls.message.say(
                _("Now a NIC.") if gpu else _("Now a GPU.") if nic else _("Click a GPU, then a NIC.")
            )
            return
        path = self.stage.nodes[node].machine.path(gpu, nic)
        picture.show_path(node, path)
        self.hops.value = hop_table(self.stage.nodes[node].machine, path)
        self.controls.message.say(path_sentence(path))


def hop_table(machine: Machine, path: Path) -> str:
    """Return a path's hops as an HTML table, the narrowest marked."""
    narrowest = path.bottleneck

    def row(hop: Hop) -> tuple[str, str, str]:
        carried = format_rate(hop.bytes_per_s) if hop.bytes_per_s else "–"
        mark = _("narrowest") if hop is narrowest else ""
        what = str(hop.link) if hop.link else hop.kind.value
        ends = f"{part_name(machine, hop.source)} → {part_name(machine, hop.target)}"
        return ends, what, f"{carried} {mark}".strip()

    return table((_("Hop"), _("Link"), _("One way")), map(row, path.hops))


def part_name(machine: Machine, part_id: str) -> str:
    """Return a part's name for people, short enough for a narrow table."""
    part = machine.part(part_id)
    match part:
        case Gpu():
            return f"GPU {part.index}"
        case Nic():
            return part.name
        case Cpu():
            return f"CPU {part.numa}"
        case Bridge():
            return part.kind.value
    return part.id.removeprefix("0000:")


def path_sentence(path: Path) -> str:
    """Return one sentence on a path: its class, what that means, the narrowest hop."""
    text = f"{path.distance.value}: {path.distance.meaning}."
    if path.nccl is not path.distance and path.distance is not Distance.NODE:
        text += " " + _("NCCL counts it as {nccl}.").format(nccl=path.nccl.value)
    narrowest = path.bottleneck
    if narrowest is not None and narrowest.bytes_per_s:
        text += " " + _("Narrowest: {hop}, {rate} one way.").format(
            hop=narrowest.link or narrowest.kind.value, rate=format_rate(narrowest.bytes_per_s)
        )
    return text
