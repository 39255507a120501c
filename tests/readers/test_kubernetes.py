"""The reader of Kubernetes ResourceSlices."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdviz.readers import open_text
from gdviz.readers.kubernetes import ResourceSlices, looks_like, read

SLICES = """\
apiVersion: v1
kind: List
items:
- kind: ResourceSlice
  spec:
    driver: gpu.nvidia.com
    nodeName: node-a
    devices:
    - name: gpu-0
      attributes:
        productName: {string: NVIDIA H100 80GB HBM3}
        cudaComputeCapability: {version: 9.0.0}
        resource.kubernetes.io/pciBusID: {string: "0008:06:00.0"}
        resource.kubernetes.io/pcieRoot: {string: pci0008:00}
      capacity: {memory: {value: 81920Mi}}
- kind: ResourceSlice
  spec:
    driver: dra.net
    nodeName: node-a
    devices:
    - name: pci-0
      attributes:
        dra.net/pciAddress: {string: "0008:07:00.0"}
        dra.net/numaNode: {int: 1}
        dra.net/rdmaDevice: {string: mlx5_0}
        resource.kubernetes.io/pcieRoot: {string: pci0008:00}
    - {name: other, attributes: {}}
"""


def test_one_node_of_two_slices() -> None:
    opened = open_text(SLICES)
    (machine,) = opened.machines
    assert (machine.name, len(machine.gpus), len(machine.nics)) == ("node-a", 1, 1)
    gpu, nic = machine.gpus[0], machine.nics[0]
    assert (gpu.busid, gpu.compute_capability, gpu.memory_bytes) == ("0008:06:00.0", 90, 80 * 2**30)
    assert (nic.name, nic.busid, nic.numa, gpu.numa) == ("mlx5_0", "0008:07:00.0", 1, 1)
    assert str(machine.path(0, 0).distance) == "PHB", "one PCIe root above both"
    facts = opened.readings[0].facts
    assert isinstance(facts, ResourceSlices)
    assert len(facts.devices) == 3


def test_real_files(shared: Path) -> None:
    folder = shared / "corpus" / "k8s_resourceslice"
    counts = {}
    for path in sorted(folder.glob("*.yaml")):
        (machine,) = read(path.read_bytes()).machines
        counts[path.name] = (len(machine.gpus), len(machine.nics))
    assert counts == {
        "dranet-gb300-resourceslice-dranet.yaml": (0, 4),
        "dranet-gb300-resourceslice-gpu.yaml": (4, 0),
    }


@pytest.mark.parametrize(
    ("tail", "word"),
    [
        ("[" * 10_000, "breaks off"),
        ("spec: !!python/object/apply:os.system [x]", "breaks off"),
        ("a: &a [1]\nb: [*a, *a]\n", "alias"),
    ],
)
def test_hostile_yaml(tail: str, word: str) -> None:
    text = "kind: ResourceSlice\n" + tail
    assert looks_like(text)
    reading = read(text)
    assert word in reading.notices[0].text
    assert not reading.machines


def test_the_documents_before_a_broken_one_are_kept() -> None:
    reading = read(SLICES + "---\nkind: ResourceSlice\nspec: {a")
    assert reading.truncated
    assert len(reading.machines) == 1
