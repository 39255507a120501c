"""The picture as a whole: choosing, lighting, loads, slow motion, words, and what reaches the page."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document
from bokeh.events import DoubleTap, Reset, Tap
from bokeh.models import ColumnDataSource, HoverTool

from gdviz.errors import UnknownDeviceError
from gdviz.figures.path_picture import PathPicture
from gdviz.figures.shapes import BoxKind
from gdviz.figures.theme import ROLES, TAG, use_look
from gdviz.machine import Gpu
from gdviz.model import predict
from gdviz.model.results import Ceiling, Place, PlaceKind, Side
from gdviz.model.workload import DataPath, Endpoint, Op, Workload
from tests.figures.machines import ALL, HOSTILE, crowded, hostile, machine

SOURCES = ("links", "boxes", "decorations", "glow", "lit", "marks", "outlines", "texts", "chips")


def pair(key: str = "hgx-h100") -> PathPicture:
    one = machine(key)
    return PathPicture([one.renamed("node-a"), one.renamed("node-b")])


def ends(picture: PathPicture, gpu: int = 1, nic: int = 1) -> tuple[Endpoint, Endpoint]:
    a, b = (Endpoint(m, m.nics[nic].id, m.gpus[gpu].id) for m in picture.machines)
    return a, b


@contextmanager
def changes(picture: PathPicture) -> Iterator[set[str]]:
    """Collect the names of the sources whose columns are replaced meanwhile."""
    before = {name: getattr(picture.models, name).data for name in SOURCES}
    changed: set[str] = set()
    yield changed
    changed.update(name for name in SOURCES if getattr(picture.models, name).data is not before[name])


def tap(picture: PathPicture, x: float, y: float, event: type[Tap] | type[DoubleTap] = Tap) -> None:
    """Do what a person's click does: Bokeh sends an event with the place."""
    picture.root._trigger_event(event(picture.root, sx=0, sy=0, x=x, y=y))


def click(picture: PathPicture, node: int, part: str) -> None:
    """Click the middle of a part's box."""
    tap(picture, *picture.layout.nodes[node].boxes[part].centre)


@pytest.mark.parametrize("name", ALL)
def test_every_machine_makes_a_document(name: str) -> None:
    one = machine(name)
    picture = PathPicture([one, one.renamed("other")])
    document = Document()
    document.add_root(picture.root)
    json.loads(serialize_json(document.to_json(deferred=False)))
    for source in SOURCES:
        columns = getattr(picture.models, source).data
        assert len({len(column) for column in columns.values()}) <= 1, source


@pytest.mark.parametrize("name", ALL)
def test_every_pair_can_be_lit(name: str) -> None:
    one = machine(name)
    picture = PathPicture([one])
    for gpu in one.gpus[:: max(1, len(one.gpus) // 3)]:
        for nic in one.nics[:: max(1, len(one.nics) // 3)]:
            picture.show_path(0, one.path(gpu, nic))
            assert picture.segments[0].id == gpu.id
            assert picture.lit.ends == ((0, gpu.id), (0, nic.id))
            assert picture.heading_text.startswith(f"GPU {gpu.index} → ")


def test_clicks_choose_and_free() -> None:
    picture = pair()
    gpu, nic = picture.machines[0].gpus[2].id, picture.machines[0].nics[5].id
    seen: list[tuple[int, str]] = []
    picture.on_click(lambda node, part: seen.append((node, part)))
    click(picture, 0, gpu)
    click(picture, 0, nic)
    assert picture.selected(0) == (gpu, nic)
    assert picture.selected(1) == (None, None)
    other = picture.machines[0].gpus[3].id
    click(picture, 0, other)
    assert picture.selected(0) == (other, nic)
    assert len(picture.models.outlines.data["xs"]) == 2
    click(picture, 0, nic)
    assert picture.selected(0) == (other, None)
    assert seen == [(0, gpu), (0, nic), (0, other), (0, nic)]


def test_escape_frees_all() -> None:
    picture = pair()
    for node, machine_ in enumerate(picture.machines):
        picture.select(node, machine_.gpus[0].id)
        picture.select(node, machine_.nics[0].id)
    assert len(picture.models.outlines.data["xs"]) == 4
    # What the page sends for the key.
    picture.root._trigger_event(Reset(picture.root))
    assert [picture.selected(node) for node in (0, 1)] == [(None, None)] * 2
    assert picture.models.outlines.data["xs"] == []


def test_clicks_on_what_cannot_be_chosen_leave_no_trace() -> None:
    picture = pair()
    seen: list[tuple[int, str]] = []
    picture.on_click(lambda node, part: seen.append((node, part)))
    with changes(picture) as changed:
        click(picture, 0, "cpu0")
        tap(picture, 3.0, 3.0)
        tap(picture, -50.0, 10_000.0)
    assert not changed
    assert not seen


def test_a_double_click_counts_for_its_own_box() -> None:
    picture = pair()
    click(picture, 0, picture.machines[0].gpus[0].id)
    centre = picture.layout.nodes[0].boxes[picture.machines[0].nics[0].id].centre
    tap(picture, *centre, DoubleTap)
    assert picture.selected(0) == (picture.machines[0].gpus[0].id, picture.machines[0].nics[0].id)


def test_choosing_by_call() -> None:
    picture = pair()
    with changes(picture) as changed:
        picture.select(1, picture.machines[1].gpus[0].id)
    assert changed == {"outlines"}
    with pytest.raises(UnknownDeviceError):
        picture.select(0, "cpu0")
    with pytest.raises(UnknownDeviceError):
        picture.select(0, "no such part")
    picture.select(1, None)
    assert picture.selected(1) == (None, None)


def test_groups_open_by_click_and_close_again() -> None:
    one = crowded(40, 8)
    picture = PathPicture([one])
    group = next(box for box in picture.layout.boxes if box.kind is BoxKind.GROUP and "40" in str(box.lines))
    tap(picture, *group.centre)
    assert picture.layout.nodes[0].hidden_in(one.gpus[0].id) is None
    picture.collapse(group.part)
    assert picture.layout.nodes[0].hidden_in(one.gpus[0].id) == f"group:{group.part}"
    picture.expand(group.part)
    assert picture.layout.nodes[0].hidden_in(one.gpus[0].id) is None


def test_what_is_chosen_or_lit_is_never_folded_away() -> None:
    one = crowded(40, 8)
    picture = PathPicture([one])
    gpu = one.gpus[7].id
    picture.select(0, gpu)
    assert picture.layout.nodes[0].hidden_in(gpu) is None
    picture.select(0, None)
    assert picture.layout.nodes[0].hidden_in(gpu) is not None
    picture.show_path(0, one.path(7, 3))
    assert picture.layout.nodes[0].hidden_in(gpu) is None


def test_a_lit_switch_gives_up_its_label() -> None:
    picture = pair()
    switches = sum(label.text == "switch" for label in picture.labels)
    picture.show_transfer(*ends(picture), DataPath.DIRECT)
    assert sum(label.text == "switch" for label in picture.labels) == switches - 2
    picture.clear()
    assert sum(label.text == "switch" for label in picture.labels) == switches


def test_loads_touch_only_the_lit_path() -> None:
    picture = pair()
    here, there = ends(picture)
    expected = predict(here, there, Workload())
    picture.show_transfer(here, there, DataPath.DIRECT, expected)
    assert picture.shares() == [0.0] * len(picture.segments)
    with changes(picture) as changed:
        picture.set_loads(expected.loads, expected.capacities)
    assert changed == {"lit"}
    shares = picture.shares()
    assert shares is not None
    assert max(shares) == pytest.approx(1.0, abs=0.02)
    with changes(picture) as changed:
        picture.set_loads(expected.loads)
    assert not changed


def test_slow_motion_touches_only_what_lights_up() -> None:
    picture = pair()
    here, there = ends(picture)
    expected = predict(here, there, Workload(path=DataPath.STAGED))
    picture.show_transfer(here, there, DataPath.STAGED, expected)
    for stage in expected.stages:
        with changes(picture) as changed:
            picture.highlight(stage.places)
        assert changed <= {"lit", "marks", "glow"}
        lit = picture.models.lit.data
        bright = {picture.segments[s] for s, a in zip(lit["segment"], lit["alpha"], strict=True) if a == 1.0}
        assert bright == set(stage.places) & set(picture.segments)
        assert bright or picture.models.glow.data["xs"], stage.key
    picture.highlight(None)
    assert picture.models.glow.data["xs"] == []
    assert set(picture.models.lit.data["alpha"]) == {1.0}


def test_clear_leaves_the_bare_machines() -> None:
    picture = pair()
    bare = {name: repr(getattr(picture.models, name).data) for name in SOURCES}
    picture.show_transfer(*ends(picture), DataPath.STAGED)
    picture.set_bottleneck(Ceiling("x", picture.segments[0], 1e9))
    picture.select(0, picture.machines[0].gpus[0].id)
    picture.highlight([picture.segments[0]])
    picture.clear()
    assert {name: repr(getattr(picture.models, name).data) for name in SOURCES} == bare
    assert picture.segments == ()


def test_transfers_from_the_lower_node_run_upwards() -> None:
    picture = pair()
    here, there = ends(picture)
    picture.show_transfer(there, here, DataPath.DIRECT)
    assert picture.lit.legs[0].node == 1
    assert picture.segments[0].side is Side.LOCAL
    picture.show_transfer(here, there, DataPath.DIRECT, op=Op.READ)
    assert picture.lit.legs[0].node == 1
    assert picture.segments[0].side is Side.REMOTE


def test_live_rows_are_handled_in_the_page_alone() -> None:
    picture = pair()
    source = ColumnDataSource({"t": [], "loads": []})
    picture.live(source)
    (callback,) = source.js_event_callbacks.get("streaming", []) or source.js_property_callbacks["streaming"]
    assert callback.args["live"] is source
    assert callback.args["lit"] is picture.models.lit
    assert "change.emit" in callback.code
    assert ".data =" not in callback.code


def test_words_name_the_path_the_hops_and_the_narrowest() -> None:
    picture = pair()
    here, there = ends(picture)
    picture.show_transfer(here, there, DataPath.STAGED, predict(here, there, Workload(path=DataPath.STAGED)))
    text = str(picture)
    lines = text.splitlines()
    assert lines[0].startswith("staged")
    assert "64 KiB" in lines[0]
    assert sum("host memory of CPU 0" in line for line in lines) == 2
    assert sum("Gen5 x16" in line for line in lines) == 8
    assert "narrowest: CPU work" in text
    assert lines[-1] == "simulated"
    # Aligned: a head stands over its column.
    at = lines[1].index("PCIe")
    assert all(line[at - 1] == " " for line in lines[2:13])


def test_words_of_one_path() -> None:
    one = machine("pcie-a30")
    picture = PathPicture([one], simulated=False)
    assert "2 GPUs" in str(picture)
    picture.show_path(0, one.path(1, 0))
    text = str(picture)
    assert "SYS" in text
    assert "between CPU sockets" in next(
        line for line in text.splitlines() if "narrowest" in line and "SYS" not in line
    )
    assert "simulated" not in text
    assert "simulated" not in [label.text for label in picture.labels]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_from_files_are_text_everywhere(name: str) -> None:
    picture = PathPicture([hostile(name), hostile(name).renamed("other")])
    machine_ = picture.machines[0]
    picture.show_path(0, machine_.path(0, 1))
    tooltips = [tool.tooltips for tool in picture.root.tools if isinstance(tool, HoverTool)]
    assert len(tooltips) == 2
    for tooltip in tooltips:
        # The template is gdviz's own; values are escaped by Bokeh unless it says {safe}.
        assert "safe" not in tooltip
        assert "<img" not in tooltip
    kinds = {renderer.glyph.__class__.__name__ for renderer in picture.root.renderers}
    assert not kinds & {"TeX", "TeXGlyph", "MathMLGlyph", "HTMLLabel"}
    document = Document()
    document.add_root(picture.root)
    for model in document.models:
        for html in ("text", "title", "description", "label", "html", "content"):
            value = getattr(model, html, None)
            if isinstance(value, str) and model.__class__.__name__ != "Text":
                assert "<img" not in value
                assert "$$" not in value
    str(picture)


def test_no_colour_but_by_role() -> None:
    picture = pair()
    picture.show_transfer(*ends(picture), DataPath.STAGED)
    used = set()
    for name in SOURCES:
        data = getattr(picture.models, name).data
        used.update(data.get("role", []), data.get("edge", []) if name == "chips" else [])
    assert used <= set(ROLES["light"])
    light = picture.root.background_fill_color
    use_look(picture.root, "dark")
    assert picture.root.background_fill_color != light
    mapper = picture.root.renderers[0].glyph.fill_color.transform
    assert mapper.palette == [ROLES["dark"][role] for role in mapper.factors]
    assert any(TAG in tag for tag in mapper.tags if isinstance(tag, dict))


def test_fixed_ranges_and_nothing_but_a_save_button() -> None:
    picture = pair()
    root = picture.root
    assert (root.x_range.start, root.x_range.end) == (0, 960)
    assert (root.y_range.start, root.y_range.end) == (picture.layout.height, 0)
    assert [type(tool).__name__ for tool in root.tools if tool.visible] == ["SaveTool"]
    assert len(root.renderers) <= 14


def test_places_of_a_third_machine_are_not_mixed_up() -> None:
    picture = pair()
    stranger = machine("hgx-h100").renamed("stranger")
    picture.show_transfer(
        Endpoint(stranger, "mlx5_0", stranger.gpus[0].id), ends(picture)[1], DataPath.DIRECT
    )
    assert picture.lit.legs[0].node == 0
    assert picture.lit.legs[-1].node == 1


def test_one_or_two_nodes_only() -> None:
    one = machine("hgx-h100")
    with pytest.raises(ValueError, match="one or two"):
        PathPicture([])
    with pytest.raises(ValueError, match="one or two"):
        PathPicture([one] * 3)


def test_twins_that_are_one_object_stand_above_each_other() -> None:
    one = machine("hgx-h100")
    picture = PathPicture([one, one])
    end = Endpoint(one, "mlx5_0", one.gpus[0].id)
    picture.show_transfer(end, end, DataPath.DIRECT)
    assert [leg.node for leg in picture.lit.legs] == [0, 0, 0, -1, 1, 1, 1]
    assert isinstance(one.gpus[0], Gpu)
    place = Place(Side.REMOTE, PlaceKind.PART, "mlx5_0")
    picture.highlight([place])
    assert len(picture.models.glow.data["xs"]) == 1
