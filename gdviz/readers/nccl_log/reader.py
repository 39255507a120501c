"""Log lines to facts: torn, interleaved and prefixed as they come."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from gdviz.readers.nccl_log import messages as m
from gdviz.readers.nccl_log.facts import (
    Channel,
    EnvSetting,
    GdrDecision,
    HcaSupport,
    LogNic,
    LogWarning,
    NcclLog,
    RankFacts,
)

#: Entries of one kind that are kept: a log of ten thousand ranks repeats itself.
MAX_ENTRIES = 100_000

_BUS_ID = re.compile(r"([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7])/?$")
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")


Key = tuple[object, ...]
Entry = TypeVar("Entry")
Fact = TypeVar("Fact", RankFacts, LogNic, HcaSupport, GdrDecision, Channel, EnvSetting, LogWarning)


@dataclass(slots=True)
class _Message:
    """A message with what stands before it."""

    host: str | None
    pid: int | None
    gpu: int | None
    warns: bool
    text: str
    line: int


@dataclass
class _Found:
    """Facts as they are gathered; settings, NICs and checks are kept once each."""

    hosts: Counter[str] = field(default_factory=Counter)
    plugins: dict[str, None] = field(default_factory=dict)
    ranks: dict[Key, RankFacts] = field(default_factory=dict)
    nics: dict[Key, LogNic] = field(default_factory=dict)
    hcas: dict[Key, HcaSupport] = field(default_factory=dict)
    decisions: dict[Key, GdrDecision] = field(default_factory=dict)
    channels: list[Channel] = field(default_factory=list)
    env: dict[Key, EnvSetting] = field(default_factory=dict)
    warnings: list[LogWarning] = field(default_factory=list)


def read_lines(lines: Sequence[str]) -> NcclLog:
    """Return what the lines of a log say."""
    found = _Found()
    version: tuple[str, int, bool] | None = None
    for number, line in enumerate(lines, 1):
        if "CCL" not in line:
            continue
        if version is None and "CCL version" in line and (match := m.VERSION.search(line)):
            version = match["version"], number, match["who"] == "R"
        for marker, take in _TAKERS:
            if marker in line:
                for message in _messages(line, number):
                    if marker in message.text or (marker == _WARN and message.warns):
                        take(found, message)
        _note_host(found, line)
    said, line_of, is_rccl = version or (None, None, False)
    real = _real_hosts(found.hosts)

    def of_host(facts: Iterable[Fact]) -> tuple[Fact, ...]:
        return tuple(
            replace(fact, host=real[fact.host])
            if fact.host in real and real[fact.host] != fact.host
            else fact
            for fact in facts
        )

    return NcclLog(
        said,
        line_of,
        is_rccl,
        tuple(dict.fromkeys(real.values())),
        tuple(found.plugins),
        of_host(found.ranks.values()),
        of_host(found.nics.values()),
        of_host(found.hcas.values()),
        of_host(found.decisions.values()),
        of_host(found.channels),
        of_host(found.env.values()),
        of_host(found.warnings),
    )


def _note_host(found: _Found, line: str) -> None:
    # Most lines come from hosts that are known already: look at what stands before the first colon only.
    end = line.find(":")
    name = line[:end].rsplit(" ", 1)[-1] if end > 0 else ""
    if name not in found.hosts:
        match = m.PREFIX.search(line)
        if match is None or len(found.hosts) > MAX_ENTRIES:
            return
        name = match["host"]
    found.hosts[name] += 1


def _real_hosts(counts: Counter[str]) -> dict[str, str]:
    """Return each name as it should be: a word of a torn line may have run into the host's own."""
    common = [name for name, count in counts.most_common(1000) if count > 1]
    real = {}
    for name, count in counts.items():
        inside = (other for other in common if name.endswith(other) and len(other) < len(name))
        real[name] = next((other for other in inside if counts[other] > 4 * count), name)
    return real


def _messages(line: str, number: int) -> Iterator[_Message]:
    """Go through the messages of a line: two ranks may have written into one."""
    if "\x1b" in line:
        line = _COLOUR.sub("", line)
    heads = list(m.PREFIX.finditer(line))
    if not heads:
        yield _Message(None, None, None, "NCCL WARN" in line, line.strip(), number)
    for place, head in enumerate(heads):
        end = heads[place + 1].start() if place + 1 < len(heads) else len(line)
        text = line[head.end() : end].strip()
        gpu = int(head["gpu"])
        warns = head["level"] in ("WARN", "ERROR")
        yield _Message(head["host"], int(head["pid"]), gpu if gpu >= 0 else None, warns, text, number)


def _take_env(found: _Found, message: _Message) -> None:
    if match := m.ENV.search(message.text):
        setting = EnvSetting(match["name"], match["value"].strip(), message.line, message.host)
        _keep(found.env, (message.host, setting.name, setting.value), setting)


def _take_gdr(found: _Found, message: _Message) -> None:
    if match := m.HCA.search(message.text):
        index, enabled = int(match["index"]), match["what"] == "Enabled"
        plugin, name = match["plugin"].strip(), match["name"] or ""
        support = HcaSupport(message.host, plugin, index, name, enabled, message.gpu, message.line)
        _keep(found.hcas, (message.host, message.gpu, plugin, index, enabled), support)
    elif match := m.DECISION.search(message.text):
        nic = match["nic"].rstrip(",")
        decision = GdrDecision(
            message.host,
            message.gpu,
            match["gpu"],
            int(nic, 16) if re.fullmatch(r"[0-9a-f]{1,8}", nic) else None,
            match["what"] == "Enabled",
            _number(match["distance"]),
            _number(match["level"]),
            None if match["read"] is None else match["read"] == "1",
            message.line,
        )
        key = (message.host, match["gpu"], nic, decision.enabled, decision.reads, message.gpu)
        _keep(found.decisions, key, decision)


def _take_channel(found: _Found, message: _Message) -> None:
    match = m.CHANNEL.search(message.text)
    if match is None or len(found.channels) >= MAX_ENTRIES:
        return
    plugin, rest = match["plugin"].strip(), match["rest"]
    found.plugins.setdefault(plugin)
    mode = "PCI" if "(PCI)" in rest else "Shared" if "/Shared" in rest else ""
    found.channels.append(
        Channel(
            message.host,
            message.gpu,
            int(match["channel"]),
            int(match["source"]),
            int(match["target"]),
            match["sgpu"] or "",
            match["tgpu"] or "",
            match["way"] == "send",
            plugin,
            int(match["nic"]),
            "/GDRDMA" in rest,
            mode,
            message.line,
        )
    )


def _take_using(found: _Found, message: _Message) -> None:
    if match := m.USING.search(message.text):
        plugin = match["plugin"].strip()
        found.plugins.setdefault(plugin)
        if plugin == "Socket":
            return
        for used in m.USED.finditer(match["list"].split(";")[0]):
            port = _number(used["port"])
            nic = LogNic(
                message.host, plugin, int(used["index"]), used["name"], port, used["layer"] or "", None, None,
                message.line,
            )  # fmt: skip
            _keep(found.nics, (message.host, plugin, nic.index), nic)


def _take_device(found: _Found, message: _Message) -> None:
    if match := m.DEVICE.search(message.text):
        path = _BUS_ID.search(match["path"] or "")
        nic = LogNic(
            message.host,
            match["plugin"].strip(),
            int(match["index"]),
            match["name"],
            int(match["port"]),
            match["layer"],
            int(match["speed"]) * 1e6 / 8,
            path[1].lower() if path else None,
            message.line,
        )
        found.nics[message.host, nic.plugin, nic.index] = nic


def _take_network(found: _Found, message: _Message) -> None:
    if match := m.NETWORK.search(message.text):
        found.plugins.setdefault(match["plugin"])


def _take_rank(found: _Found, message: _Message) -> None:
    if match := m.RANK.search(message.text):
        rank = RankFacts(
            int(match["rank"]),
            int(match["ranks"]),
            message.host,
            message.pid,
            int(match["gpu"]),
            match["busid"],
            message.line,
        )
        _keep(found.ranks, (message.host, message.pid, rank.rank, rank.ranks), rank)


def _take_warning(found: _Found, message: _Message) -> None:
    if len(found.warnings) >= MAX_ENTRIES:
        return
    call = m.CALL.search(message.text)
    failed = m.COMPLETION.search(message.text)
    found.warnings.append(
        LogWarning(
            message.host,
            message.gpu,
            message.text[:1000],
            call["call"] if call else None,
            _errno(message.text, call),
            _number(failed["status"]) if failed else None,
            _number(failed["vendor"]) if failed else None,
            message.line,
        )
    )


def _errno(text: str, call: re.Match[str] | None) -> int | None:
    if call is not None:
        if call["errno"]:
            return int(call["errno"])
        by_text = m.BY_TEXT.get((call["error"] or "").strip())
        if by_text is not None:
            return by_text
    if "Got completion" in text:
        return None  # a completion's status is no errno
    number = m.ERRNO.search(text)
    return int(number["errno"] or number["unknown"]) if number else None


def _number(text: str | None) -> int | None:
    return int(text) if text else None


def _keep(entries: dict[Key, Entry], key: Key, value: Entry) -> None:
    if len(entries) < MAX_ENTRIES:
        entries.setdefault(key, value)


_WARN = "NCCL WARN"

#: What a line must hold before anything is matched, and who looks closer.
_TAKERS: tuple[tuple[str, Callable[[_Found, _Message], None]], ...] = (
    (" set ", _take_env),
    ("GPU Direct RDMA", _take_gdr),
    ("via NET/", _take_channel),
    (": Using [", _take_using),
    (" speed=", _take_device),
    ("Using network ", _take_network),
    (" nranks ", _take_rank),
    (_WARN, _take_warning),
)
