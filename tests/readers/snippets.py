"""Small pieces of NCCL topology XML, and what to ask of a machine that was read."""

from __future__ import annotations

from gdviz.machine import Machine

GPU = '<pci busid="{}" class="0x030200" link_speed="16 GT/s" link_width="16"/>'
NIC = '<pci busid="{}" class="0x020700" link_speed="16 GT/s" link_width="16">{}</pci>'


def texts(machine: Machine) -> str:
    return "\n".join(f"{notice.line}: {notice.text}" for notice in machine.notices)


def gpu_with(inside: str, busid: str = "0000:01:00.0", attributes: str = 'dev="0" sm="90" gdr="1"') -> str:
    return (
        f'<pci busid="{busid}" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">'
        f"<gpu {attributes}>{inside}</gpu></pci>"
    )


def net(name: str, extra: str = "") -> str:
    return f'<nic><net name="{name}" speed="200000" {extra}/></nic>'
