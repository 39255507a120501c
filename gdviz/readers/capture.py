"""What ``gdviz capture`` wrote, opened as if the files were there."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Mapping

from gdviz.errors import ReaderError
from gdviz.machine import Notice
from gdviz.messages import _
from gdviz.readers.host.environment import Environment, EnvSetting
from gdviz.readers.reading import Reading
from gdviz.readers.registry import readings_of
from gdviz.readers.source import to_text
from gdviz.readers.sysfs.locate import root_with_sys
from gdviz.readers.sysfs.reader import read_tree
from gdviz.readers.sysfs.tree import MAX_FILE, MappingTree

KIND = "capture"
TITLE = "capture of a host"

#: The version of the form that this reads.
VERSION = 1

_MARK = re.compile(rb'^\s*(?:\xef\xbb\xbf)?\{\s*"gdviz_capture"\s*:')

#: Files, commands and bytes of one capture that are read.
MAX_FILES, MAX_COMMANDS, MAX_UNPACKED = 50_000, 200, 32 * 2**20


def is_capture(data: bytes) -> bool:
    """Return whether a file's content is a capture."""
    return _MARK.match(data[:200]) is not None


def read_capture(data: bytes | str, *, source: str = "") -> tuple[str, tuple[Reading, ...]]:
    """Return the host's name and all readings of a capture.

    Parameters
    ----------
    data
        The file's content.
    source
        Where it was read; evidence names the file or command inside it, such as ``a.json: lspci``.

    Raises
    ------
    ReaderError
        It is no capture, or broken.
    """
    text, _odd = to_text(data)
    try:
        capture = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReaderError(_("The capture is broken: {reason}.").format(reason=str(error)[:200])) from None
    if not isinstance(capture, dict) or not isinstance(capture.get("gdviz_capture"), int):
        raise ReaderError(_("That is no capture of gdviz."))
    return readings_of_capture(capture, source=source)


def readings_of_capture(
    capture: Mapping[str, object], *, source: str = ""
) -> tuple[str, tuple[Reading, ...]]:
    """Return the host's name and all readings of a capture at hand.

    Parameters
    ----------
    capture
        What the script gathered.
    source
        Where it was read.
    """
    host = capture.get("host")
    name = host[:255] if isinstance(host, str) and host else "node"
    files, links = _files(_mapping(capture.get("files"))), _links(_mapping(capture.get("links")))
    found: list[Reading] = [Reading(KIND, source, notices=_notices(capture))]
    tree = root_with_sys(MappingTree(files, links))
    if tree is not None:
        found += read_tree(tree, name=name, source=source)
    for path, content in files.items():
        if not path.startswith(("sys/", "proc/")):
            found += _text(content.decode("utf-8", "replace"), name, f"{source}: /{path}")
    for command, result in list(_mapping(capture.get("commands")).items())[:MAX_COMMANDS]:
        output = result.get("out") if isinstance(result, dict) else result
        if isinstance(output, str) and output.strip():
            found += _text(output, name, f"{source}: {command}")
    variables = _mapping(capture.get("environment"))
    if variables:
        lines = tuple(f"{key}={value}" for key, value in variables.items())
        settings = (
            EnvSetting(key, str(value), line) for line, (key, value) in enumerate(variables.items(), 1)
        )
        facts = Environment(tuple(settings))
        found.append(Reading("environment", f"{source}: environment", facts=facts, lines=lines))
    return name, tuple(found)


def _text(text: str, name: str, source: str) -> tuple[Reading, ...]:
    return readings_of(text, text, name, source) if text.strip() else ()


def _mapping(value: object) -> dict[str, object]:
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}


def _files(stored: Mapping[str, object]) -> dict[str, bytes]:
    """Return content by path: text as it is, packed bytes as ``{"z": base64 of zlib}``."""
    found: dict[str, bytes] = {}
    left = MAX_UNPACKED
    for path, value in list(stored.items())[:MAX_FILES]:
        content = b""
        if isinstance(value, str):
            content = value.encode("utf-8", "replace")[:MAX_FILE]
        elif isinstance(value, dict) and isinstance(value.get("z"), str):
            content = _unpacked(value["z"])
        left -= len(content)
        if left < 0:
            break
        found[path.strip("/")] = content
    return found


def _unpacked(text: str) -> bytes:
    try:
        return zlib.decompressobj().decompress(base64.b64decode(text, validate=True), MAX_FILE)
    except (ValueError, binascii.Error, zlib.error):
        return b""


def _links(stored: Mapping[str, object]) -> dict[str, str]:
    return {
        path.strip("/"): target
        for path, target in list(stored.items())[:MAX_FILES]
        if isinstance(target, str)
    }


def _notices(capture: Mapping[str, object]) -> tuple[Notice, ...]:
    """Tell what the capture could not have without root, and what it was refused."""
    told = []
    version = capture.get("gdviz_capture")
    if version != VERSION:
        text = _("The capture is of version {version}; gdviz reads {known}.")
        told.append(Notice(text.format(version=str(version)[:20], known=VERSION)))
    needs = capture.get("needs_root")
    text = _("Not captured without root: {what}")
    listed = needs[:50] if isinstance(needs, list) else []
    told += [Notice(text.format(what=str(need)[:300])) for need in listed]
    return tuple(told)
