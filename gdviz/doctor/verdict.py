"""Will GPUDirect RDMA be used for a pair: by NCCL of a release, by UCX, by plain verbs, and why.

`nccl_verdict` follows NCCL's own order (``ncclTopoCheckGdr`` in src/graph/paths.cc, tag by tag): support
of NIC and GPU, reads on old GPUs, level, distance; with NVLink-C2C in between as each release has it.
"""

from __future__ import annotations

from dataclasses import dataclass

from gdviz.doctor.versions import LATEST, NcclVersion, rank_of
from gdviz.messages import _

#: Compute capability times ten from which NCCL reads GPU memory over the NIC without asking.
AMPERE = 80


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer and its reason.

    Attributes
    ----------
    gdr
        Whether GPUDirect RDMA is used; None: the inputs do not tell.
    why
        One sentence.
    sends
        The same for data that leave the GPU, where it differs (NCCL reads GPU memory of old GPUs through
        the host); else None.
    """

    gdr: bool | None
    why: str
    sends: bool | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What NCCL looks at for one pair; None: unknown, NCCL's default is assumed.

    Attributes
    ----------
    distance
        Path type: PIX, PXB, PHB (also for NODE), SYS, P2C; None if unknown.
    version
        NCCL's release; None: unknown, only what holds for all releases is told.
    nic_gdr, gpu_gdr
        What NCCL found: the NIC can register GPU memory, the GPU offers it.
    level
        What NCCL_NET_GDR_LEVEL means, as a path type.
    c2c, gdr_read
        NCCL_NET_GDR_C2C and NCCL_NET_GDR_READ.
    proxy_distance
        Distance of the GPU that sends for this one (PXN).
    """

    distance: str | None
    version: NcclVersion | None = None
    nic_gdr: bool | None = None
    gpu_gdr: bool | None = None
    level: str | None = None
    c2c: bool | None = None
    gdr_read: bool | None = None
    compute_capability: int | None = None
    nvlink: bool | None = None
    gpus: int = 0
    proxy_distance: str | None = None


def counted_distance(question: Question) -> str | None:
    """Return the path type that NCCL compares with the level: P2C differs by release."""
    distance = question.proxy_distance or question.distance
    if distance == "NODE":
        distance = "PHB"
    if distance not in ("P2C", "C2C"):
        return distance
    version = question.version or LATEST
    if not version.has_c2c or "P2C" not in version.types:
        # 2.26 has C2C as a path type, but counts a NIC at the CPU as PHB unless NCCL_NET_GDR_C2C is 1.
        return "C2C" if version.has_c2c and question.c2c else "PHB"
    if version.rewrites_c2c and uses_c2c(question):
        return "C2C"
    return "P2C"


def uses_c2c(question: Question) -> bool:
    """Return whether NCCL_NET_GDR_C2C is on, set or by default."""
    if question.c2c is not None:
        return question.c2c
    return (question.version or LATEST).c2c_by_default


def level_in_force(question: Question) -> str:
    """Return the level: the user's, else the release's default."""
    if question.level is not None:
        return question.level
    if question.version is None and question.distance not in ("P2C", "C2C"):
        return "PXB"  # the level of all releases where no NVLink-C2C lies in between
    return (question.version or LATEST).default_level(c2c=uses_c2c(question))


def nccl_verdict(question: Question) -> Verdict:
    """Return whether NCCL uses GPUDirect RDMA for a pair."""
    if question.nic_gdr is False:
        return Verdict(False, _("NCCL found no way to register GPU memory with this NIC."))
    if question.gpu_gdr is False:
        return Verdict(False, _("The GPU offers no GPUDirect RDMA."))
    counted = counted_distance(question)
    if counted is None:
        return Verdict(None, _("The distance of GPU and NIC is not in the inputs."))
    level = level_in_force(question)
    words = {"distance": counted, "level": level}
    if question.distance in ("P2C", "C2C") and question.version is None and question.level is None:
        return Verdict(
            None,
            _(
                "Over NVLink-C2C it depends on NCCL: off by default up to 2.26, on from 2.27; no version is "
                "known."
            ),
        )
    if level == "LOC":
        return Verdict(False, _("NCCL_NET_GDR_LEVEL=LOC means never."))
    if rank_of(counted) > rank_of(level):
        text = (
            _("{distance} is farther than the level {level} that is set.")
            if question.level
            else _("{distance} is farther than NCCL's default level {level}.")
        )
        return Verdict(False, text.format(**words))
    if question.nic_gdr is None:
        near = _(
            "{distance} is within the level {level}; whether NIC and GPU support it is not in the inputs."
        )
        return Verdict(None, near.format(**words))
    text = _("{distance} is within the level {level}, and NIC and GPU support it.")
    sends = _sends(question)
    why = text.format(**words)
    if sends is False:
        why += " " + _("Sends are staged: NCCL does not read the memory of this GPU over the NIC by default.")
    return Verdict(True, why, sends if sends is False else None)


def _sends(question: Question) -> bool | None:
    if question.gdr_read is not None:
        return question.gdr_read
    if question.compute_capability is None:
        return None
    if question.compute_capability >= AMPERE or question.gpus == 1:
        return True
    return question.nvlink


def ucx_verdict(
    registration: bool | None, *, tls: str | None = None, direct_rdma: str | None = None
) -> Verdict:
    """Return whether UCX uses it: whatever the distance, if it may register and knows GPU memory.

    Parameters
    ----------
    registration
        Whether GPU memory can be registered (peermem or DMA-BUF).
    tls, direct_rdma
        UCX_TLS and UCX_IB_GPU_DIRECT_RDMA.
    """
    if tls is not None and not ucx_knows_cuda(tls):
        return Verdict(False, _("UCX_TLS leaves out cuda_copy: UCX does not recognise GPU memory."))
    if direct_rdma is not None and direct_rdma.lower() in ("n", "no", "0", "off"):
        return Verdict(False, _("UCX_IB_GPU_DIRECT_RDMA switches it off."))
    return _by_registration(registration, "UCX")


def ucx_knows_cuda(tls: str) -> bool:
    """Return whether a value of UCX_TLS leaves UCX able to recognise CUDA memory.

    Examples
    --------
    >>> ucx_knows_cuda("rc,sm,self"), ucx_knows_cuda("rc,cuda"), ucx_knows_cuda("^tcp")
    (False, True, True)
    """
    value = tls.strip().strip("'\"").lower()
    names = {name.strip().lstrip("\\") for name in value.lstrip("^").split(",")}
    cuda = bool(names & {"cuda", "cuda_copy", "rocm", "rocm_copy"})
    if value.startswith("^"):
        return not cuda
    return cuda or "all" in names or not value


def verbs_verdict(registration: bool | None) -> Verdict:
    """Return whether plain verbs can use it: registration is all that counts."""
    return _by_registration(registration, _("Plain verbs"))


def _by_registration(registration: bool | None, who: str) -> Verdict:
    if registration is None:
        return Verdict(None, _("Whether GPU memory can be registered is not in the inputs."))
    if registration:
        return Verdict(
            True, _("{who} can register GPU memory; the distance only decides the speed.").format(who=who)
        )
    return Verdict(False, _("GPU memory cannot be registered with the NIC."))
