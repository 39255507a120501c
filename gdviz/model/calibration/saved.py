"""Constants as a file keeps them: by name, only those that are not the default ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, replace

from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.model.constants import DEFAULTS, Constants

_MOST = 2**31

#: Whole numbers: of most there is at least one, of some none will do; chunks and buffers are simulated one by
#: one, so that there must not be too many.
_WHOLE: dict[str, tuple[int, int]] = {
    "inline_bytes": (0, _MOST),
    "gdrcopy_bytes": (0, _MOST),
    "first_burst_bytes": (0, _MOST),
    "nic_buffer_bytes": (0, _MOST),
    "chunk_bytes": (4096, _MOST),
    "bounce_buffers": (1, 65536),
}

#: Least and largest value that the model can work with, by the end of the name, the longer ones first.
_RANGES: tuple[tuple[str, float, float], ...] = (
    ("_bytes_per_s", 1.0, 1e15),
    ("_share", 1e-3, 1.0),
    ("_sigma", 0.0, 3.0),
    ("_hz", 0.0, 1e9),
    ("_s_per_m", 0.0, 1.0),
    ("_s", 0.0, 1000.0),
)

_Value = bool | int | float | None


def saved_values(constants: Constants) -> dict[str, _Value]:
    """Return what to keep of constants: those that differ from `DEFAULTS`, by name."""
    usual = asdict(DEFAULTS)
    return {name: value for name, value in asdict(constants).items() if value != usual[name]}


def constants_of(values: Mapping[str, object]) -> Constants:
    """Return the default constants with others in the place of some.

    Parameters
    ----------
    values
        By name, as `saved_values` gives them.

    Raises
    ------
    GdvizError
        A name is no constant's, or a value is none that it can have.
    """
    kinds = {field.name: str(field.type) for field in fields(Constants)}
    for name, value in values.items():
        if name not in kinds:
            raise GdvizError(
                _("There is no constant {name!r}.").format(name=str(name)[:60]),
                _("gdviz calibrate --save writes files with their names."),
            )
        _check(name, kinds[name], value)
    return replace(DEFAULTS, **values)  # type: ignore[arg-type]


def _check(name: str, kind: str, value: object) -> None:
    if value is None and kind.endswith("None"):
        return
    if kind == "bool":
        if not isinstance(value, bool):
            raise _wrong(name, value, _("It is true or false."))
        return
    if isinstance(value, bool) or not isinstance(value, int if kind == "int" else int | float):
        what = _("It is a whole number.") if kind == "int" else _("It is a number.")
        raise _wrong(name, value, what)
    low, high = _range(name, kind)
    # Written so that NaN fails too.
    if not low <= value <= high:
        raise _wrong(name, value, _("It goes from {low:g} to {high:g}.").format(low=low, high=high))


def _range(name: str, kind: str) -> tuple[float, float]:
    if kind == "int":
        return _WHOLE.get(name, (1, _MOST))
    return next((low, high) for end, low, high in _RANGES if name.endswith(end))


def _wrong(name: str, value: object, remedy: str) -> GdvizError:
    return GdvizError(_("{name} cannot be {value}.").format(name=name, value=repr(value)[:40]), remedy)
