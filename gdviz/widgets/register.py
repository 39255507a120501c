"""Step 3, Register: make a buffer known to a NIC, and see how the NIC finds its pages."""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets as w

from gdviz.figures import TranslationPicture
from gdviz.messages import _
from gdviz.quantities import format_size
from gdviz.rdma import AccessFlags
from gdviz.session import MemoryRegion, Session, Topic
from gdviz.widgets.buffers import label
from gdviz.widgets.live import LiveFigure
from gdviz.widgets.panel import Panel
from gdviz.widgets.parts import Controls, button, labelled, offer, table
from gdviz.widgets.stage import Stage

#: The flags that transfers here can need.
FLAGS = (AccessFlags.LOCAL_WRITE, AccessFlags.REMOTE_WRITE, AccessFlags.REMOTE_READ)

#: Pages handed to the picture; it draws the first few and counts the rest.
_ROWS = 64


class RegisterPanel(Panel):
    """Register buffers with NICs and look at the translation."""

    title = _("Register")

    def build(self, session: Session, stage: Stage) -> None:
        """Make the controls."""
        self.buffer = labelled(_("Buffer"), w.Dropdown)
        self.nic = labelled(_("NIC"), w.Dropdown)
        self.flags = {
            flag: w.Checkbox(
                value=True,
                description=AccessFlags(flag).text,
                indent=False,
                layout=w.Layout(width="100%"),
            )
            for flag in FLAGS
        }
        self.region = labelled(_("Region"), w.Dropdown)
        self.picture = TranslationPicture((), how="", page_bytes=0, title="")
        self.figure = LiveFigure(
            self.picture.root, session.engine, layout=w.Layout(width="100%", overflow="hidden")
        )
        self.listing = w.HTML()
        self.controls = Controls(
            session,
            [
                self.buffer,
                self.nic,
                *self.flags.values(),
                w.HBox([button(_("Register"), lambda: self.controls.act(self._register()), main=True)]),
                self.region,
                w.HBox([button(_("Deregister"), lambda: self.controls.act(self._deregister()))]),
            ],
        )
        self.view = w.VBox([self.figure, self.listing])
        self.buffer.observe(lambda _change: self._later(self._offer_nics), "value")
        self.region.observe(lambda _change: self._later(self._draw), "value")
        self._unwatch.append(session.watch(Topic.OBJECTS, lambda _news: self._refresh()))
        self._later(self._refresh)

    def enter(self) -> None:
        """Show where the chosen region lies."""
        self.stage.show_charts(False)
        self.stage.on_click(None)
        self._draw()

    def _offer_nics(self) -> None:
        buffer = self.buffer.value
        if buffer is None:
            self.nic.options = []
            return
        machine = self.session.state.machines[buffer.record.node]
        part = buffer.record.location.part
        gpu = buffer.record.location.kind == "gpu"
        options = []
        for nic in machine.nics:
            distance = f" ({machine.path(part, nic.id).distance.value})" if gpu else ""
            options.append((f"{nic.name}{distance}", nic.id))
        nearest = machine.nearest_nic(part) if gpu else None
        self.nic.value = None
        offer(self.nic, options, nearest.id if nearest else None)

    async def _register(self) -> None:
        buffer = self.buffer.value
        if buffer is None or self.nic.value is None:
            self.controls.message.say(_("Allocate a buffer first (step Buffers)."))
            return
        access = AccessFlags(0)
        for flag, box in self.flags.items():
            if box.value:
                access |= flag
        region = await self.session.state.register(buffer.record.node, self.nic.value, buffer, access)
        self._refresh()
        self.region.value = region
        self.controls.message.say(
            _("Registered by {how}: {pages} pages of {page}.").format(
                how=region.translation.how,
                pages=f"{region.pages:,}",
                page=format_size(region.record.page_bytes),
            )
        )

    async def _deregister(self) -> None:
        region = self.region.value
        if region is None:
            self.controls.message.say(_("There is no region to deregister."))
            return
        await self.session.state.deregister(region)
        self.controls.message.say(_("Deregistered."))

    def _refresh(self) -> None:
        state = self.session.state
        offer(self.buffer, [(label(self.session, b), b) for b in state.buffers])
        offer(self.region, region_options(state.regions))
        self.listing.value = table(
            (_("Node"), _("NIC"), _("Memory"), _("Size"), "lkey", "rkey", _("Pages"), _("Access")),
            [
                (
                    r.record.node,
                    r.record.nic,
                    r.buffer.where,
                    format_size(r.length),
                    f"{r.lkey:#x}",
                    f"{r.rkey:#x}",
                    f"{r.pages:,} × {format_size(r.record.page_bytes)}",
                    r.access.text,
                )
                for r in state.regions
            ],
            _("No memory regions yet. Choose a buffer and a NIC, press Register."),
        )
        self._draw()

    def _draw(self) -> None:
        region: MemoryRegion | None = self.region.value
        self.stage.picture.clear()
        if region is None:
            self.picture.update((), how="", page_bytes=0, title="")
            return
        translation = region.translation
        self.picture.update(
            tuple(translation.rows(0, _ROWS)),
            how=translation.how,
            page_bytes=translation.page_bytes,
            title=f"{region_label(region)}: {format_size(region.length)}",
            total_pages=translation.pages,
            lkey=region.lkey,
            rkey=region.rkey,
            access=region.access.text,
        )
        names = [node.name for node in self.stage.nodes]
        location = region.buffer.record.location
        if region.record.node in names and location.kind == "gpu":
            path = self.session.state.machines[region.record.node].path(location.part, region.record.nic)
            self.stage.picture.show_path(names.index(region.record.node), path)


def region_label(region: MemoryRegion) -> str:
    """Return a region's name in a list."""
    return f"{region.record.node} {region.buffer.where}, {region.record.nic}"


def region_options(regions: Sequence[MemoryRegion]) -> list[tuple[str, MemoryRegion]]:
    """Return regions with their names for a dropdown; those of one name are numbered."""
    names = [region_label(region) for region in regions]
    return [
        (f"{name} (#{region.record.number})" if names.count(name) > 1 else name, region)
        for name, region in zip(names, regions, strict=True)
    ]
