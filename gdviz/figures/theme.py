"""Colours and type, in a light and a dark look.

A figure names roles ('ink', 'grid', 'direct'), never colours. `paint` sets a Bokeh model's properties
from the light look and notes both looks in its tags, so that the page (the gdviz-lab extension, or
`use_look`) can switch them without knowing what the model is. The signal colours are Okabe and Ito's,
safe for colour-blind readers; the dark look lightens them where the contrast asks for it.
"""

from __future__ import annotations

from typing import Any, Literal

Look = Literal["light", "dark"]

ROLES: dict[Look, dict[str, str]] = {
    "light": {
        "paper": "#ffffff",
        "ink": "#24292f",
        "faint": "#5c6570",
        "grid": "#e3e6ea",
        "edge": "#8c96a1",
        "link": "#b8c0c9",
        "band": "#eceff2",
        "cpu": "#e4e8ec",
        "switch": "#f3f4f6",
        "gpu": "#dceee6",
        "nic": "#e1e9f7",
        "fabric": "#f8fafc",
        "refused": "#fbe3d3",
        "direct": "#0072b2",
        "staged": "#d55e00",
        "warning": "#e69f00",
        "fine": "#009e73",
        "third": "#cc79a7",
        "fourth": "#56b4e9",
        "chosen": "#24292f",
        "none": "rgba(0,0,0,0)",
    },
    "dark": {
        "paper": "#111111",
        "ink": "#e6e8eb",
        "faint": "#a4adb8",
        "grid": "#2d3238",
        "edge": "#7d8793",
        "link": "#4d5661",
        "band": "#1f242a",
        "cpu": "#272d34",
        "switch": "#22272d",
        "gpu": "#1f3a30",
        "nic": "#22314d",
        "fabric": "#181c21",
        "refused": "#4a2c17",
        "direct": "#56b4e9",
        "staged": "#f08a3c",
        "warning": "#f0c04a",
        "fine": "#2bc49a",
        "third": "#dd9bc2",
        "fourth": "#8fd0f5",
        "chosen": "#ffffff",
        "none": "rgba(0,0,0,0)",
    },
}

#: Drawn with the browser's own fonts, so that Chinese shows where the reader has it.
FONT = "system-ui, 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif"

#: Key under which a model's tags hold its two looks.
TAG = "gdviz_look"


def colour(role: str, look: Look = "light") -> str:
    """Return the colour of a role."""
    return ROLES[look][role]


def paint(model: Any, **roles: str) -> Any:
    """Set colour properties of a Bokeh model by role and note both looks for the page.

    Parameters
    ----------
    model
        A Bokeh model, for instance a glyph, an axis or a figure.
    **roles
        Property name to role, for instance ``text_color="ink"``.

    Returns
    -------
    Any
        The model.
    """
    noted = next((tag[TAG] for tag in model.tags if isinstance(tag, dict) and TAG in tag), None)
    looks: dict[Look, dict[str, str]] = {}
    for look in ROLES:
        # A new dict each time: Bokeh sends the tags only when they differ from those it holds.
        looks[look] = {
            **(noted or {}).get(look, {}),
            **{name: colour(role, look) for name, role in roles.items()},
        }
    model.tags = [tag for tag in model.tags if not (isinstance(tag, dict) and TAG in tag)] + [{TAG: looks}]
    model.update(**{name: colour(role) for name, role in roles.items()})
    return model


def role_mapper() -> Any:
    """Return a Bokeh colour mapper from a column of roles to their colours, in both looks.

    Use it as the transform of a colour field, for glyphs whose rows differ in colour.
    """
    from bokeh.models import CategoricalColorMapper

    names = list(ROLES["light"])
    looks = {look: {"palette": [colour(role, look) for role in names]} for look in ("light", "dark")}
    return CategoricalColorMapper(factors=names, palette=looks["light"]["palette"], tags=[{TAG: looks}])


def use_look(root: Any, look: Look) -> None:
    """Switch everything painted below `root` to a look."""
    for model in root.references():
        for tag in model.tags:
            if isinstance(tag, dict) and TAG in tag:
                model.update(**tag[TAG][look])
