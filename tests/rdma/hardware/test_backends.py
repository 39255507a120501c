"""Which Python binding of libibverbs is taken, and what is said where there is none."""

from __future__ import annotations

import pytest

from gdviz.errors import MissingDependencyError
from gdviz.rdma.hardware.backends import choose, why_none
from gdviz.rdma.hardware.backends import choose as _function
from gdviz.rdma.hardware.backends.choose import Tried

import sys  # isort: skip

module = sys.modules[_function.__module__]


class Binding:
    version = "1"

    def __init__(self, name: str) -> None:
        self.name = name


@pytest.fixture
def makers(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    found: dict[str, object] = {"pyverbs": lambda: Binding("pyverbs"), "ibverbs": lambda: Binding("ibverbs")}
    monkeypatch.setattr(module, "MAKERS", found)
    return found


def failing(error: BaseException):
    def make() -> Binding:
        raise error

    return make


def test_pyverbs_first(makers) -> None:
    assert choose(("pyverbs", "ibverbs")).name == "pyverbs"
    assert choose(("ibverbs", "pyverbs")).name == "ibverbs"


@pytest.mark.parametrize("error", [ImportError("no module"), OSError("libibverbs.so.1: cannot open")])
def test_the_other_one_then(makers, error) -> None:
    makers["pyverbs"] = failing(error)
    assert choose(("pyverbs", "ibverbs")).name == "ibverbs"


def test_both_errors_are_said(makers, monkeypatch) -> None:
    makers["pyverbs"] = failing(ImportError("libnl-3.so.200: cannot open"))
    makers["ibverbs"] = failing(ImportError("No module named 'ibverbs'"))
    monkeypatch.setattr(module, "_installed", {"pyverbs": "44.0", "ibverbs": ""}.get)
    with pytest.raises(MissingDependencyError) as caught:
        choose(("pyverbs", "ibverbs"))
    said = str(caught.value)
    assert "pyverbs 44.0 cannot be imported: libnl-3.so.200" in said
    assert "ibverbs is not installed" in said
    assert "apt install python3-pyverbs" in caught.value.remedy
    assert "gdviz[rdma]" in caught.value.remedy


def test_a_pyverbs_of_another_rdma_core(monkeypatch) -> None:
    monkeypatch.setattr(module, "libibverbs_version", lambda: "34")
    monkeypatch.setattr(module, "_package_version", lambda: "44.0-2")
    error = "/lib/x86_64-linux-gnu/libibverbs.so.1: version `IBVERBS_PRIVATE_59' not found"
    found = why_none([Tried("pyverbs", "59.0", error), Tried("ibverbs", "", "")])
    for number in ("59.0", "IBVERBS_PRIVATE_59", "IBVERBS_PRIVATE_34", "44.0-2"):
        assert number in found.message
    assert "pip uninstall pyverbs" in found.remedy


def test_no_libibverbs_at_all(monkeypatch) -> None:
    monkeypatch.setattr(module, "libibverbs_version", lambda: "")
    monkeypatch.setattr(module, "_package_version", lambda: "")
    found = why_none([Tried("pyverbs", "59.0", "version `IBVERBS_PRIVATE_59' not found")])
    assert "libibverbs here is not installed" in found.message
