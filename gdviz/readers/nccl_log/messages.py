"""Patterns of the messages that count, of NCCL 2.4 to 2.30 and RCCL."""

from __future__ import annotations

import errno
import os
import re

#: What stands before a message: host, process, thread, device; for warnings also the place in the source.
PREFIX = re.compile(
    r"(?P<host>[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}):(?P<pid>\d{1,10}):\d{1,10} \[(?P<gpu>-?\d{1,3})\] "
    r"(?:\S{1,200} )?NCCL (?P<level>INFO|WARN|TRACE|ERROR|VERSION) ?"
)

VERSION = re.compile(r"\b(?P<who>[NR])CCL version ?:? ?(?P<version>2\.\d{1,2}(?:\.\d{1,2})?)(?!\d)")

ENV = re.compile(r"\b(?P<name>[A-Z][A-Z0-9_]{3,60}) set (?:by environment )?to (?P<value>\S.{0,500}?)\.?\s*$")

HCA = re.compile(
    r"NET/(?P<plugin>[^:/]{1,40}?) ?: GPU Direct RDMA (?P<what>Enabled|Disabled) for HCA (?P<index>\d{1,4})"
    r"(?: '(?P<name>[^']{0,64})')?"
)

DECISION = re.compile(
    r"GPU Direct RDMA (?P<what>Enabled|Disabled) for GPU (?P<gpu>\S{1,40}) / HCA (?P<nic>\S{1,20})"
    r"(?: \(distance (?P<distance>\d{1,3}) ?(?:>|<=|<|>=) ?(?P<level>\d{1,3})\))?(?:,? ?read (?P<read>[01]))?"
)

CHANNEL = re.compile(
    r"(?:Channel|Ring) (?P<channel>\d{1,4})(?:/\d{1,4})? : "
    r"(?P<source>\d{1,7})(?:\[(?P<sgpu>[0-9a-f]{1,16})\])? -> "
    r"(?P<target>\d{1,7})(?:\[(?P<tgpu>[0-9a-f]{1,16})\])? \[(?P<way>send|receive)\] via NET/"
    r"(?P<plugin>[^/\n]{1,60})/(?P<nic>\d{1,4})(?:\(\d{1,7}\))?(?P<rest>(?:/[A-Za-z][A-Za-z()]{0,20}){0,3})"
)

#: 'NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/IB [RO]; OOB eth0:...'
USING = re.compile(r"NET/(?P<plugin>[^:/]{1,40}?) ?: Using (?P<list>\[\d.{1,4000})")
USED = re.compile(
    r"\[(?P<index>\d{1,4})\](?P<name>[^\s:\[\]/;]{1,64})(?::(?P<port>\d{1,4}))?(?:/(?P<layer>[A-Za-z]+))?"
)

#: 'NET/IB: [0] mlx5_0:uverbs0:1/RoCE provider=Mlx5 speed=100000 ... pciPath=/sys/devices/...'
DEVICE = re.compile(
    r"NET/(?P<plugin>[^:/]{1,40}?) ?: \[(?P<index>\d{1,4})\] "
    r"(?P<name>[^\s:]{1,64}):[^\s:]{1,64}:(?P<port>\d{1,4})/"
    r"(?P<layer>\w{1,16}).{0,80}?speed=(?P<speed>\d{1,8})(?:.{0,80}?pciPath=(?P<path>\S{1,400}))?"
)

NETWORK = re.compile(r"Using network (?P<plugin>[^\n]{1,40}?)\s*$")

RANK = re.compile(
    r"\brank (?P<rank>\d{1,7}) nranks (?P<ranks>\d{1,7}) cudaDev (?P<gpu>\d{1,3})"
    r"(?: nvmlDev \d{1,3})?(?: busId (?P<busid>[0-9a-fA-F:.]{1,16}))?"
)

CALL = re.compile(
    r"Call to (?P<call>\w{3,40}) failed(?: with error (?P<error>[^\n]{1,120}?))?"
    r"(?: errno (?P<errno>\d{1,5}))?\s*$"
)
COMPLETION = re.compile(
    r"Got completion.{0,200}?(?:status=|error )(?P<status>\d{1,3})\b.{0,200}?vendor err (?P<vendor>\d{1,6})"
)
ERRNO = re.compile(r"\b(?:errno|error)[ =:]{1,3}(?P<errno>\d{1,4})\b|Unknown error (?P<unknown>\d{1,4})\b")

#: errno by its text, as libibverbs prints it.
BY_TEXT = {os.strerror(number): number for number in errno.errorcode}
