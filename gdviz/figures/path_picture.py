"""The path picture: which way the bytes go through one or two nodes, and where they queue.

A `PathPicture` keeps what is shown (what is opened, selected, lit, loaded, highlighted) and writes it into
the columns of a Bokeh figure; each change touches only the sources that it must. Where things stand is in
`layout`, the way of the bytes in `route`; this module only joins them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from bokeh.models import ColumnDataSource, CustomJS, Plot

from gdviz.errors import UnknownDeviceError
from gdviz.figures.labels import Label, fabric_labels, node_labels
from gdviz.figures.layout import BOTTOM, MARGIN, TOP, WIDTH, Layout, lay_out
from gdviz.figures.lit import MARK_SPACING, Lit, lit_columns, mark_columns
from gdviz.figures.notes import Notes, notes, part_collar
from gdviz.figures.path_table import hop_rows, table
from gdviz.figures.paths import needed, path_lit, transfer_lit
from gdviz.figures.picture_columns import (
    box_columns,
    chip_columns,
    decoration_columns,
    link_columns,
    outline_columns,
    text_columns,
)
from gdviz.figures.picture_models import PictureModels, javascript, make_models
from gdviz.figures.shapes import Box, BoxKind, LinkKind, bars, tube_px
from gdviz.figures.text_size import SMALL_PX, plain, shorten
from gdviz.figures.outlines import rectangle, together
from gdviz.machine import Gpu, Machine, Nic, Path
from gdviz.messages import _
from gdviz.model.results import Ceiling, Place, PlaceKind, Prediction, Side
from gdviz.model.workload import DataPath, Endpoint, Fabric, Op
from gdviz.quantities import format_duration, format_rate, format_size

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
    root
        The Bokeh model.
    source
        The source of the boxes; its selection is what is chosen.
    """

    def __init__(
        self, machines: Sequence[Machine], *, fabric: Fabric | None = None, simulated: bool = True
    ) -> None:
        if not 1 <= len(machines) <= 2:
            raise ValueError("a path picture shows one or two nodes")
        self.machines = tuple(machines)
        self.simulated = simulated
        self._fabric = fabric or _usual_fabric(self.machines)
        self._opened: list[set[str]] = [set() for _ in self.machines]
        self._chosen: list[dict[type, str]] = [{} for _ in self.machines]
        self._paths: dict[int, Path] = {}
        self._transfer: tuple[Endpoint, Endpoint, DataPath, Op] | None = None
        self._prediction: Prediction | None = None
        self._capacities: dict[Place, float] = {}
        self._loads: dict[Place, float] | None = None
        self._narrowest: Ceiling | None = None
        self._active: frozenset[Place] | None = None
        self._callbacks: list[Click] = []
        self._lit = Lit()
        self._notes = Notes()
        self._labels: tuple[Label, ...] = ()
        self.layout = self._lay_out()
        self._models = make_models(self.layout.height)
        self._syncing = False
        self.source.selected.on_change("indices", self._clicked)
        self._draw_all()

    # ------------------------------------------------------------------ what others read

    @property
    def root(self) -> Plot:
        """The Bokeh model to show."""
        return self._models.plot

    @property
    def source(self) -> ColumnDataSource:
        """The source of the boxes."""
        return self._models.boxes

    @property
    def models(self) -> PictureModels:
        """The figure and all its sources."""
        return self._models

    @property
    def segments(self) -> tuple[Place, ...]:
        """The places of the lit path in the direction of the bytes: a row of loads has one number for each."""
        return self._lit.places

    @property
    def lit(self) -> Lit:
        """The lit path."""
        return self._lit

    @property
    def labels(self) -> tuple[Label, ...]:
        """All texts but those on a ground of their own."""
        return self._labels

    @property
    def notes(self) -> Notes:
        """The texts on a ground of their own, and the collar."""
        return self._notes

    def selected(self, node_index: int) -> tuple[str | None, str | None]:
        """Return the ids of the GPU and the NIC that are chosen on a node."""
        chosen = self._chosen[node_index]
        return chosen.get(Gpu), chosen.get(Nic)

    # ------------------------------------------------------------------ choosing

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
            self._chosen[node_index].clear()
        else:
            part = self.machines[node_index].part(part_id)
            if not isinstance(part, Gpu | Nic):
                raise UnknownDeviceError(
                    _("{part!r} is neither GPU nor NIC.").format(part=part_id),
                    _("Only those can be chosen."),
                )
            self._chosen[node_index][type(part)] = part_id
            self._open(node_index, part_id)
        self._draw_outlines()

    def _clicked(self, _attr: str, _old: list[int], new: list[int]) -> None:
        if self._syncing:
            return
        boxes = self.layout.boxes
        changed = set(self._indices()) ^ {i for i in new if 0 <= i < len(boxes)}
        events = []
        for index in sorted(changed):
            box = boxes[index]
            if box.kind is BoxKind.GROUP:
                self._toggle(box.node, box.part)
            elif box.kind is BoxKind.SWITCH and box.part in self._opened[box.node]:
                self._toggle(box.node, box.part)
            elif box.kind in (BoxKind.GPU, BoxKind.NIC):
                kind: type = Gpu if box.kind is BoxKind.GPU else Nic
                chosen = self._chosen[box.node]
                if chosen.get(kind) == box.part:
                    del chosen[kind]
                else:
                    chosen[kind] = box.part
                events.append((box.node, box.part))
        self._draw_outlines()
        for event in events:
            for callback in self._callbacks:
                callback(*event)

    def expand(self, group: str, node_index: int | None = None) -> None:
        """Open a folded group, by the id of its switch (or CPU); None: on every node that has it."""
        for index, machine in enumerate(self.machines):
            if node_index in (None, index) and any(part.id == group for part in machine):
                self._opened[index].add(group)
        self._relayout()

    def collapse(self, group: str, node_index: int | None = None) -> None:
        """Let a group fold again, if the picture needs the room."""
        for index in range(len(self.machines)):
            if node_index in (None, index):
                self._opened[index].discard(group)
        self._relayout()

    def _toggle(self, node_index: int, group: str) -> None:
        if group in self._opened[node_index]:
            self.collapse(group, node_index)
        else:
            self.expand(group, node_index)

    def _open(self, node_index: int, *part_ids: str | None) -> None:
        if any(p and self.layout.nodes[node_index].hidden_in(p) for p in part_ids):
            self._relayout()

    # ------------------------------------------------------------------ lighting

    def show_path(self, node_index: int, path: Path | None) -> None:
        """Light the way from a GPU to a NIC of one node; None puts it out."""
        self._forget_transfer()
        if path is None:
            self._paths.pop(node_index, None)
        else:
            self._paths[node_index] = path
            self._open(node_index, path.gpu, path.nic)
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
            Gives capacities, loads, the narrowest place and the figures of the heading.
        op
            Direction of the bytes, where there is no prediction to tell it.
        """
        self._forget_transfer()
        self._paths.clear()
        op = op or (prediction.workload.op if prediction else Op.WRITE)
        self._transfer = (local, remote, path, op)
        self._prediction = prediction
        if prediction is not None:
            self._capacities = dict(prediction.capacities)
            self._narrowest = prediction.bottleneck
            self._loads = dict.fromkeys(prediction.capacities, 0.0)
        for (index, end) in self._ends():
            self._open(index, end.gpu, end.nic)
        self._relight()

    def clear(self) -> None:
        """Put out every path and free every choice."""
        self._forget_transfer()
        self._paths.clear()
        for chosen in self._chosen:
            chosen.clear()
        self._relight()

    def set_loads(self, loads: Mapping[Place, float], capacities: Mapping[Place, float] | None = None) -> None:
        """Fill the lit path's tubes.

        Parameters
        ----------
        loads
            Bytes a second through each place.
        capacities
            Bytes a second that each can carry; those left out are the prediction's or the machine's.
        """
        self._loads = dict(loads)
        if capacities is not None and dict(capacities) != self._capacities:
            self._capacities.update(capacities)
            self._relight()
            return
        self._draw_lit()

    def set_bottleneck(self, ceiling: Ceiling | None) -> None:
        """Put a collar round the narrowest place and name it."""
        self._narrowest = ceiling
        self._draw_notes()
        self._draw_outlines()

    def highlight(self, places: Collection[Place] | None) -> None:
        """Show only some places bright, as for one stage of a message in slow motion; None: all."""
        self._active = frozenset(places) if places is not None else None
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
                "lit": self._models.lit,
                "marks": self._models.marks,
                "spacing": MARK_SPACING,
            },
            code=javascript("path_live.js"),
        )
        source.js_on_change("streaming", callback)

    def shares(self) -> list[float] | None:
        """Return the share in use of each segment, None where no loads are known."""
        if self._loads is None:
            return None
        return [
            min(1.0, self._loads.get(place, 0.0) / capacity) if capacity else 0.0
            for place, capacity in zip(self._lit.places, self._lit.capacities, strict=True)
        ]

    def _forget_transfer(self) -> None:
        self._transfer = self._prediction = self._loads = self._narrowest = self._active = None
        self._capacities = {}

    # ------------------------------------------------------------------ drawing

    def _ends(self) -> tuple[tuple[int, Endpoint], ...]:
        if self._transfer is None:
            return ()
        local, remote = self._transfer[:2]
        last = len(self.machines) - 1
        here = 1 if last and local.machine is self.machines[1] is not self.machines[0] else 0
        there = 0 if here else last
        if last and remote.machine is local.machine is not self.machines[1 - here]:
            there = here
        return (here, local), (there, remote)

    def _lay_out(self) -> Layout:
        opened = []
        for index, machine in enumerate(self.machines):
            wanted: list[str | None] = [*self._chosen[index].values()]
            if index in self._paths:
                wanted += [self._paths[index].gpu, self._paths[index].nic]
            for node, end in self._ends():
                if node == index:
                    wanted += [end.gpu, end.nic]
            kept = needed(machine, *wanted) | frozenset(self._opened[index])
            opened.append(kept)
        return lay_out(self.machines, opened, _fabric_lines(self._fabric))

    def _relayout(self) -> None:
        self.layout = self._lay_out()
        plot, height = self._models.plot, self.layout.height
        if plot.y_range.start != height:
            plot.y_range.update(start=height, end=0)
            plot.aspect_ratio = WIDTH / height
        self._draw_all()

    def _draw_all(self) -> None:
        _fill(self._models.boxes, box_columns(self.layout))
        _fill(self._models.decorations, decoration_columns(self.layout))
        self._relight()

    def _relight(self) -> None:
        """Find the lit path anew and draw all that follows from it."""
        self._lit = self._find_lit()
        covered = {_link_key(leg.node, leg.place) for leg in self._lit.legs}
        _fill(self._models.links, link_columns(self.layout, covered))
        lit_switches = [frozenset(p for n, p in self._lit.inner if n == i) for i in range(len(self.machines))]
        labels = [label for i, node in enumerate(self.layout.nodes) for label in node_labels(node, lit_switches[i])]
        labels += fabric_labels(self.layout) + self._frame_labels()
        self._labels = tuple(labels)
        _fill(self._models.texts, text_columns(labels))
        self._draw_lit()
        self._draw_glow()
        self._draw_notes()
        self._draw_outlines()

    def _find_lit(self) -> Lit:
        if self._transfer is not None:
            ends = self._ends()
            return transfer_lit(
                self.layout, (ends[0], ends[1]), self._transfer[2], self._transfer[3], self._capacities
            )
        found = Lit()
        for index, path in sorted(self._paths.items()):
            found = found.joined_with(path_lit(self.layout, index, path))
        return found

    def _draw_lit(self) -> None:
        _fill(self._models.lit, lit_columns(self._lit, self.shares(), self._active))
        lit = self._lit if self._transfer is not None else Lit()
        _fill(self._models.marks, mark_columns(lit))

    def _draw_notes(self) -> None:
        self._notes = notes(self.layout, self._lit, self._labels, self._narrowest)
        _fill(self._models.chips, chip_columns(self._notes.chips))

    def _draw_outlines(self) -> None:
        marked: list[tuple[Box, str, float]] = []
        for node, part_id in self._lit.ends:
            marked.append((self.layout.nodes[node].boxes[part_id], self._lit.role, 2.5))
        for index, chosen in enumerate(self._chosen):
            for part_id in chosen.values():
                box = self.layout.nodes[index].boxes.get(part_id)
                if box is not None:
                    marked.append((_grown(box, 3.0), "chosen", 2.0))
        collar = self._notes.collar
        if collar is None and self._narrowest is not None:
            collar = part_collar(self.layout, self._node_of(self._narrowest.place), self._narrowest.place)
        if collar is not None:
            marked.append((Box(0, "", BoxKind.CPU, collar), "warning", 3.5))
        _fill(self._models.outlines, outline_columns(marked))
        indices = self._indices()
        if sorted(self.source.selected.indices) != indices:
            self._syncing = True
            try:
                self.source.selected.indices = indices
            finally:
                self._syncing = False

    def _draw_glow(self) -> None:
        """Show highlighted places that no leg of the lit path runs on."""
        columns: dict[str, list[Any]] = {"xs": [], "ys": [], "role": [], "alpha": []}
        lit_places = set(self._lit.places)
        for place in sorted(self._active or (), key=str):
            node_index = self._node_of(place)
            if place in lit_places or node_index < 0:
                continue
            node = self.layout.nodes[node_index]
            if place.kind in (PlaceKind.PART, PlaceKind.MEMORY):
                key = f"memory:{place.id}" if place.kind is PlaceKind.MEMORY else place.id
                box = node.boxes.get(key) or node.boxes.get(node.hidden_in(place.id) or "")
                shapes = [rectangle(_grown(box, 1.0).rect)] if box else []
                alpha = 0.35
            else:
                link = next((k for k in node.links if _link_key(node_index, place) == (k.node, k.of, k.kind)), None)
                shapes = [rectangle(r) for r in bars(link.points, tube_px(link.bytes_per_s))] if link else []
                alpha = 0.9
            if shapes:
                xs, ys = together(shapes)
                for name, value in zip(columns, (xs, ys, self._lit.role, alpha), strict=True):
                    columns[name].append(value)
        _fill(self._models.glow, columns)

    def _node_of(self, place: Place) -> int:
        if place.side is Side.WIRE:
            return -1
        ends = self._ends()
        if ends:
            return ends[0][0] if place.side is Side.LOCAL else ends[1][0]
        return 0 if place.side is Side.LOCAL else len(self.machines) - 1

    def _indices(self) -> list[int]:
        """Return the rows of the chosen boxes."""
        chosen = {(i, part) for i, parts in enumerate(self._chosen) for part in parts.values()}
        return [
            i
            for i, box in enumerate(self.layout.boxes)
            if (box.node, box.part) in chosen and box.kind in (BoxKind.GPU, BoxKind.NIC)
        ]

    # ------------------------------------------------------------------ words

    def _frame_labels(self) -> list[Label]:
        role = self._lit.role if self._lit.legs else "faint"
        text = shorten(self.heading(), 16, WIDTH - 2 * MARGIN - 8, bold=True)
        found = [Label(MARGIN + 2, TOP / 2 - 1, text, 16, True, role, "left", WIDTH)]
        if self.simulated:
            y = self.layout.height - BOTTOM / 2 + 1
            found.append(Label(WIDTH - MARGIN, y, _("simulated"), SMALL_PX + 1, False, "faint", "right", 200))
        return found

    def heading(self) -> str:
        """Return the line above the picture: what is lit and how it does, or what to do next."""
        if self._transfer is not None:
            path, prediction = self._transfer[2], self._prediction
            name = _("direct") if path is DataPath.DIRECT else _("staged, through host memory at both ends")
            if prediction is None:
                return name
            return _("{name}: {rate} expected, {latency} for one message of {size}").format(
                name=name,
                rate=format_rate(prediction.bandwidth_bytes_per_s),
                latency=format_duration(prediction.latency.p50),
                size=format_size(prediction.workload.size_bytes),
            )
        said = []
        for index, path_found in sorted(self._paths.items()):
            machine = self.machines[index]
            nic = plain(machine.nic(path_found.nic).name)
            line = f"GPU {machine.gpu(path_found.gpu).index} → {nic}: {path_found.distance.value}"
            if len(self._paths) == 1:
                line += f", {path_found.distance.meaning}"
            narrow = path_found.bottleneck
            if narrow is not None and narrow.bytes_per_s and len(self._paths) == 1:
                what = str(narrow.link) if narrow.link else narrow.kind.value
                rate = format_rate(narrow.bytes_per_s)
                line += " · " + _("narrowest {what}, {rate}").format(what=what, rate=rate)
            said.append(line)
        return "   ".join(said) or _("Click a GPU, then a NIC.")

    def __str__(self) -> str:
        lines = [self.heading()] if self._lit.legs else [str(machine) for machine in self.machines]
        if self._lit.legs:
            narrowest = self._narrowest.place if self._narrowest else self._narrowest_leg()
            machines = dict(enumerate(self.machines))
            rows = hop_rows(self._lit.legs, machines, self._lit.capacities, self.shares(), narrowest)
            lines.append(table(rows, (_("node"), _("hop"), "PCIe", _("carries"), _("in use"), "")))
        if self._narrowest is not None:
            lines.append(
                _("narrowest: {name}, {rate}").format(
                    name=self._narrowest.name, rate=format_rate(self._narrowest.bytes_per_s)
                )
            )
        if self.simulated:
            lines.append(_("simulated"))
        return "\n".join(lines)

    def _narrowest_leg(self) -> Place | None:
        known = [
            (rate, i) for i, rate in enumerate(self._lit.capacities) if rate is not None
        ]
        return self._lit.legs[min(known)[1]].place if known else None


def _fill(source: ColumnDataSource, columns: dict[str, list[Any]]) -> None:
    """Write columns into a source if they differ from what it holds."""
    if _text(source.data) != _text(columns):
        source.data = columns


def _text(data: Mapping[str, Any]) -> str:
    # Not-a-number differs from itself; its text does not.
    return repr({key: list(values) for key, values in data.items()})


def _grown(box: Box, by: float) -> Box:
    left, top, right, bottom = box.rect
    return Box(box.node, box.part, box.kind, (left - by, top - by, right + by, bottom + by))


def _link_key(node: int, place: Place) -> tuple[int, str, LinkKind]:
    if place.kind is PlaceKind.PORT:
        return node, place.id, LinkKind.PORT
    if place.kind is PlaceKind.MEMORY:
        return node, place.id, LinkKind.MEMORY
    sockets = place.kind is PlaceKind.LINK and "-" in place.id and place.id.startswith("cpu")
    return node, place.id, LinkKind.SOCKETS if sockets else LinkKind.PCIE


def _usual_fabric(machines: tuple[Machine, ...]) -> Fabric | None:
    if len(machines) == 2 and machines[0].nics and machines[1].nics:
        return Fabric.between(machines[0].nics[0], machines[1].nics[0])
    return None


def _fabric_lines(fabric: Fabric | None) -> tuple[str, ...]:
    if fabric is None:
        return (_("network"),)
    return fabric.name, f"MTU {fabric.mtu_bytes}"
