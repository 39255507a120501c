"""Sentences that several rules need."""

from __future__ import annotations

from collections.abc import Iterable

from gdviz.doctor.effects import pair_rate, staged_effect
from gdviz.doctor.evidence.devices import Device
from gdviz.doctor.evidence.node import NodeEvidence
from gdviz.machine import Machine
from gdviz.model import DataPath


def sentences(parts: Iterable[str]) -> str:
    """Return sentences as one text; empty ones are left out."""
    return " ".join(part for part in parts if part)


def nearest(node: NodeEvidence) -> tuple[Machine, str, str, str] | None:
    """Return a machine with its nearest pair: ids of GPU and NIC, and what to call the pair."""
    best: tuple[int, Machine, str, str, str] | None = None
    for gpu in node.joined.gpus:
        for nic in node.joined.nics:
            found = node.joined.path(gpu, nic)
            if found is not None and (best is None or found[2].distance.rank < best[0]):
                label = f"{gpu.label}-{nic.label}"
                best = (found[2].distance.rank, found[1], found[2].gpu, found[2].nic, label)
    return None if best is None else best[1:]


def staged_words(
    node: NodeEvidence, gpu: Device | None = None, nic: Device | None = None
) -> tuple[str, float]:
    """Return what staging costs a pair (the nearest by default), as a sentence and in bytes per second."""
    if gpu is not None and nic is not None:
        found = node.joined.path(gpu, nic)
        if found is None:
            return "", 0.0
        return staged_effect(found[1], found[2].gpu, found[2].nic, f"{gpu.label}-{nic.label}")
    near = nearest(node)
    return ("", 0.0) if near is None else staged_effect(*near)


def rates_of(node: NodeEvidence, gpu: Device, nic: Device) -> tuple[float | None, float | None]:
    """Return what the model expects of a pair directly and staged, bytes per second."""
    found = node.joined.path(gpu, nic)
    if found is None:
        return None, None
    _reading, machine, path = found
    return (
        pair_rate(machine, path.gpu, path.nic),
        pair_rate(machine, path.gpu, path.nic, DataPath.STAGED),
    )
