"""NICs of an NCCL topology: one for each ``<net>``, ordered and named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from gdviz.machine import LinkLayer, Nic, PcieLink, PciIds
from gdviz.machine.known import nic_model
from gdviz.messages import _
from gdviz.readers.nccl_fields import INFINIBAND_CLASS, flag, integer, name_of
from gdviz.readers.notices import Notices, shown
from gdviz.readers.unique import UniqueIds
from gdviz.readers.xml_positions import Element

T = TypeVar("T")


@dataclass(slots=True)
class RawNic:
    """A NIC as it stands in the file; `net` is None where the file gives no ``<net>``."""

    parent: str
    numa: int
    busid: str | None
    link: PcieLink
    ids: PciIds
    pci_class: str | None
    net: Element | None
    line: int


def order_by_dev(items: Iterable[tuple[T, int | None]]) -> list[T]:
    """Return items in the order of their ``dev`` numbers if all have one and none twice, else as they come.

    Examples
    --------
    >>> order_by_dev([("b", 1), ("a", 0)]), order_by_dev([("b", 1), ("a", None)])
    (['a', 'b'], ['b', 'a'])
    """
    pairs = list(items)
    numbers = [dev for _item, dev in pairs if dev is not None]
    if len(numbers) == len(pairs) == len(set(numbers)):
        pairs.sort(key=lambda pair: pair[1] or 0)
    return [item for item, _dev in pairs]


def make_nics(raw: list[RawNic], taken: UniqueIds, notices: Notices) -> tuple[Nic, ...]:
    """Return a machine's NICs.

    Parameters
    ----------
    raw
        NICs in the order of the file.
    taken
        Ids that other parts have; the NICs' own are added.
    notices
        Takes what is odd.
    """
    ordered = order_by_dev((nic, _dev(nic, notices)) for nic in raw)
    names = Counter(name_of(nic.net) for nic in ordered if nic.net is not None)
    return tuple(_nic(index, nic, names, taken, notices) for index, nic in enumerate(ordered))


def _dev(raw: RawNic, notices: Notices) -> int | None:
    return None if raw.net is None else integer(raw.net, "dev", notices)


def _nic(index: int, raw: RawNic, names: Counter[str], taken: UniqueIds, notices: Notices) -> Nic:
    net = raw.net if raw.net is not None else Element("nic", {}, raw.line)
    port = integer(net, "port", notices)
    port = 1 if port is None else port
    given = name_of(net)
    if given and names[given] > 1:
        notices.add(
            _("{n} NICs are called {name}; use their bus ids.").format(n=names[given], name=shown(given)),
            raw.line,
            kind="nic name " + given,
        )
    name = given or _free(f"nic{index}", names)
    part_id = _unique(
        [given] if given and names[given] == 1 else [],
        [raw.busid, f"{raw.busid}/{port}"] if raw.busid else [name],
        taken,
    )
    layer = LinkLayer.UNKNOWN
    if raw.pci_class is not None:
        is_infiniband = int(raw.pci_class, 16) >> 8 == INFINIBAND_CLASS
        layer = LinkLayer.INFINIBAND if is_infiniband else LinkLayer.ETHERNET
    return Nic(
        id=part_id,
        index=index,
        parent=raw.parent,
        busid=raw.busid,
        name=name,
        model=nic_model(raw.ids.vendor, raw.ids.device) or "NIC",
        numa=raw.numa,
        link=raw.link,
        pci=raw.ids,
        port=port,
        speed_bytes_per_s=_speed(net, notices),
        link_layer=layer,
        guid=name_of(net, "guid"),
        gdr=flag(net, "gdr", notices),
    )


def _speed(net: Element, notices: Notices) -> float | None:
    """``speed`` is in Mb/s; NCCL takes 10 Gb/s for 0 and less (some NICs say -1)."""
    megabits = integer(net, "speed", notices)
    if megabits is not None and megabits <= 0:
        notices.add(
            _("speed={n} of <net> {name} says nothing; NCCL would count 10 Gb/s.").format(
                n=megabits, name=shown(name_of(net))
            ),
            net.line,
            kind="speed",
        )
        return None
    return None if megabits is None else megabits * 1e6 / 8


def _free(name: str, names: Counter[str]) -> str:
    while name in names:
        name += "'"
    return name


def _unique(best: list[str], others: list[str], taken: UniqueIds) -> str:
    """Return the first candidate that no part has yet, else the last with a number."""
    candidates = best + others
    free = (candidate for candidate in candidates if candidate not in taken)
    return taken.take(next(free, candidates[-1]))
