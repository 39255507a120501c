"""A guest that hangs while it boots is started anew; a stand-in for the emulator shows it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))
import guest
from image import Image

NO_IMAGE = Image(Path("kernel"), Path("initramfs"))


class _Stuck(guest.Guest):
    """Comes up at the boot of this number; before, nothing happens."""

    boots = 0
    up_at = 2

    def _boot(self, image: Image) -> None:
        self.boots += 1
        self.folder.mkdir(exist_ok=True)
        (self.folder / "console.txt").write_text(guest.READY if self.boots == self.up_at else "")
        self._process = subprocess.Popen(["sleep", "60"])


def test_a_guest_that_hangs_at_first_is_started_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest, "BOOT_S", 0.01)
    stuck = _Stuck(tmp_path / "job", "true")
    stuck.start(NO_IMAGE)
    assert stuck.boots == 2
    stuck.kill()


def test_a_guest_that_never_comes_up_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guest, "BOOT_S", 0.01)
    stuck = _Stuck(tmp_path / "job", "true")
    stuck.up_at = 99
    stuck.start(NO_IMAGE)
    assert stuck.boots == guest.BOOTS
    assert stuck.wait(1).status is None
