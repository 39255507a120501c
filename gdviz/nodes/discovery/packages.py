"""Libraries and Python packages that verbs and GPU memory need, looked for without being loaded."""

from __future__ import annotations

import importlib.util
import sysconfig
from collections.abc import Iterable
from importlib import metadata
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

#: Where distributions put packages of their own Python: Debian and Ubuntu, RHEL and its kin.
_SYSTEM_PACKAGES = ("usr/lib/python3/dist-packages", "usr/lib64/python{python}/site-packages")


def version(distributions: Iterable[str], module: str) -> str:
    """Return the version of a package; empty if it is missing, ``?`` if nothing tells."""
    if importlib.util.find_spec(module) is None:
        return ""
    for name in distributions:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return "?"


def unseen_pyverbs(top: Path) -> str:
    """Return the folder of the distribution's pyverbs where this Python could use it but does not see it.

    Extensions fit one version of Python; that of a virtual environment fits if it is the system's.
    """
    if importlib.util.find_spec("pyverbs") is not None:
        return ""
    for place in _SYSTEM_PACKAGES:
        folder = Path(place.format(python=sysconfig.get_python_version())) / "pyverbs"
        if (top / folder / f"device{EXTENSION_SUFFIXES[0]}").exists():
            return f"/{folder}"
    return ""


def own_packages() -> str:
    """Return the folder of this Python's packages."""
    return sysconfig.get_path("platlib")
