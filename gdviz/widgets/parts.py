"""Small pieces that the panels share: tables, messages, labelled controls, and a panel's way to act."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Sequence
from html import escape
from typing import Any

import ipywidgets as w

from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.model import DataPath
from gdviz.session import Session

#: Width of a panel's controls; with the picture beside them they fill a notebook's cell.
CONTROLS_WIDTH = "276px"

_LABELS = "92px"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], empty: str = "") -> str:
    """Return an HTML table; every cell is text and shows as text.

    Parameters
    ----------
    head
        Titles of the columns.
    rows
        Cells by row.
    empty
        Sentence to show where there is no row.
    """
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    if not body:
        return f'<div class="gdviz-empty">{escape(empty)}</div>'
    titles = "".join(f"<th>{escape(title)}</th>" for title in head)
    return f'<table class="gdviz-table"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>'


def labelled(label: str, kind: type[w.Widget], **traits: Any) -> Any:
    """Return a control with a label of the common width, as wide as the controls' column."""
    traits.setdefault("layout", w.Layout(width="100%"))
    return kind(description=label, style={"description_width": _LABELS}, **traits)


def path_choice() -> w.ToggleButtons:
    """Return the choice between the two paths, as wide as the controls' column."""
    return w.ToggleButtons(
        options=[path.value for path in DataPath],
        tooltips=[_("The NIC reads and writes GPU memory itself"), _("Copied through host memory")],
        style={"button_width": "122px"},
        layout=w.Layout(width="100%"),
    )


def offer(control: Any, options: Sequence[tuple[str, Any]], wanted: Any = None) -> None:
    """Give a dropdown its options; it keeps its value if that is still there.

    Parameters
    ----------
    wanted
        The value to take otherwise; by default the first option's.
    """
    kept = control.value
    values = [value for _label, value in options]
    if list(control.options) != list(options):
        control.options = options
    for value in (kept, wanted, values[0] if values else None):
        if value in values:
            control.index = values.index(value)
            return


def button(label: str, act: Callable[[], None], tooltip: str = "", *, main: bool = False) -> w.Button:
    """Return a button that calls `act`."""
    made = w.Button(
        description=label,
        tooltip=tooltip or label,
        button_style="primary" if main else "",
        layout=w.Layout(width="auto", min_width="72px"),
    )
    made.on_click(lambda _button: act())
    return made


class Message(w.HTML):  # type: ignore[misc]
    """One line that says what happened; errors are marked by a word, not by colour alone."""

    def __init__(self) -> None:
        super().__init__(layout=w.Layout(width="100%"))
        self.add_class("gdviz-message")
        self._dom_classes += ("gdviz-live",)

    def say(self, text: str) -> None:
        """Show a sentence."""
        self.value = f"<div role='status'>{escape(text)}</div>" if text else ""

    def fail(self, text: str) -> None:
        """Show what went wrong."""
        mark = escape(_("Not done"))
        self.value = f"<div role='alert' class='gdviz-error'><b>{mark}:</b> {escape(text)}</div>"


class Controls(w.VBox):  # type: ignore[misc]
    """A column of controls of one step, with a message line.

    Parameters
    ----------
    session
        What the controls act on.
    """

    def __init__(self, session: Session, children: Sequence[w.Widget] = ()) -> None:
        self.session = session
        self.message = Message()
        super().__init__([*children, self.message], layout=w.Layout(width=CONTROLS_WIDTH, flex="0 0 auto"))
        self.add_class("gdviz-controls")

    def act(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine on the engine; what goes wrong shows in the message line."""
        try:
            self.session.engine.submit(self._guarded(work))
        except GdvizError as error:
            work.close()
            self.message.fail(str(error))

    async def _guarded(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            await work
        except GdvizError as error:
            self.message.fail(str(error))
        except Exception as error:  # noqa: BLE001  (nothing that happens behind a button may vanish)
            self.message.fail(f"{type(error).__name__}: {error}")
