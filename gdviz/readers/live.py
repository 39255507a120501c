"""The host at hand, captured and read with the same code as any other."""

from __future__ import annotations

from gdviz.readers.capture import readings_of_capture
from gdviz.readers.capture_script import collect
from gdviz.readers.reading import Reading


def read_live(*, commands: bool = True) -> tuple[str, tuple[Reading, ...]]:
    """Return this host's name and what there is to read of it.

    Parameters
    ----------
    commands
        Whether to run the tools that are installed (``nvidia-smi``, ``ibv_devinfo`` ...), each with a
        time limit; without them only files are read.
    """
    return readings_of_capture(collect(run_commands=commands), source="live")
