"""Published thresholds and expectations of health checks, for 'is this number normal?'.

They are what others accept, not truth: each band carries its source, and the doctor shows it beside the
model's answer. Units of the sources are kept in the figures (Gb/s of ports, GB/s of collectives).
"""

from __future__ import annotations

from dataclasses import dataclass

from gdviz.doctor.records import Band

_GB, _GBIT = 1e9, 1e9 / 8
_AZURE = "Azure/azurehpc-health-checks, configuration of {vm}"
_AZURE_README = "Azure/azurehpc-health-checks, README (expected values)"
_OCI = "oracle-quickstart/oci-hpc, health checks"
_IMBUE = "imbue-ai/cluster-health"


@dataclass(frozen=True, slots=True)
class Rule:
    """A band and where it applies.

    Attributes
    ----------
    gpu
        Word in the GPU's product name.
    port_gbit
        Rate of its ports; None: any.
    kind
        ``allreduce-node`` (one node), ``allreduce`` (several), ``write``, ``write-both`` or ``host-write``.
    """

    gpu: str
    port_gbit: int | None
    kind: str
    band: Band


def _azure(
    gpu: str, vm: str, allreduce: float, write_gbit: float, expected: tuple[float, float]
) -> list[Rule]:
    source = _AZURE.format(vm=vm)
    both = (
        ("allreduce-node", "all_reduce busbw, one node", allreduce * _GB, expected[0] * _GB),
        ("write", "ib_write_bw --use_cuda, loopback", write_gbit * _GBIT, expected[1] * _GBIT),
    )
    return [
        Rule(gpu, None, kind, Band(vm, what, low, high, f"{source}; {_AZURE_README}"))
        for kind, what, low, high in both
    ]


def _oci(gpu: str, port: int | None, allreduce: float, write_gbit: float) -> list[Rule]:
    name = f"OCI {gpu}"
    return [
        Rule(
            gpu,
            port,
            "allreduce",
            Band(name, "all_reduce busbw, averaged over sizes", allreduce * _GB, None, _OCI),
        ),
        Rule(gpu, port, "write", Band(name, "ib_write_bw -q 2", write_gbit * _GBIT, None, _OCI)),
    ]


RULES: tuple[Rule, ...] = (
    *_azure("A100", "ND A100 v4", 228, 180, (228, 180)),
    *_azure("H100", "ND H100 v5", 460, 380, (460, 380)),
    *_azure("H200", "ND H200 v5", 431, 360, (480, 400)),
    *_azure("MI300X", "ND MI300X v5", 314, 390, (314, 390)),
    *_oci("A100", 100, 185, 96),
    *_oci("H100", 200, 440, 192),
    *_oci("H200", 400, 440, 384),
    *_oci("B200", 400, 440, 384),
    *_oci("B300", None, 700, 375),
    *_oci("GB300", None, 440, 384),
    *_oci("MI300X", None, 350, 350),
    *_oci("MI355X", None, 350, 350),
    Rule(
        "H100", 400, "write-both",
        Band("H100 + ConnectX-7 NDR", "ib_write_bw -b --use_cuda, both ways", 720 * _GBIT, None, _IMBUE),
    ),
    Rule(
        "", 200, "allreduce",
        Band("HDR, 2 x 8 GPUs", "all_reduce busbw", 180 * _GB, None, "Azure/aks-rdma-infiniband, docs"),
    ),
    Rule(
        "", 200, "write",
        Band("HDR", "ib_write_bw", 190 * _GBIT, None, "Azure/aks-rdma-infiniband, docs"),
    ),
)  # fmt: skip


def bands(gpu: str, port_bytes_per_s: float | None, kind: str) -> tuple[Band, ...]:
    """Return the bands for a GPU's product, its port's rate (None: unknown) and a kind of measurement.

    The criterion of Mellanox/ngc_multinode_perf, 90 % of the port's rate, is always among them where the
    rate is known.
    """
    gbit = None if port_bytes_per_s is None else round(port_bytes_per_s / _GBIT)
    found = [
        rule.band
        for rule in RULES
        if rule.kind == kind
        and ((rule.gpu and _word(rule.gpu, gpu)) or (not rule.gpu and gbit == rule.port_gbit))
        and (rule.port_gbit is None or gbit == rule.port_gbit)
    ]
    if port_bytes_per_s and kind in ("write", "host-write"):
        text = "90 % of the port's rate"
        found.append(
            Band("any", text, 0.9 * port_bytes_per_s, port_bytes_per_s, "Mellanox/ngc_multinode_perf")
        )
    return tuple(found)


def _word(word: str, text: str) -> bool:
    return word.lower() in text.lower().replace("-", " ").split() or f"{word.lower()}-" in text.lower()
