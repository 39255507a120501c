"""Tests that run in a guest: collected and reported here, executed there.

A test with the marker ``vm`` that is collected on the host is replaced by an item that looks up the guest's
verdict. The first of them starts one guest, which runs all that were selected. In the guest itself
(``GDVIZ_IN_GUEST``) the same tests are ordinary ones, and each report is written to a file as it comes, so
that a guest that dies loses only what it had not done. Tests on the host that use guests themselves carry
``vm(host=True)``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).parent))
import guest

IN_GUEST = "GDVIZ_IN_GUEST" in os.environ
REPORTS = Path("/job/reports.jsonl")

#: The guest's own words of the last time, to be read when something went wrong.
LOG = guest.REPOSITORY / "artefacts" / "vm"

#: Seconds that the guest may take for all tests together; some 150 on two cores that have nothing else to do.
LIMIT_S = 1200

#: Two addresses give the device two GIDs, so that two nodes in one guest differ as two machines do.
_SCRIPT = "export GDVIZ_IN_GUEST=1; ip address add 10.77.0.101/24 dev eth0\n" + guest.python(
    *("-m", "pytest", "@/job/tests.txt", "-q", "-p", "no:cacheprovider", "-p", "no:nbmake", "--color=no"),
    *("--durations=25", "--durations-min=1"),
    *("--timeout=150", "-o", "timeout_func_only=true"),
)


class GuestItem(pytest.Item):
    """A test that has been run, or will be, in the guest."""

    def __init__(self, *, original: pytest.Item, **options: Any) -> None:
        super().__init__(**options)
        self._original = original
        self.own_markers = [
            mark for mark in original.own_markers if mark.name not in ("parametrize", "usefixtures")
        ]
        self.keywords.update({mark.name: mark for mark in self.own_markers})
        # The guest has its own limits; this one only guards against a host that hangs.
        self.add_marker(pytest.mark.timeout(LIMIT_S + 60))

    def runtest(self) -> None:
        """Take over what the guest says of this test."""
        if reason := guest.missing():
            pytest.skip(reason)
        verdict = self.session.stash.setdefault(_VERDICTS, _Verdicts(self.session)).of(self.nodeid)
        if verdict["outcome"] == "skipped":
            pytest.skip(verdict["text"])
        if verdict["outcome"] == "failed":
            raise GuestFailure(verdict["text"])

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Show the guest's own traceback."""
        if isinstance(excinfo.value, GuestFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Say where the test is written."""
        return self._original.reportinfo()


class GuestFailure(Exception):
    """A test failed in the guest; the text is its traceback there."""


class _Verdicts:
    """What the guest says of each test."""

    def __init__(self, session: pytest.Session) -> None:
        self._selected = [item.nodeid for item in session.items if isinstance(item, GuestItem)]
        self._found: dict[str, dict[str, str]] | None = None
        self._trouble = self._unfit = ""

    def of(self, nodeid: str) -> dict[str, str]:
        if self._unfit:
            pytest.skip(self._unfit)
        if self._found is None:
            try:
                guest.image()
            except (RuntimeError, OSError, subprocess.SubprocessError) as error:
                self._unfit = f"the guest's kernel cannot be had: {error}"
                pytest.skip(self._unfit)
            self._found = {}
            with tempfile.TemporaryDirectory(prefix="gdviz-guest-") as name:
                folder = Path(name)
                (folder / "tests.txt").write_text("\n".join(self._selected))
                outcome = guest.Guest(folder, _SCRIPT, memory_mib=1536).run(LIMIT_S)
                reports = folder / REPORTS.name
                lines = reports.read_text().splitlines() if reports.exists() else []
            for line in lines:
                report = json.loads(line)
                known = self._found.get(report["nodeid"], {}).get("outcome")
                if known is None or known == "passed":
                    self._found[report["nodeid"]] = report
            self._trouble = str(outcome)
            LOG.mkdir(parents=True, exist_ok=True)
            (LOG / "guest.txt").write_text(f"{outcome.output}\n--- console\n{outcome.console}")
        missing = {"outcome": "failed", "text": f"the guest did not report this test\n{self._trouble}"}
        return self._found.get(nodeid, missing)


_VERDICTS = pytest.StashKey[_Verdicts]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """On the host, put the guest's verdict in the place of each test that only a guest can run."""
    if IN_GUEST:
        return
    items[:] = [_replaced(item) for item in items]


def _replaced(item: pytest.Item) -> pytest.Item:
    mark = item.get_closest_marker("vm")
    if mark is None or mark.kwargs.get("host") or item.parent is None:
        return item
    new: GuestItem = GuestItem.from_parent(item.parent, name=item.name, original=item)
    return new


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[Any]:
    """In the guest, write each report down at once."""
    report = yield
    if IN_GUEST and (report.when == "call" or report.outcome != "passed"):
        text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longreprtext)
        line = {
            "nodeid": report.nodeid,
            "outcome": report.outcome,
            "text": text.removeprefix("Skipped: "),
            "seconds": f"{report.duration:.1f}",
        }
        with REPORTS.open("a") as file:
            file.write(json.dumps(line) + "\n")
    return report
