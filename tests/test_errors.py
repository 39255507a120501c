from __future__ import annotations

import inspect

import pytest

from gdviz import errors
from gdviz.errors import GdvizError, QuantityError, ReaderError, UnknownDeviceError, VerbsError

ALL = [value for _name, value in inspect.getmembers(errors, inspect.isclass)]


@pytest.mark.parametrize("error", ALL)
def test_one_tree(error: type[Exception]) -> None:
    assert issubclass(error, GdvizError)


def test_the_remedy_follows_the_message() -> None:
    error = ReaderError("It is empty.", "Give another.")
    assert str(error) == "It is empty. Give another."
    assert (error.message, error.remedy) == ("It is empty.", "Give another.")
    assert str(ReaderError("It is empty.")) == "It is empty."


def test_a_lookup_error_shows_as_a_sentence() -> None:
    # KeyError would print the repr of its text.
    assert str(UnknownDeviceError("No such GPU.")) == "No such GPU."


def test_they_are_also_what_python_calls_them() -> None:
    assert issubclass(QuantityError, ValueError)
    assert issubclass(UnknownDeviceError, LookupError)
    assert issubclass(errors.MissingDependencyError, ImportError)


def test_verbs_errors_carry_an_errno() -> None:
    error = errors.RegistrationError("BAR1 is full.", errno=12)
    assert isinstance(error, VerbsError)
    assert error.errno == 12


def test_in_a_notebook_one_line_is_shown() -> None:
    assert GdvizError("No.", "Do.")._render_traceback_() == ["GdvizError: No. Do."]
