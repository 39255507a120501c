"""Step 2, Buffers: allocate memory on GPUs and hosts, see it listed, free it."""

from __future__ import annotations

import ipywidgets as w

from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.quantities import format_size, parse_size
from gdviz.rdma import Location
from gdviz.session import Buffer, Session, Topic
from gdviz.widgets.panel import Panel
from gdviz.widgets.parts import Controls, button, labelled, offer, table
from gdviz.widgets.stage import Stage

PATTERNS = ("counter", "random", "text", "zeros")


class BuffersPanel(Panel):
    """Allocate, list and free buffers."""

    title = _("Buffers")

    def build(self, session: Session, stage: Stage) -> None:
        """Make the controls."""
        self.where = labelled(_("Memory"), w.Dropdown, options=_places(session))
        self.size = labelled(_("Size"), w.Text, value="64 MiB", continuous_update=False)
        self.pattern = labelled(_("Filled with"), w.Dropdown, options=PATTERNS)
        self.chosen = labelled(_("Buffer"), w.Dropdown)
        self.listing = w.HTML()
        self.controls = Controls(
            session,
            [
                self.where,
                self.size,
                self.pattern,
                w.HBox([button(_("Allocate"), lambda: self.controls.act(self._alloc()), main=True)]),
                self.chosen,
                w.HBox([button(_("Free"), lambda: self.controls.act(self._free()))]),
            ],
        )
        self.below = w.VBox([self.listing])
        self._unwatch.append(session.watch(Topic.OBJECTS, lambda _news: self._refresh()))
        self._later(self._refresh)

    def enter(self) -> None:
        """Show the picture without a path."""
        self.stage.show_charts(False)
        self.stage.picture.clear()
        self.stage.on_click(self._clicked)

    def _clicked(self, node: int, part: str) -> None:
        name = self.stage.nodes[node].name
        for _label, (place, location) in self.where.options:
            if place == name and location.part == part:
                self.where.value = (place, location)

    async def _alloc(self) -> None:
        if self.where.value is None:
            raise GdvizError(_("There is no memory: the machines have neither a GPU nor a CPU."))
        node, location = self.where.value
        size = parse_size(self.size.value)
        await self.session.state.alloc(node, location, size, self.pattern.value)
        self.controls.message.say(_("Allocated {size}.").format(size=format_size(size)))

    async def _free(self) -> None:
        buffer = self.chosen.value
        if buffer is None:
            self.controls.message.say(_("There is no buffer to free."))
            return
        await self.session.state.free(buffer)
        self.controls.message.say(_("Freed {size}.").format(size=format_size(buffer.size_bytes)))

    def _refresh(self) -> None:
        buffers = self.session.state.buffers
        offer(self.chosen, [(label(self.session, b), b) for b in buffers])
        self.controls.act(self._list(tuple(buffers)))

    async def _list(self, buffers: tuple[Buffer, ...]) -> None:
        rows = []
        regions = self.session.state.regions
        for buffer in buffers:
            registered = [r.record.nic for r in regions if r.buffer is buffer]
            rows.append(
                (
                    buffer.record.node,
                    self.session.state.place_name(buffer.record.node, buffer.record.location),
                    format_size(buffer.size_bytes),
                    f"{buffer.address:#x}",
                    buffer.record.pattern,
                    ", ".join(registered) or "-",
                )
            )
        head = (
            _("Node"),
            _("Memory"),
            _("Size"),
            _("Address"),
            _("Filled with"),
            _("Registered with"),
        )
        text = table(head, rows, _("No buffers yet. Choose a GPU, type a size, press Allocate."))
        self.listing.value = text + await self._bar1()

    async def _bar1(self) -> str:
        rows = []
        for node in self.session.nodes:
            for gpu in node.machine.gpus:
                used = await self.session.state.bar1_used(node.name, gpu.id)
                if used:
                    total = format_size(gpu.bar1_bytes) if gpu.bar1_bytes else "?"
                    rows.append((node.name, f"GPU {gpu.index}", format_size(used), total))
        head = (_("Node"), "GPU", _("BAR1 in use"), _("BAR1"))
        return "<br>" + table(head, rows) if rows else ""


def label(session: Session, buffer: Buffer) -> str:
    """Return a buffer's name in a list."""
    record = buffer.record
    place = session.state.place_name(record.node, record.location)
    return f"{record.node} {place}, {format_size(record.size_bytes)} (#{record.number})"


def _places(session: Session) -> list[tuple[str, tuple[str, Location]]]:
    places = []
    for node in session.nodes:
        machine = node.machine
        locations = [Location("gpu", gpu.id) for gpu in machine.gpus]
        locations += [Location("host", cpu.id) for cpu in machine.cpus]
        places += [
            (f"{node.name} {session.state.place_name(node.name, where)}", (node.name, where))
            for where in locations
        ]
    return places
