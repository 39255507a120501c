"""What the PATH of a command names."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gdviz.errors import UnknownDeviceError
from gdviz.messages import _

if TYPE_CHECKING:
    from gdviz.machine import Machine
    from gdviz.readers import Opened

#: A path that begins so names a machine of the catalogue.
CATALOGUE_PREFIX = "catalogue:"


def open_path_or_catalogue(path: str) -> Opened:
    """Return what a file, or a machine of the catalogue, holds.

    Raises
    ------
    ReaderError
        It cannot be read.
    """
    from gdviz.machine import CATALOGUE, reference_machine
    from gdviz.readers import Opened, open_path

    # A bare name of the catalogue will do where no file has it.
    if path.startswith(CATALOGUE_PREFIX) or (path in CATALOGUE and not os.path.lexists(path)):
        return Opened("catalogue", (reference_machine(path.removeprefix(CATALOGUE_PREFIX)),))
    return open_path(path)


def pick_node(machines: Sequence[Machine], key: str | None) -> Machine:
    """Return the node of that name or index; the only one where no key is given.

    Raises
    ------
    UnknownDeviceError
        There is none, or there are several and none was named.
    """
    if key is None and len(machines) == 1:
        return machines[0]
    for index, machine in enumerate(machines):
        if key in (machine.name, str(index)):
            return machine
    names = ", ".join(machine.name for machine in machines[:16])
    raise UnknownDeviceError(
        _("The file describes {n} nodes.").format(n=len(machines))
        if key is None
        else _("There is no node {key!r}.").format(key=key[:60]),
        _("Say which with --node: {names}.").format(names=names),
    )
