"""The matrix of ``nvidia-smi topo -m`` and ``-mp`` to a reading."""

from __future__ import annotations

from gdviz.machine import Machine
from gdviz.messages import _
from gdviz.readers.notices import Notices
from gdviz.readers.nvidia_smi.matrix_machine import machine_parts
from gdviz.readers.nvidia_smi.matrix_text import has_matrix, read_matrix
from gdviz.readers.reading import Reading
from gdviz.readers.source import to_text
from gdviz.readers.text_lines import short_lines

KIND = "topo_matrix"
TITLE = "nvidia-smi topo -m"


def looks_like(text: str) -> bool:
    """Return whether a text holds the matrix."""
    return has_matrix(text)


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read the matrix, wherever in a text it stands.

    Parameters
    ----------
    data
        The text: tabs, spaces or a Markdown table, with a legend or without, whole or torn.
    name
        Name for the machine.
    source
        Where it was read, for the reader's eyes.

    Returns
    -------
    Reading
        Its facts are a `TopoMatrix`. The machine's bridges are made up so that each GPU-NIC pair has the
        class of its cell.
    """
    text, decoding = to_text(data)
    lines = tuple(short_lines(text))
    notices = Notices()
    for notice in decoding:
        notices.add(notice.text, notice.line)
    matrix, second = read_matrix(lines)
    if matrix is None:
        return Reading(KIND, source, notices=notices.all(), lines=lines)
    if second is not None:
        notices.add(_("Another matrix begins here; only the first was read."), second)
    if matrix.torn_line is not None:
        row = next(row for row in matrix.rows if row.line == matrix.torn_line)
        notices.add(
            _("The matrix breaks off in the row of {name}: {n} of {all} cells.").format(
                name=row.name, n=len(row.cells), all=len(matrix.columns)
            ),
            row.line,
        )
    else:
        for row in matrix.rows:
            if len(row.cells) < len(matrix.columns):
                notices.add(
                    _("The row of {name} has {n} cells; the header names {all} devices.").format(
                        name=row.name, n=len(row.cells), all=len(matrix.columns)
                    ),
                    row.line,
                    kind="short row",
                )
    parts = machine_parts(matrix, notices)
    told = notices.all()
    machine = Machine(name, parts, source, told)
    return Reading(KIND, source, (machine,), matrix, told, matrix.torn_line is not None, lines)
