from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gdviz.errors import GdvizError
from gdviz.machine import Machine, PcieLink, reference_machine
from gdviz.model import DataPath, Endpoint, Op, Transfer, Workload, predict, predict_together
from gdviz.model.sharing import fill

LARGE = Workload(Op.WRITE, DataPath.DIRECT, 1 << 20, 128, 4)


def end(key: str, name: str, nic: int = 0, gpu: int = 0) -> Endpoint:
    machine = reference_machine(key, name)
    return Endpoint(machine, machine.nic(nic).id, machine.gpu(gpu).id)


def test_the_textbook_example() -> None:
    # Two links of capacity 1; flow 0 crosses both, flow 1 the first, flows 2 and 3 the second.
    use = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    rates, narrowest = fill(use, np.full(4, np.inf))
    assert rates == pytest.approx([1 / 3, 2 / 3, 1 / 3, 1 / 3])
    assert narrowest.tolist() == [1, 0, 1, 1]


def test_a_flow_that_wants_less_leaves_the_rest() -> None:
    rates, narrowest = fill(np.ones((3, 1)), np.array([0.1, 5.0, 5.0]))
    assert rates == pytest.approx([0.1, 0.45, 0.45])
    assert narrowest.tolist() == [-1, 0, 0]


@given(
    hnp.arrays(
        float, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=st.sampled_from([0.0, 0.5, 1.0, 3.0])
    ),
    st.data(),
)
def test_no_resource_is_overfull_and_nobody_could_have_more(use: np.ndarray, data: st.DataObject) -> None:
    limits = np.array(data.draw(st.lists(st.floats(0.01, 10), min_size=len(use), max_size=len(use))))
    rates, _narrowest = fill(use, limits)
    load = rates @ use
    assert (load <= 1 + 1e-9).all()
    assert (rates <= limits * (1 + 1e-9)).all()
    full = load >= 1 - 1e-9
    for flow in range(len(use)):
        at_limit = rates[flow] >= limits[flow] * (1 - 1e-9)
        # Max-min: else it passes a full place at which no other flow has more than it.
        bound = any(
            full[place] and use[flow, place] > 0 and rates[flow] >= rates[use[:, place] > 0].max() - 1e-9
            for place in range(use.shape[1])
        )
        assert at_limit or bound


def test_alone_it_is_the_same_as_predict() -> None:
    ends = end("hgx-h100", "a"), end("hgx-h100", "b")
    (together,) = predict_together([Transfer(*ends, LARGE)], messages=100)
    assert together == predict(*ends, LARGE, messages=100)


def test_two_gpus_share_a_port_by_halves() -> None:
    pairs = [(end("dgx-a100", "a", 0, gpu), end("dgx-a100", "b", 0, gpu)) for gpu in (0, 1)]
    alone = predict(*pairs[0], LARGE, messages=100)
    shared = predict_together([Transfer(*pair, LARGE) for pair in pairs], messages=100)
    for each in shared:
        assert each.bandwidth_bytes_per_s == pytest.approx(alone.bandwidth_bytes_per_s / 2, rel=0.01)
        assert each.bottleneck.name.endswith("shared")
        assert each.cpu_share == pytest.approx(alone.cpu_share / 2, rel=0.01)


def test_two_gpus_with_their_own_nics_share_nothing() -> None:
    pairs = [(end("hgx-h100", "a", n, n), end("hgx-h100", "b", n, n)) for n in (0, 1)]
    shared = predict_together([Transfer(*pair, LARGE) for pair in pairs], messages=100)
    assert [each.bottleneck.name.endswith("shared") for each in shared] == [False, False]


def test_opposite_directions_hardly_disturb_each_other() -> None:
    ends = end("hgx-h100", "a"), end("hgx-h100", "b")
    alone = predict(*ends, LARGE, messages=100).bandwidth_bytes_per_s
    both = predict_together([Transfer(*ends, LARGE), Transfer(*ends[::-1], LARGE)], messages=100)
    for each in both:
        assert 0.95 * alone < each.bandwidth_bytes_per_s <= alone


def test_staged_in_both_directions_shares_host_links() -> None:
    ends = end("hgx-h100", "a"), end("hgx-h100", "b")
    staged = replace(LARGE, path=DataPath.STAGED)
    alone = predict(*ends, staged, messages=100).bandwidth_bytes_per_s
    both = predict_together([Transfer(*ends, staged), Transfer(*ends[::-1], staged)], messages=100)
    assert sum(each.bandwidth_bytes_per_s for each in both) < 1.3 * alone


def test_nothing_to_do_is_a_mistake() -> None:
    with pytest.raises(GdvizError, match="at least one"):
        predict_together([])


def test_ports_of_one_device_share_its_link() -> None:
    machine = reference_machine("hgx-h100", "a")
    first = machine.nics[0]
    slow = replace(first, link=PcieLink(4, 16))
    functions = (
        replace(slow, busid="0000:0f:00.0"),
        replace(slow, id="second port", index=1, name="second", busid="0000:0f:00.1"),
        replace(slow, id="another device", index=2, name="another", busid="0000:1f:00.0"),
    )
    node = Machine("a", replace(machine.parts, nics=functions))
    far = reference_machine("hgx-h100", "b")
    flows = [
        Transfer(Endpoint(node, nic.id), Endpoint(far, far.nics[position].id), LARGE)
        for position, nic in enumerate(functions)
    ]
    alone = predict(flows[0].local, flows[0].remote, LARGE, messages=100).bandwidth_bytes_per_s
    same = predict_together(flows[:2], messages=100)
    other = predict_together([flows[0], flows[2]], messages=100)
    assert [each.bandwidth_bytes_per_s for each in same] == pytest.approx([alone / 2] * 2, rel=0.01)
    assert [each.bandwidth_bytes_per_s for each in other] == pytest.approx([alone] * 2, rel=0.01)
