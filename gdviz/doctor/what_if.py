"""'What would change it?': the report once more, with something assumed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gdviz.doctor.versions import NcclVersion, level_of
from gdviz.errors import GdvizError
from gdviz.messages import _
from gdviz.quantities import parse_size

if TYPE_CHECKING:
    from gdviz.doctor.report import Report

#: What can be assumed, with what a value is.
CHANGES = {
    "nccl": "an NCCL release: '2.30.7'",
    "gdr_level": "NCCL_NET_GDR_LEVEL: 'SYS', 'PHB' ...; None: not set",
    "c2c": "NCCL_NET_GDR_C2C: True or False",
    "gdr_read": "NCCL_NET_GDR_READ: True or False",
    "nic": "the only NIC to use: 'mlx5_3'",
    "acs": "False: ACS off on the paths of GPUs and NICs",
    "iommu": "'pt', 'off' or 'translate'",
    "peermem": "whether nvidia_peermem is loaded",
    "dma_buf": "whether GPU memory can be shared by DMA-BUF",
    "open_driver": "whether the driver's kernel modules are the open ones",
    "memlock": "limit of locked memory: '8 MiB'; None: unlimited",
    "virtual": "whether the node is a virtual machine",
    "env": "a mapping of environment variables; None removes one",
}


def what_if(report: Report, **changes: Any) -> Report:
    """Return a report's case examined anew with changes assumed.

    What a log says of its own run (channels, decisions) no longer counts where a change would have made
    it another run. Changes add up: ``report.what_if(acs=False).what_if(iommu="pt")``.

    Parameters
    ----------
    changes
        Any of `CHANGES`.

    Raises
    ------
    GdvizError
        A name that is none of them, a value that none is, or a report without its case.
    """
    from gdviz.doctor.diagnose import examine

    if report.case is None:
        raise GdvizError(_("This report does not carry its case; nothing can be assumed of it."))
    unknown = sorted(set(changes) - set(CHANGES))
    if unknown:
        raise GdvizError(
            _("Nothing is known of {name!r}.").format(name=unknown[0]),
            _("One can assume: {names}.").format(names=", ".join(CHANGES)),
        )
    assumed: dict[str, Any] = dict(report.assumed)
    env = dict(assumed.get("env", {}))
    for name, value in changes.items():
        _assume(assumed, env, name, value)
    if env:
        assumed["env"] = env
    changed = examine(report.case, assumed)
    if "nic" in assumed:
        pairs = tuple(pair for pair in changed.pairs if assumed["nic"] in pair.nic_ids)
        if not pairs:
            raise GdvizError(_("No node has a NIC {name!r}.").format(name=str(assumed["nic"])[:60]))
        changed = replace(changed, pairs=pairs)
    return changed


def _assume(assumed: dict[str, Any], env: dict[str, str | None], name: str, value: Any) -> None:
    if name == "env":
        env.update({str(key): None if each is None else str(each) for key, each in dict(value).items()})
    elif name == "gdr_level":
        if value is not None and level_of(str(value)) is None:
            raise GdvizError(
                _("{value!r} is no level of NCCL.").format(value=value),
                _("There are LOC, PIX, PXB, P2C, PHB, SYS."),
            )
        env["NCCL_NET_GDR_LEVEL"] = None if value is None else str(value)
    elif name == "c2c":
        env["NCCL_NET_GDR_C2C"] = "1" if value else "0"
    elif name == "gdr_read":
        env["NCCL_NET_GDR_READ"] = "1" if value else "0"
    elif name == "nccl":
        if NcclVersion.parse(str(value)) is None:
            raise GdvizError(
                _("{value!r} is no release of NCCL.").format(value=value), _("Write it like '2.27.5'.")
            )
        assumed["nccl"] = str(value)
    elif name == "iommu":
        if value not in ("pt", "off", "translate"):
            raise GdvizError(_("iommu is 'pt', 'off' or 'translate', not {value!r}.").format(value=value))
        assumed["iommu"] = value
    elif name == "memlock":
        assumed["memlock_bytes"] = None if value is None else parse_size(value)
    elif name == "nic":
        assumed["nic"] = str(value)
        env["NCCL_IB_HCA"] = f"={value}"
    else:
        assumed[name] = bool(value)
