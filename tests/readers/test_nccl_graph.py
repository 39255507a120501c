from __future__ import annotations

from gdviz.readers import nccl_graph

TEXT = """<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="1" speedintra="4" speedinter="12.5" typeintra="SYS" typeinter="PIX">
    <channel><net dev="1"/><gpu dev="0"/><gpu dev="3"/><net dev="1"/></channel>
  </graph>
  <odd/>
</graphs>
"""


def test_rings_with_their_nics() -> None:
    assert nccl_graph.looks_like(TEXT)
    reading = nccl_graph.read(TEXT)
    (graph,) = reading.facts.graphs
    assert (graph.pattern, graph.cross_nic, graph.intra, graph.inter) == (4, False, "SYS", "PIX")
    assert graph.inter_bytes_per_s == 12.5e9
    assert [(c.nics, c.gpus, c.line) for c in graph.channels] == [((1, 1), (0, 3), 3)]
    assert [(n.line, "odd" in n.text) for n in reading.notices] == [(5, True)]


def test_bad_numbers_are_unknown() -> None:
    text = TEXT.replace('"4" cross', '"many" cross').replace('"12.5"', '"-1"').replace('dev="3"', 'dev="x"')
    (graph,) = nccl_graph.read(text).facts.graphs
    assert (graph.pattern, graph.inter_bytes_per_s, graph.channels[0].gpus) == (None, None, (0,))
