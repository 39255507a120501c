"""A worker's loop: commands are answered as they come, and in between transfers go on."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Any

from gdviz.clock import fine_seconds
from gdviz.errors import GdvizError, MissingDependencyError, VerbsError
from gdviz.rdma.hardware.line import Line, LineClosed
from gdviz.rdma.hardware.worker.commands import Commands
from gdviz.rdma.hardware.worker.service import Service
from gdviz.rdma.hardware.worker.work import Work

#: How long transfers go on between two looks at the line.
TURN_S = 1e-3

#: A service that has had nothing to do for so long is looked at so rarely.
IDLE_S, NAP_S = 0.02, 0.5e-3


def serve(line: Line) -> None:
    """Serve one provider until its end of the line is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    commands = Commands()
    try:
        while True:
            works = commands.running
            if not works:
                wait_s: float | None = None
            elif all(isinstance(work, Service) and fine_seconds() - work.busy_s > IDLE_S for work in works):
                wait_s = NAP_S
            else:
                wait_s = 0.0
            if line.ready(wait_s):
                (name, arguments, named), _files = line.receive()
                answer, files = _answer(commands, name, arguments, named)
                line.send(answer, files)
            for work in works:
                if not work.final:
                    _go_on(work, TURN_S / len(works))
    except LineClosed:
        commands.close()


def _go_on(work: Work, seconds: float) -> None:
    """Let a work go on for a while; one that breaks ends alone, for the node has others."""
    try:
        work.step(fine_seconds() + seconds)
    except Exception as error:  # noqa: BLE001  (said in its report)
        work.broke(f"{type(error).__name__}: {error}")


def _answer(
    commands: Commands, name: str, arguments: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[Any, list[int]]:
    try:
        answer = getattr(commands, name)(*arguments, **named)
    except GdvizError as error:
        code = error.errno if isinstance(error, VerbsError) else None
        kind = "missing" if isinstance(error, MissingDependencyError) else "gdviz"
        return (kind, code, error.message, error.remedy), []
    except OSError as error:
        return ("os", error.errno or 5, os.strerror(error.errno or 5), str(error)), []
    except Exception as error:  # noqa: BLE001  (told to the program, which raises it)
        return ("other", None, f"{type(error).__name__}: {error}", ""), []
    files = [commands.file_of(answer)] if name == "alloc" else []
    return ("ok", answer), [file for file in files if file is not None]
