"""The path picture: which way the bytes go through one or two nodes, and where they queue.

A `PathPicture` keeps what is shown (what is opened, selected, lit, loaded, highlighted) and writes it into
the columns of a Bokeh figure; each change touches only the sources that it must. Where things stand is in
`layout`, the way of the bytes in `route`; this module only joins them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from bokeh.events import DoubleTap, Event, PointEvent, Reset, Tap
from bokeh.models import ColumnDataSource, CustomJS, Plot

from gdviz.errors import UnknownDeviceError
from gdviz.figures.labels import Label, fabric_labels, node_labels
from gdviz.figures.layout import BOTTOM, MARGIN, TOP, WIDTH, Layout, lay_out
from gdviz.figures.lit import IN_USE, MARK_SPACING, Lit, lit_columns, mark_columns
from gdviz.figures.notes import Notes, notes
from gdviz.figures.picture_columns import (
    box_columns,
    chip_columns,
    decoration_columns,
    glow_columns,
    grown,
    link_columns,
    link_key,
    outline_columns,
    text_columns,
)
from gdviz.figures.picture_models import PictureModels, fill, javascript, make_models
from gdviz.figures.picture_words import in_words
from gdviz.figures.shapes import Box, BoxKind
from gdviz.figures.shown import Shown, Transfer
from gdviz.figures.text_size import SMALL_PX, largest_size, shorten
from gdviz.figures.words import fabric_lines, usual_fabric
from gdviz.machine import Gpu, Machine, Nic, Path
from gdviz.messages import _
from gdviz.model.results import Ceiling, Place, Prediction
from gdviz.model.workload import DataPath, Endpoint, Fabric, Op

Click = Callable[[int, str], None]


class PathPicture:
    """The PCIe trees of one or two nodes as a Bokeh figure, with paths lit on it.

    Parameters
    ----------
    machines
        One, or two that a wire joins: the first above, the second mirrored below.
    fabric
        The wire; None for the usual one between their first NICs.
    simulated
        Whether to say that what is shown is simulated.

    Attributes
    ----------
    layout
        Where everything stands.
    lit
        The lit path.
    labels
        All texts but those on a ground of their own.
    notes
        The texts on a ground of their own, and the collar round the narrowest place.
    models
        The figure and all its sources.
    """

    def __init__(
        self, machines: Sequence[Machine], *, fabric: Fabric | None = None, simulated: bool = True
    ) -> None:
        if not 1 <= len(machines) <= 2:
            raise ValueError("a path picture shows one or two nodes")
        self.machines = tuple(machines)
        self.simulated = simulated
        self._shown = Shown.nothing(machines)
        self._fabric_lines = fabric_lines(fabric or usual_fabric(self.machines))
        self._callbacks: list[Click] = []
        self.lit = Lit()
        self.notes = Notes()
        self.labels: tuple[Label, ...] = ()
        self.layout: Layout = lay_out(self.machines, self._shown.wanted(), self._fabric_lines)
        self.models: PictureModels = make_models(self.layout.height)
        self.root.on_event(Tap, self._tapped)
        # Two quick clicks on two boxes come as a tap and a double tap.
        self.root.on_event(DoubleTap, self._tapped)
        self.root.on_event(Reset, lambda _event: self._freed())
        self._draw_boxes()
        self._relight()

    @property
    def root(self) -> Plot:
        """The Bokeh model to show."""
        return self.models.plot

    @property
    def source(self) -> ColumnDataSource:
        """The source of the boxes."""
        return self.models.boxes

    @property
    def segments(self) -> tuple[Place, ...]:
        """The lit path's places in the direction of the bytes: a row of loads has one number for each."""
        return self.lit.places

    @property
    def heading_text(self) -> str:
        """The line above the picture: what is lit and how it does, or what to do next."""
        return self._shown.heading()

    # ------------------------------------------------------------------ choosing

    def selected(self, node_index: int) -> tuple[str | None, str | None]:
        """Return the ids of the GPU and the NIC that are chosen on a node."""
        chosen = self._shown.chosen[node_index]
        return chosen.get(Gpu), chosen.get(Nic)

    def on_click(self, callback: Click) -> None:
        """Call `callback(node index, part id)` when a person clicks a GPU or a NIC, or frees one.

        The selection has changed by then: see `selected`.
        """
        self._callbacks.append(callback)

    def select(self, node_index: int, part_id: str | None) -> None:
        """Choose a GPU or NIC of a node; None frees both.

        Raises
        ------
        UnknownDeviceError
            No GPU or NIC of that id.
        """
        if part_id is None:
            self._shown.chosen[node_index].clear()
        else:
            part = self.machines[node_index].part(part_id)
            if not isinstance(part, Gpu | Nic):
                raise UnknownDeviceError(
                    _("{part!r} is neither GPU nor NIC.").format(part=part_id),
                    _("Only those can be chosen."),
                )
            self._shown.chosen[node_index][type(part)] = part_id
        if not self._refold():
            self._draw_outlines()

    def _tapped(self, event: Event) -> None:
        assert isinstance(event, PointEvent)
        # Found here and not by Bokeh's own selection: the page sends every change of that back, and an echo
        # cannot be told from a person's click.
        box = self.box_at(event.x, event.y) if event.x is not None and event.y is not None else None
        if box is None:
            return
        opened = self._shown.opened[box.node]
        clicked = box.kind in (BoxKind.GPU, BoxKind.NIC)
        if clicked:
            part = self.machines[box.node].part(box.part)
            assert isinstance(part, Gpu | Nic)
            self._shown.toggle_chosen(box.node, part)
        elif box.kind is BoxKind.GROUP or box.part in opened:
            opened.symmetric_difference_update({box.part})
        if not self._refold():
            self._draw_outlines()
        if clicked:
            self._tell(box.node, box.part)

    def box_at(self, x: float, y: float) -> Box | None:
        """Return the box at a point of the picture, in its own pixels; None where there is none."""
        for box in reversed(self.layout.boxes):
            left, top, right, bottom = box.rect
            if left <= x <= right and top <= y <= bottom:
                return box
        return None

    def _freed(self) -> None:
        """Free what is chosen, as Escape does."""
        freed = [(i, part) for i, chosen in enumerate(self._shown.chosen) for part in chosen.values()]
        for chosen in self._shown.chosen:
            chosen.clear()
        if not self._refold():
            self._draw_outlines()
        for node, part in freed:
            self._tell(node, part)

    def _tell(self, node: int, part: str) -> None:
        for callback in self._callbacks:
            callback(node, part)

    def expand(self, group: str, node_index: int | None = None) -> None:
        """Open a folded group, by the id of its switch (or CPU); None: on every node that has it."""
        for index, machine in enumerate(self.machines):
            if node_index in (None, index) and any(part.id == group for part in machine):
                self._shown.opened[index].add(group)
        self._refold()

    def collapse(self, group: str, node_index: int | None = None) -> None:
        """Let a group fold again, if the picture needs the room."""
        for index, opened in enumerate(self._shown.opened):
            if node_index in (None, index):
                opened.discard(group)
        self._refold()

    # ------------------------------------------------------------------ lighting

    def show_path(self, node_index: int, path: Path | None) -> None:
        """Light the way from a GPU to a NIC of one node; None puts it out."""
        self._shown.forget_transfer()
        if path is None:
            self._shown.paths.pop(node_index, None)
        else:
            self._shown.paths[node_index] = path
        if not self._refold():
            self._relight()

    def show_transfer(
        self,
        local: Endpoint,
        remote: Endpoint,
        path: DataPath,
        prediction: Prediction | None = None,
        *,
        op: Op | None = None,
    ) -> None:
        """Light the whole way of a transfer's bytes.

        Parameters
        ----------
        local, remote
            Who posts, and the other end. Ends of one node run to the wire and back.
        prediction
            Gives capacities, the narrowest place and the figures of the heading. Its loads are not shown
            (nothing flows yet): `set_loads` does that.
        op
            Direction of the bytes, where there is no prediction to tell it.
        """
        shown = self._shown
        shown.forget_transfer()
        shown.paths.clear()
        op = op or (prediction.workload.op if prediction else Op.WRITE)
        shown.transfer = Transfer(local, remote, path, op, prediction)
        if prediction is not None:
            shown.capacities = dict(prediction.capacities)
            shown.narrowest = prediction.bottleneck
            shown.loads = {}
        if not self._refold():
            self._relight()

    def clear(self) -> None:
        """Put out every path and free every choice."""
        self._shown.forget_transfer()
        self._shown.paths.clear()
        for chosen in self._shown.chosen:
            chosen.clear()
        if not self._refold():
            self._relight()

    def set_loads(
        self, loads: Mapping[Place, float], capacities: Mapping[Place, float] | None = None
    ) -> None:
        """Fill the lit path's tubes.

        Parameters
        ----------
        loads
            Bytes a second through each place.
        capacities
            Bytes a second that each can carry; those left out are the prediction's or the machine's.
        """
        self._shown.loads = dict(loads)
        known = self._shown.capacities
        if capacities is not None and any(known.get(place) != rate for place, rate in capacities.items()):
            known.update(capacities)
            self._relight()
        else:
            self._draw_lit()

    def set_bottleneck(self, ceiling: Ceiling | None) -> None:
        """Put a collar round the narrowest place and name it."""
        self._shown.narrowest = ceiling
        self._draw_notes()
        self._draw_outlines()

    def highlight(self, places: Collection[Place] | None) -> None:
        """Show only some places bright, as for one stage of a message in slow motion; None: all."""
        self._shown.active = frozenset(places) if places is not None else None
        self._draw_lit()
        self._draw_glow()

    def live(self, source: ColumnDataSource, column: str = "loads") -> None:
        """Let each row streamed into `source` move the marks and fill the tubes, in the browser alone.

        Parameters
        ----------
        source
            The shared live source.
        column
            Its column of lists: for every place of `segments`, in order, the share in use from 0 to 1.
        """
        callback = CustomJS(
            args={
                "live": source,
                "column": column,
                "lit": self.models.lit,
                "marks": self.models.marks,
                "spacing": MARK_SPACING,
                "words": IN_USE,
            },
            code=javascript("path_live.js"),
        )
        source.js_on_change("streaming", callback)

    def shares(self) -> list[float] | None:
        """Return the share in use of each segment, None where no loads are known."""
        return self._shown.shares(self.lit)

    # ------------------------------------------------------------------ drawing

    def _refold(self) -> bool:
        """Open and fold what must be; draw all anew and return True if that changed anything."""
        layout = lay_out(self.machines, self._shown.wanted(), self._fabric_lines)
        if [node.folded for node in layout.nodes] == [node.folded for node in self.layout.nodes]:
            return False
        self.layout = layout
        if layout.height != self.models.height.start:
            self.models.height.update(start=layout.height, end=0)
            self.models.plot.aspect_ratio = WIDTH / layout.height
        self._draw_boxes()
        self._relight()
        return True

    def _draw_boxes(self) -> None:
        fill(self.models.boxes, box_columns(self.layout))
        fill(self.models.decorations, decoration_columns(self.layout))

    def _relight(self) -> None:
        """Find the lit path anew and draw all that follows from it."""
        self.lit = self._shown.lit(self.layout)
        covered = {link_key(leg.node, leg.place) for leg in self.lit.legs}
        fill(self.models.links, link_columns(self.layout, covered))
        labels = fabric_labels(self.layout) + self._frame_labels()
        for node in self.layout.nodes:
            lit_switches = frozenset(part for index, part in self.lit.inner if index == node.index)
            labels += node_labels(node, lit_switches)
        self.labels = tuple(labels)
        fill(self.models.texts, text_columns(labels))
        self._draw_lit()
        self._draw_glow()
        self._draw_notes()
        self._draw_outlines()

    def _draw_lit(self) -> None:
        fill(self.models.lit, lit_columns(self.lit, self.shares(), self._shown.active))
        moving = self.lit if self._shown.transfer is not None else Lit()
        fill(self.models.marks, mark_columns(moving, self._shown.active))

    def _draw_glow(self) -> None:
        """Show highlighted places that no leg of the lit path runs on."""
        rest = (self._shown.active or frozenset()) - set(self.lit.places)
        places = [(self._shown.node_of(place), place) for place in sorted(rest, key=str)]
        fill(self.models.glow, glow_columns(self.layout, places, self.lit.role))

    def _draw_notes(self) -> None:
        narrowest = self._shown.narrowest
        node = self._shown.node_of(narrowest.place) if narrowest else -1
        self.notes = notes(self.layout, self.lit, self.labels, narrowest, node)
        fill(self.models.chips, chip_columns(self.notes.chips))

    def _draw_outlines(self) -> None:
        nodes = self.layout.nodes
        marked = [(nodes[node].boxes[part_id], self.lit.role, 2.5) for node, part_id in self.lit.ends]
        for node, chosen in zip(nodes, self._shown.chosen, strict=True):
            marked += [(grown(node.boxes[part_id], 3.0), "chosen", 2.0) for part_id in chosen.values()]
        if self.notes.collar is not None:
            marked.append((Box(0, "", BoxKind.CPU, self.notes.collar), "warning", 3.5))
        fill(self.models.outlines, outline_columns(marked))

    def _frame_labels(self) -> list[Label]:
        role = self.lit.role if self.lit.legs else "faint"
        room = WIDTH - 2 * MARGIN - 8
        heading = self._shown.heading()
        size = largest_size([(heading, room)], (16, 15, 14, 13), bold=True)
        text = shorten(heading, size, room, bold=True)
        found = [Label(MARGIN + 2, TOP / 2 - 1, text, size, True, role, "left", room)]
        if self.simulated:
            y = self.layout.height - BOTTOM / 2 + 1
            found.append(Label(WIDTH - MARGIN, y, _("simulated"), SMALL_PX + 1, False, "faint", "right", 200))
        return found

    def __str__(self) -> str:
        """Return the picture in words: the hops of what is lit, aligned, and the narrowest of them."""
        shown = self._shown
        return in_words(
            shown.heading(), self.machines, self.lit, self.shares(), shown.narrowest, self.simulated
        )
