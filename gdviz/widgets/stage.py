"""The picture that all steps share, with the live charts below it, as one live figure."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets as w
from bokeh.layouts import column
from bokeh.models import LayoutDOM

from gdviz.figures import LiveCharts, PathPicture
from gdviz.session import Session, Topic, Transfer
from gdviz.widgets.live import LiveFigure
from gdviz.widgets.pump import Pump


class Stage:
    """The path picture of two nodes and the live charts.

    Parameters
    ----------
    session
        Whose nodes are drawn (the first two).
    live
        Whether to have the live charts; a picture alone costs nothing while transfers run.

    Attributes
    ----------
    picture
        The path picture.
    charts
        The live charts; None without them.
    widget
        Both as one widget.
    """

    def __init__(self, session: Session, *, live: bool = True) -> None:
        self.session = session
        self.nodes = session.nodes[:2]
        self.picture = PathPicture([node.machine for node in self.nodes], simulated=session.simulated_nodes)
        self.charts = LiveCharts(simulated=session.simulated_nodes) if live else None
        self.root: LayoutDOM = self.picture.root
        if self.charts is not None:
            self.picture.live(self.charts.source)
            self.charts.root.visible = False
            self.root = column(self.picture.root, self.charts.root, sizing_mode="stretch_width", spacing=4)
        self.widget = LiveFigure(self.root, session.engine, layout=w.Layout(width="100%", overflow="hidden"))
        self._clicks: Callable[[int, str], None] | None = None
        self.picture.on_click(self._clicked)
        self.pump: Pump | None = None
        self._unwatch: Callable[[], None] | None = None
        if self.charts is not None:
            self.pump = Pump(session, self.charts, self.widget)
            self._unwatch = session.watch(Topic.TRANSFERS, self._on_transfer)

    def on_click(self, callback: Callable[[int, str], None] | None) -> None:
        """Have clicks on parts go to a callback (node's position, part's id), or to none."""
        self._clicks = callback

    def _clicked(self, node: int, part: str) -> None:
        if self._clicks is not None:
            self._clicks(node, part)

    def show_charts(self, shown: bool) -> None:
        """Show the live charts, or only the picture."""
        if self.charts is not None:
            self.charts.root.visible = shown

    def show_transfer(self, transfer: Transfer, *, keep_samples: bool = False) -> None:
        """Light the path of a transfer and, unless samples shall stay, set the charts up for it."""
        prediction = transfer.prediction
        self.picture.show_transfer(transfer.ends.local, transfer.ends.remote, transfer.spec.path, prediction)
        if self.charts is None:
            return
        self.charts.places = tuple(self.picture.segments)
        if not keep_samples:
            self.charts.expect(prediction)

    def _on_transfer(self, transfer: Transfer) -> None:
        if isinstance(transfer, Transfer) and not transfer.quiet and not transfer.done.done():
            if self.pump is not None:
                self.pump.follow(transfer)
            self.show_transfer(transfer)

    def close(self) -> None:
        """Stop following the session."""
        if self._unwatch is not None:
            self._unwatch()
        if self.pump is not None:
            self.pump.close()
        self.widget.close()
