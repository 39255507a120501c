from __future__ import annotations

from pathlib import Path

import pytest

_SHARED = Path(__file__).parents[1] / ".." / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real files next to the checkout; tests that need it skip without it."""
    if not (_SHARED / "corpus").is_dir():
        pytest.skip("the folder 'shared' with the corpus of real files is not next to the checkout")
    return _SHARED.resolve()
