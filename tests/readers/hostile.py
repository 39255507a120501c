"""A whole file to mutate, and what must hold of whatever is read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable

from gdviz.cli.open import opened_as_dict
from gdviz.cli.path import path_as_dict
from gdviz.errors import ReaderError
from gdviz.machine import Machine
from gdviz.readers import open_text

Read = Callable[[str | bytes], Machine]

#: Mutated files in one run of the fuzzer.
FUZZ_RUNS = int(os.environ.get("GDVIZ_FUZZ_RUNS", "3000"))

WHOLE = """<?xml version="1.0" encoding="UTF-8"?>
<!-- one switch with a GPU and a NIC -->
<system version="1">
  <cpu numaid="0" affinity="0000ffff" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:17:00.0" class="0x060400" vendor="0x1000" device="0xc030" subsystem_vendor="0x1000"
         subsystem_device="0x0072" link_speed="32.0 GT/s PCIe" link_width="16">
      <pci busid="0000:19:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
        <gpu dev="0" sm="90" rank="0" gdr="1">
          <nvlink target="0000:29:00.0" count="4" tclass="0x030200"/>
          <c2c bw="43125" count="8"/>
        </gpu>
      </pci>
      <pci busid="0000:1a:00.0" class="0x020700" link_speed="16 GT/s" link_width="0">
        <nic>
          <net name="mlx5_0" dev="0" speed="400000" port="1" guid="0x1" gdr="1"/>
          <net name="mlx5_1" dev="1" speed="-1" port="2" guid="0x1" gdr="0"/>
        </nic>
      </pci>
    </pci>
    <nic><net name="virbr0" dev="2" speed="10000"/></nic>
  </cpu>
  <cpu numaid="1" affinity="ffff0000">
    <pci busid="0000:29:00.0" class="0x038000" link_speed="16.0 GT/s PCIe" link_width="8">
      <gpu dev="1" sm="104" gcn="910" gdr="1"><xgmi target="0000:19:00.0" count="2" tclass="0x038000"/></gpu>
    </pci>
    <pci busid="0000:30:00.0"/>
  </cpu>
</system>
"""


def check(machine: Machine) -> None:
    """What holds of every machine that a reader returns."""
    ids = [part.id for part in machine]
    assert len(ids) == len(set(ids))
    assert all(ids)
    known = set(ids)
    for part in machine:
        assert getattr(part, "parent", part.id) in known
    assert [gpu.index for gpu in machine.gpus] == list(range(len(machine.gpus)))
    assert [nic.index for nic in machine.nics] == list(range(len(machine.nics)))
    for gpu in machine.gpus[:2]:
        for nic in machine.nics[:2]:
            json.dumps(path_as_dict(machine.path(gpu, nic)), allow_nan=False)
    for notice in machine.notices:
        assert notice.text
        assert notice.line is None or notice.line >= 1
        assert len(notice.text) < 1500


def check_any(data: str | bytes) -> bool:
    """Assert what holds of every input: machines, or the one exception with one line."""
    try:
        opened = open_text(data)
    except ReaderError as error:
        refusal = str(error)
    else:
        refusal = ""
    if refusal:
        assert "\n" not in refusal
        return False
    assert opened.machines
    for machine in opened.machines:
        check(machine)
    json.dumps(opened_as_dict(opened), allow_nan=False)
    return True
