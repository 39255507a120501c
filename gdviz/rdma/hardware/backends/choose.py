"""Which binding there is, and why not the other."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from gdviz.errors import MissingDependencyError
from gdviz.messages import _
from gdviz.rdma.hardware.backends.base import Backend


@dataclass(frozen=True, slots=True)
class Tried:
    """A binding that was tried.

    Attributes
    ----------
    version
        What is installed; empty if nothing is.
    error
        Why it cannot be used.
    """

    name: str
    version: str
    error: str

    @property
    def wanted(self) -> str:
        """Which rdma-core it was built for, where that is the reason; else empty."""
        found = re.search(r"IBVERBS_PRIVATE_(\d+)", self.error)
        return "" if found is None else found.group(1)


def _pyverbs() -> Backend:
    from gdviz.rdma.hardware.backends.by_pyverbs import PyverbsBackend

    return PyverbsBackend()


def _wheel() -> Backend:
    from gdviz.rdma.hardware.backends.by_wheel import WheelBackend

    return WheelBackend()


#: pyverbs first: it belongs to the rdma-core that is installed, and can do more.
MAKERS: dict[str, Callable[[], Backend]] = {"pyverbs": _pyverbs, "ibverbs": _wheel}


def try_all(names: Sequence[str] = tuple(MAKERS)) -> tuple[Tried, ...]:
    """Try all bindings; those that can be used have no error. Opens nothing."""
    found = []
    for name in names:
        try:
            found.append(Tried(name, MAKERS[name]().version, ""))
        except (ImportError, OSError) as error:
            found.append(Tried(name, _installed(name), f"{error}"))
    return tuple(found)


def choose(names: Sequence[str] = tuple(MAKERS)) -> Backend:
    """Return the first binding that can be imported.

    Raises
    ------
    MissingDependencyError
        None can; it says of each why not, with the versions.
    """
    tried = []
    for name in names:
        try:
            return MAKERS[name]()
        except (ImportError, OSError) as error:
            # A binding of another rdma-core fails with either, depending on which library is missing.
            tried.append(Tried(name, _installed(name), f"{error}"))
    raise why_none(tried)


def preload() -> None:
    """Import what bindings there are, so that processes forked from this one need not. Opens nothing."""
    for make in MAKERS.values():
        with suppress(ImportError, OSError):
            make()


def why_none(tried: Sequence[Tried]) -> MissingDependencyError:
    """Return the error that says why no binding can be used, and the command that helps."""
    sentences = [reason(attempt) for attempt in tried]
    remedy = _(
        "On Debian and Ubuntu: `apt install python3-pyverbs` with this Python, "
        "elsewhere: `pip install 'gdviz[rdma]'`."
    )
    if any(attempt.wanted for attempt in tried):
        remedy = _(
            "Remove it (`pip uninstall pyverbs`): a pyverbs that was not built with this system's "
            "rdma-core never works. Take the distribution's (`apt install python3-pyverbs`), or "
            "`pip install 'gdviz[rdma]'`."
        )
    return MissingDependencyError(
        _("No Python binding of libibverbs: {reasons}.").format(reasons="; ".join(sentences)), remedy
    )


def reason(attempt: Tried) -> str:
    """Return why a binding cannot be used, without a full stop."""
    if attempt.wanted:
        return _(
            "{name} {version} was built for rdma-core {wanted} (IBVERBS_PRIVATE_{wanted}), "
            "and libibverbs here is {here}"
        ).format(
            name=attempt.name,
            version=attempt.version or "?",
            wanted=attempt.wanted,
            here=_spoken(libibverbs_version()),
        )
    if not attempt.version:
        return _("{name} is not installed").format(name=attempt.name)
    return _("{name} {version} cannot be imported: {error}").format(
        name=attempt.name, version=attempt.version, error=attempt.error[:200]
    )


def _spoken(private: str) -> str:
    package = _package_version()
    numbers = [private and f"IBVERBS_PRIVATE_{private}", package and _("package {v}").format(v=package)]
    return ", ".join(filter(None, numbers)) or _("not installed")


def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def libibverbs_version() -> str:
    """Return NN of the IBVERBS_PRIVATE_NN that this system's libibverbs has, empty if there is none."""
    found = re.search(rb"IBVERBS_PRIVATE_(\d+)", _library())
    return "" if found is None else found.group(1).decode()


def libibverbs_has(function: str) -> bool:
    """Return whether this system's libibverbs has a function."""
    return b"\0" + function.encode() + b"\0" in _library()


def _library() -> bytes:
    for folder in ("/lib/x86_64-linux-gnu", "/usr/lib64", "/lib/aarch64-linux-gnu", "/usr/lib", "/lib64"):
        library = Path(folder) / "libibverbs.so.1"
        try:
            return library.read_bytes()
        except OSError:
            continue
    return b""


def _package_version() -> str:
    """Return the version of the distribution's package, empty where nobody knows."""
    for command in (
        ["dpkg-query", "--show", "--showformat=${Version}", "libibverbs1"],
        ["rpm", "-q", "--qf", "%{VERSION}", "libibverbs"],
    ):
        try:
            answer = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
        except (OSError, subprocess.SubprocessError):
            continue
        if answer.returncode == 0 and answer.stdout.strip():
            return answer.stdout.strip()
    return ""
