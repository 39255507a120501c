"""Verbs calls that failed: the call, its errno, the size asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from gdviz.doctor.evidence.grep import grep_readings
from gdviz.doctor.evidence.node import NodeEvidence
from gdviz.errors import QuantityError
from gdviz.quantities import parse_size
from gdviz.readers import Evidence

_ERRNO = (
    (re.compile(r"\b(?:Unknown error 524|errno[ =:]*524|error[ =:]*524|ENOTSUPP)\b"), 524),
    (re.compile(r"Cannot allocate memory|\berror[=: ]+12\b|errno[=: ]+12\b|ENOMEM"), 12),
    (re.compile(r"Bad address|\berror[=: ]+14\b|errno[=: ]+14\b|EFAULT"), 14),
    (re.compile(r"Protocol not supported|\berror[=: ]+93\b|errno[=: ]+93\b"), 93),
    (re.compile(r"Operation not supported|\berror[=: ]+95\b|errno[=: ]+95\b|EOPNOTSUPP"), 95),
    (re.compile(r"Invalid argument|\berror[=: ]+22\b|errno[=: ]+22\b"), 22),
    (re.compile(r"Connection timed out|\berror[=: ]+110\b|errno[=: ]+110\b"), 110),
)
_CALL = re.compile(r"\b(ibv_\w+|mlx5dv_\w+)\b")
_FAILED = re.compile(
    r"Couldn'?t (?:allocate|register) MR|failed to (?:create|register) mr|ibv_reg_(?:dmabuf_)?mr\w*\b.*"
    r"(?:fail|error)|\breg_mr\b.*fail|Unable to create QP|Couldn'?t create (?:CQ|QP)"
    r"|\bibv_(?:create|alloc)_\w+\([^)]{0,200}\) failed",
    re.IGNORECASE,
)
_BUFFER = re.compile(
    r"(?:cuMemAlloc\(\)|cudaMalloc\(?\)?|buffer|allocat\w*) (?:of a|of|with size) (\d+) bytes", re.IGNORECASE
)
_COMMAND_SIZE = re.compile(r"\bib_\w+_(?:bw|lat)\b[^\n]*?\s(?:-s|--size)[ =](\d{4,15})\b")
_SIZE = re.compile(r"\b(?:length|size|len)[ =:]+(\d{4,})\b")
_CUDA_FLAG = re.compile(r"--use_cuda|--use_rocm|cuMemAlloc|GPU buffer|mem_type (?:cuda|rocm)")
_PERFTEST = re.compile(r"\bib_\w+_(?:bw|lat)\b|\b(?:BW|Latency) Test\b")
_DMABUF_FLAG = re.compile(r"dmabuf|dma-buf|DMA-BUF", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed verbs call.

    Attributes
    ----------
    errno
        None where the text does not say.
    call
        ``ibv_reg_mr`` ...; empty if not named.
    size_bytes
        Of the buffer, if the text around it says.
    on_gpu
        Whether the buffer is GPU memory; None if it cannot be told.
    dma_buf
        Whether DMA-BUF was asked for.
    host
        Host that the log names; may be empty.
    """

    errno: int | None
    call: str
    size_bytes: int | None
    on_gpu: bool | None
    dma_buf: bool
    host: str
    evidence: tuple[Evidence, ...]

    @property
    def registers(self) -> bool:
        """Whether a registration failed, rather than a queue."""
        return "reg" in self.call


def errno_of(text: str) -> int | None:
    """Return the errno that a text names, by number or by words."""
    return next((number for pattern, number in _ERRNO if pattern.search(text)), None)


def failures(node: NodeEvidence) -> list[Failure]:
    """Return the verbs calls that failed on a node, those of NCCL's log first."""
    if "failures" not in node.memo:
        node.memo["failures"] = [*_of_log(node), *_of_tools(node)]
    found: list[Failure] = node.memo["failures"]
    return found


def _of_log(node: NodeEvidence) -> Iterator[Failure]:
    for warning in node.log.warnings:
        errno = warning.errno if warning.errno is not None else errno_of(warning.text)
        match = _CALL.search(warning.call or warning.text)
        call = match[1] if match else warning.call
        if errno is not None and call.startswith(("ibv_", "wrap_ibv", "mlx5dv")):
            dma_buf = "dmabuf" in call
            yield Failure(errno, call, None, None, dma_buf, warning.host, (warning.evidence,))


def _of_tools(node: NodeEvidence) -> Iterator[Failure]:
    logs = {reading.source for reading in node.log.readings}
    others = [r for r in (*node.readings, *node.job) if r.source not in logs or r.source == ""]
    texts = {(r.source, id(r.lines)): r for r in others if r.lines}
    by_source = {r.source: r for r in texts.values()}
    for reading in by_source.values():
        for cited in grep_readings([reading], _FAILED):
            errno = errno_of(cited.text)
            if errno is None and not re.search(
                "allocate MR|register MR|reg_mr|reg_dmabuf", cited.text, re.IGNORECASE
            ):
                continue
            before = reading.lines[max(0, (cited.line or 1) - 30) : cited.line]
            size, where = _size(before, cited.text)
            if size is None and (asked := _COMMAND_SIZE.search("\n".join(before))):
                size = _bytes(asked[1])
            match = _CALL.search(cited.text)
            text = "\n".join(before)
            evidence = (
                (cited,)
                if where is None
                else (cited, reading.cite((cited.line or 1) - len(before) + where + 1))
            )
            yield Failure(
                errno,
                match[1] if match else ("ibv_reg_mr" if "MR" in cited.text else "ibv_create"),
                size,
                True if _CUDA_FLAG.search(text) else False if _PERFTEST.search(text) else None,
                bool(_DMABUF_FLAG.search(text)),
                "",
                evidence,
            )


def _size(before: tuple[str, ...], text: str) -> tuple[int | None, int | None]:
    for place in range(len(before) - 1, -1, -1):
        if match := _BUFFER.search(before[place]):
            return _bytes(match[1]), place
    match = _SIZE.search(text)
    return (_bytes(match[1]), None) if match else (None, None)


def _bytes(text: str) -> int | None:
    """Return a size as a tool prints it, None where it is none."""
    try:
        return parse_size(text)
    except QuantityError:
        return None
