"""``rdma_topo dump``: PCI functions with their configuration spaces as JSON, made for reading elsewhere."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib

from gdviz.errors import ReaderError
from gdviz.messages import _
from gdviz.readers.sysfs.tree import MappingTree

_BEGIN = re.compile(rb"^\s*\[\s*\{")
_MODALIAS = re.compile(
    r"^pci:v(?P<vendor>[0-9A-F]{8})d(?P<device>[0-9A-F]{8})sv(?P<sub_vendor>[0-9A-F]{8})"
    r"sd(?P<sub_device>[0-9A-F]{8})bc(?P<base>[0-9A-F]{2})sc(?P<sub>[0-9A-F]{2})i(?P<interface>[0-9A-F]{2})"
)

#: Functions of one dump that are read, and the size of a configuration space.
MAX_FUNCTIONS, CONFIG_BYTES = 20_000, 4096


def is_dump(data: bytes) -> bool:
    """Return whether a file's content is such a dump."""
    head = data[:65_536]
    return _BEGIN.match(head) is not None and b'"realpath"' in head and b'"modalias"' in head


def tree_of(data: bytes) -> MappingTree:
    """Return a dump as the files of /sys that it was made from.

    Raises
    ------
    ReaderError
        The JSON is broken.
    """
    try:
        items = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ReaderError(_("The dump is broken: {reason}.").format(reason=str(error)[:200])) from None
    files: dict[str, bytes] = {}
    links: dict[str, str] = {}
    for item in items[:MAX_FUNCTIONS] if isinstance(items, list) else []:
        path = item.get("realpath") if isinstance(item, dict) else None
        if isinstance(path, str) and "/devices/" in path:
            _take(item, "sys/devices/" + path.partition("/devices/")[2], files, links)
    return MappingTree(files, links)


def _take(item: dict[str, object], path: str, files: dict[str, bytes], links: dict[str, str]) -> None:
    alias = item.get("modalias")
    if isinstance(alias, str) and (match := _MODALIAS.match(alias)):
        files[f"{path}/class"] = f"0x{match['base']}{match['sub']}{match['interface']}".encode()
        for name, part in (
            ("vendor", "vendor"),
            ("device", "device"),
            ("subsystem_vendor", "sub_vendor"),
            ("subsystem_device", "sub_device"),
        ):
            files[f"{path}/{name}"] = f"0x{match[part][4:]}".encode()
    if isinstance(item.get("numa_node"), int):
        files[f"{path}/numa_node"] = str(item["numa_node"]).encode()
    if isinstance(item.get("iommu_group"), int):
        links[f"{path}/iommu_group"] = f"/kernel/iommu_groups/{item['iommu_group']}"
    config = item.get("config")
    if isinstance(config, str):
        files[f"{path}/config"] = _unpacked(config)
    subsystems = item.get("subsystems")
    names = subsystems.get("infiniband") if isinstance(subsystems, dict) else None
    for name in names[:16] if isinstance(names, list) else []:
        if isinstance(name, str) and "/" not in name:
            files[f"{path}/infiniband/{name}/hca_type"] = b""


def _unpacked(text: str) -> bytes:
    try:
        # 47: zlib's own header or gzip's, whichever is there.
        return zlib.decompressobj(47).decompress(base64.b64decode(text, validate=True), CONFIG_BYTES)
    except (ValueError, binascii.Error, zlib.error):
        return b""
