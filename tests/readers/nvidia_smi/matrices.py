"""Matrices of our own in the ways in which people have them."""

from __future__ import annotations

ROWS = {
    "GPU0": ("X", "PIX", "NV4", "SYS", "PIX", "NODE", "SYS"),
    "GPU1": ("PIX", "X", "NODE", "SYS", "PIX", "NODE", "SYS"),
    "GPU2": ("NV4", "NODE", "X", "SYS", "NODE", "PXB", "SYS"),
    "GPU3": ("SYS", "SYS", "SYS", "X", "SYS", "SYS", "PHB"),
    "NIC0": ("PIX", "PIX", "NODE", "SYS", "X", "NODE", "SYS"),
    "NIC1": ("NODE", "NODE", "PXB", "SYS", "NODE", "X", "SYS"),
    "NIC2": ("SYS", "SYS", "SYS", "PHB", "SYS", "SYS", "X"),
}
AFFINITY = {"GPU0": "0-15,32-47", "GPU1": "0-15,32-47", "GPU2": "0-15,32-47", "GPU3": "16-31,48-63"}
NUMA = {"GPU0": "0", "GPU1": "0", "GPU2": "0", "GPU3": "1"}
LEGEND = (
    "\nLegend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe and the SMP interconnect\n"
    "  NV#  = Connection traversing a bonded set of # NVLinks\n\n"
    "NIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_3\n  NIC2: mlx5_bond_0\n"
)


def tabs(*, header_colour: bool = True) -> str:
    """Return it as the tool prints it now: tabs, the header underlined."""
    start, end = ("\x1b[4m", "\x1b[0m") if header_colour else ("", "")
    text = f"\t{start}" + "\t".join([*ROWS, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"]) + end + "\n"
    for name, cells in ROWS.items():
        tail = [AFFINITY[name], NUMA[name], "", "N/A"] if name in AFFINITY else [""] * 4
        text += "\t".join([name, *(" X " if cell == "X" else cell for cell in cells), *tail]) + "\n"
    return text + LEGEND


def spaces() -> str:
    """Return it as a terminal shows it."""
    text = " " * 8 + "".join(f"{name:<8}" for name in ROWS) + "CPU Affinity    NUMA Affinity\n"
    for name, cells in ROWS.items():
        text += f"{name:<8}" + "".join(f"{' X' if cell == 'X' else cell:<8}" for cell in cells)
        text += f"{AFFINITY.get(name, ''):<16}{NUMA.get(name, '')}".rstrip() + "\n"
    return text + LEGEND


def markdown() -> str:
    """Return it as a Markdown table."""
    text = "|      | " + " | ".join(ROWS) + " |\n|------|" + "------|" * len(ROWS) + "\n"
    for name, cells in ROWS.items():
        text += (
            f"| {name} | " + " | ".join(f"**{cell}**" if cell == "PIX" else cell for cell in cells) + " |\n"
        )
    return text + "\nNIC mapping: NIC0=mlx5_0 (NUMA 0), NIC1=mlx5_3 (NUMA 0), NIC2=mlx5_bond_0 (NUMA 1)\n"


def old() -> str:
    """Return it as in 2019: NICs by their own names, SOC for SYS, no NUMA columns."""
    names = {"NIC0": "mlx5_0", "NIC1": "mlx5_3", "NIC2": "mlx5_bond_0"}
    text = "\t" + "\t".join(names.get(name, name) for name in ROWS) + "\tCPU Affinity\n"
    for name, cells in ROWS.items():
        row = (" X " if cell == "X" else cell.replace("SYS", "SOC") for cell in cells)
        text += "\t".join([names.get(name, name), *row, AFFINITY.get(name, "")]) + "\n"
    return text


def realigned() -> str:
    """Return it aligned by hand, and quoted."""
    text = ">   " + "  ".join(ROWS) + "   CPU Affinity\n"
    for number, (name, cells) in enumerate(ROWS.items()):
        text += "> " + " " * (number % 3) + name + "  " + (" " * (1 + number % 2)).join(cells)
        text += "  " + AFFINITY.get(name, "") + "\n"
    return text + "> NIC0: mlx5_0\n> NIC1: mlx5_3\n> NIC2: mlx5_bond_0\n"


def wrapped() -> str:
    """Return it with lines broken after four cells, the header too."""
    names = list(ROWS)
    text = "\t" + "\t".join(names[:4]) + "\n" + "\t".join([*names[4:], "CPU Affinity"]) + "\n"
    for name, cells in ROWS.items():
        tail = [AFFINITY[name]] if name in AFFINITY else []
        text += "\t".join([name, *cells[:4]]) + "\n" + "\t".join([*cells[4:], *tail]) + "\n"
    return text + LEGEND


def amid_prose() -> str:
    """Return it in the middle of a page."""
    return (
        "# Our node\n\nGPU0 and NIC0 are on one switch, see GPU0 below.\n\n"
        + tabs(header_colour=False)
        + "\nGPU1 is slow. Is PIX right?\nThe GPU2 NIC1 pair is PXB.\n"
    )


SHAPES = {
    function.__name__: function()
    for function in (tabs, spaces, markdown, old, realigned, wrapped, amid_prose)
}
