"""The doctor's report as a panel: pairs as a matrix, findings with their evidence, what would change it."""

from __future__ import annotations

import os
from html import escape
from typing import Any

import ipywidgets as w

from gdviz.doctor import Pair, Report, diagnose
from gdviz.errors import GdvizError
from gdviz.figures import PairCell, PairMatrix, PathPicture
from gdviz.machine import Machine
from gdviz.messages import _
from gdviz.session.engine import Engine
from gdviz.widgets.live import LiveFigure
from gdviz.widgets.parts import CONTROLS_WIDTH, Message, button, labelled
from gdviz.widgets.report import findings_html, headline, pair_html
from gdviz.widgets.style import style_sheet

#: A dropdown shows None as nothing at all.
_ALL, _AS_IS = "", ""

#: Rows of a matrix that are shown at once without choosing a node.
_ROWS = 8

_LEVELS = ("LOC", "PIX", "PXB", "PHB", "SYS")


class DoctorPanel(w.VBox):  # type: ignore[misc]
    """A report to look through.

    Click a cell of the matrix for the pair's path and its findings. What would change the verdicts can be
    assumed below the pair: the report is then computed anew.

    Parameters
    ----------
    report
        The report, or the paths of files and folders to diagnose.
    engine
        Whose thread the figures belong to; None where nothing else draws.

    Attributes
    ----------
    report : Report
        What is shown, with what is assumed.
    matrix : PairMatrix
        The pairs.
    """

    _made = False

    def __init__(self, *report: Report | str | os.PathLike[str], engine: Engine | None = None) -> None:
        given = report[0] if len(report) == 1 and isinstance(report[0], Report) else None
        self.original = given or diagnose(*(each for each in report if not isinstance(each, Report)))
        self.report = self.original
        self.pair: Pair | None = None
        self.matrix = PairMatrix(title=_("GPUs and NICs"))
        self.matrix.on_click(self._chosen)
        self._engine = engine
        self._place = w.Box(layout=w.Layout(overflow="hidden"))
        self.head = w.HTML(layout=w.Layout(width="100%"))
        self.node = labelled(_("Node"), w.Dropdown)
        self.about = w.HTML(layout=w.Layout(width="100%"))
        self.everything = button(_("All findings"), self._show_all)
        self.picture = w.Box(layout=w.Layout(width="100%", overflow="hidden"))
        self.findings = w.HTML(layout=w.Layout(width="100%"))
        self.message = Message()
        super().__init__()
        self.add_class("gdviz-panel")
        self._make_assumptions()
        controls = w.VBox(
            [self.node, self.about, self.everything, self.assume, self.message],
            layout=w.Layout(width=CONTROLS_WIDTH, flex="0 0 auto"),
        )
        controls.add_class("gdviz-controls")
        self._place.add_class("gdviz-view")
        body = w.Box([self._place, controls])
        body.add_class("gdviz-body")
        self.children = (style_sheet(), self.head, body, self.picture, self.findings)
        self.node.observe(lambda _change: self._draw(), "value")
        self._show(self.original)
        # Last, so that the page gets it filled: what changes while a page opens a figure may be lost.
        self.figure = LiveFigure(self.matrix.root, engine, layout=w.Layout(width="100%"))
        self._place.children = (self.figure,)
        self._made = True

    def _make_assumptions(self) -> None:
        """Make the controls of what can be assumed."""
        self.nccl = labelled(_("NCCL"), w.Text, placeholder=_("as it is"), continuous_update=False)
        levels = [(_("as it is"), _AS_IS), *((level, level) for level in _LEVELS)]
        self.level = labelled(_("GDR level"), w.Dropdown, options=levels)
        self.acs_off = w.Checkbox(description=_("ACS off on the paths"), indent=False)
        self.iommu_pt = w.Checkbox(description=_("IOMMU passes through"), indent=False)
        self.peermem = w.Checkbox(description=_("nvidia_peermem loaded"), indent=False)
        self.assume = w.VBox(
            [
                w.HTML(f"<b>{_('What if')}</b>"),
                self.nccl,
                self.level,
                self.acs_off,
                self.iommu_pt,
                self.peermem,
            ]
        )
        self.assume.add_class("gdviz-assume")
        for control in (self.nccl, self.level, self.acs_off, self.iommu_pt, self.peermem):
            control.observe(lambda _change: self._assumed(), "value")

    def what_if(self, **changes: Any) -> None:
        """Show the report as it would be with something changed, see `Report.what_if`.

        Raises
        ------
        GdvizError
            A change that nothing is known of, or a value that none is.
        """
        self._show(self.original.what_if(**changes) if changes else self.original)

    def _assumed(self) -> None:
        changes: dict[str, Any] = {}
        if self.nccl.value.strip():
            changes["nccl"] = self.nccl.value.strip()
        if self.level.value:
            changes["gdr_level"] = self.level.value
        if self.acs_off.value:
            changes["acs"] = False
        if self.iommu_pt.value:
            changes["iommu"] = "pt"
        if self.peermem.value:
            changes["peermem"] = True
        try:
            self.what_if(**changes)
        except GdvizError as error:
            self.message.fail(str(error))
        else:
            self.message.say(_("Computed anew with what is assumed.") if changes else "")

    def _show(self, report: Report) -> None:
        self.report = report
        self.head.value = f"<b>{escape(headline(report))}</b>"
        names = list(dict.fromkeys(pair.node for pair in report.pairs))
        rows = {(pair.node, pair.gpu) for pair in report.pairs}
        options = [(name, name) for name in names]
        if len(rows) <= _ROWS or len(names) < 2:
            options.insert(0, (_("all"), _ALL))
        if list(self.node.options) != options:
            self.node.options = options
            # The worst first, here too: the node of the first finding that has pairs.
            worst = next((found.node for found in report.findings if found.node in names), None)
            self.node.value = _ALL if (_("all"), _ALL) in options else worst or (names[0] if names else None)
        self._draw()

    def _draw(self) -> None:
        chosen = self.node.value or _ALL
        pairs = [pair for pair in self.report.pairs if chosen in (_ALL, pair.node)]
        self.matrix.update([cell_of(pair) for pair in pairs])
        self._place.layout.display = "" if pairs else "none"
        kept = self.pair
        again = next((pair for pair in pairs if kept is not None and _same(pair, kept)), None)
        if again is not None:
            self.matrix.select(again.node, again.gpu, again.nic)
        else:
            self._show_all()

    def _chosen(self, cell: PairCell) -> None:
        self.pair = next(
            pair
            for pair in self.report.pairs
            if (pair.node, pair.gpu, pair.nic) == (cell.node, cell.gpu, cell.nic)
        )
        self.about.value = pair_html(self.pair)
        self.findings.value = findings_html(self.report, self.pair.findings)
        self._draw_path(self.pair)

    def _show_all(self) -> None:
        self.pair = None
        self.matrix.source.selected.indices = []
        self.picture.children = ()
        what_next = (
            _("Click a cell: the path of that pair and its findings.")
            if self.report.pairs
            else _("No pair of a GPU and a NIC is known.")
        )
        self.about.value = f"<div class='gdviz-empty'>{escape(what_next)}</div>"
        self.findings.value = findings_html(self.report)

    def _draw_path(self, pair: Pair) -> None:
        for old in self.picture.children:
            old.close()
        found = machine_of(self.report, pair)
        if found is None:
            self.picture.children = ()
            return
        machine, gpu, nic = found
        try:
            picture = PathPicture([machine], simulated=False)
            picture.show_path(0, machine.path(gpu, nic))
        except GdvizError as error:
            self.picture.children = ()
            self.message.fail(str(error))
            return
        self.picture.children = (
            LiveFigure(picture.root, self._engine, layout=w.Layout(width="100%", overflow="hidden")),
        )

    def close(self) -> None:
        """Take it off the page."""
        # Of a panel that could not be made: ipywidgets closes it all the same.
        if self._made:
            for child in (*self.picture.children, self.figure):
                child.close()
        super().close()

    def __repr__(self) -> str:
        return str(self.report)


def doctor(*report: Report | str | os.PathLike[str]) -> DoctorPanel:
    """Say why GPUDirect RDMA is off or slow, as a panel.

    Parameters
    ----------
    report
        Files, folders, archives or captures; or a report that is there already.

    Raises
    ------
    ReaderError
        Nothing of it could be read.
    """
    return DoctorPanel(*report)


def cell_of(pair: Pair) -> PairCell:
    """Return a pair as the matrix takes it."""
    return PairCell(
        pair.node,
        pair.gpu,
        pair.nic,
        pair.gpu,
        pair.nic,
        pair.distance,
        pair.gdr,
        pair.why,
        len(pair.findings),
    )


def machine_of(report: Report, pair: Pair) -> tuple[Machine, str, str] | None:
    """Return a machine of the report's files that has both devices of a pair, with their ids there."""
    nodes = report.case.nodes if report.case is not None else ()
    for node in sorted(nodes, key=lambda each: each.name != pair.node):
        for reading in node.readings:
            for machine in reading.machines:
                gpu = _known(machine.gpu, pair.gpu_ids)
                nic = _known(machine.nic, pair.nic_ids)
                if gpu is not None and nic is not None:
                    return machine, gpu, nic
    return None


def _known(find: Any, names: tuple[str, ...]) -> str | None:
    # Bus ids name a device for certain; an index may be another one's in another file.
    for name in sorted(names, key=lambda each: ":" not in each):
        try:
            return str(find(name).id)
        except GdvizError:
            continue
    return None


def _same(left: Pair, right: Pair) -> bool:
    return (left.node, left.gpu, left.nic) == (right.node, right.gpu, right.nic)
