"""Environment variables: ``env``, ``export``, ``echo $NAME``, ``mpirun -x``, containers, ``os.environ``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gdviz.readers.reading import Reading
from gdviz.readers.text_lines import command_of, has_any, open_lines, short_lines

KIND = "environment"
TITLE = "environment variables"

#: Beginnings of the names that matter for GPUs and RDMA; other names count only beside them.
PREFIXES = (
    *("NCCL", "RCCL", "UCX", "UCC", "CUDA", "NVIDIA", "OMPI", "PMIX", "SHARP", "HSA", "HIP", "ROCR", "FI"),
    *("MLX5", "IBV", "RDMAV", "NVSHMEM", "GDRCOPY", "OFI", "GLOO", "I_MPI", "MPICH", "MV2", "HCOLL", "NIXL"),
    *("TORCH", "MC", "EFA", "GPU", "SLURM", "KUBERNETES_NODE"),
)

#: Names that any shell has: where they stand, every ``NAME=value`` is a variable.
_SHELL = frozenset({"PATH", "HOME", "PWD", "USER", "SHELL", "LD_LIBRARY_PATH", "HOSTNAME", "LANG"})

#: Variables that are kept of one file.
MAX_SETTINGS = 20_000

_NAME = r"[A-Za-z_][A-Za-z0-9_]{0,120}"
_KNOWN = rf"(?:{'|'.join(PREFIXES)})_[A-Za-z0-9_]{{1,100}}"
_LINE = re.compile(
    r"^\s*(?:-\s+)?[\"']?(?:export\s+|declare -x\s+|ENV\s+|setenv\s+)?"
    rf"(?P<name>{_NAME})(?:=|(?<=[A-Z0-9]) )(?P<value>.*)$"
)
_YAML_NAME = re.compile(rf"^\s*(?:-\s+)?[\"']?name[\"']?\s*:\s*[\"']?(?P<name>{_KNOWN})[\"']?,?\s*$")
_YAML_VALUE = re.compile(r"^\s*(?:-\s+)?[\"']?value[\"']?\s*:\s*(?P<value>.*)$")
_YAML_PAIR = re.compile(rf"^\s*[\"']?(?P<name>{_KNOWN})[\"']?\s*:\s+(?P<value>\S.*)$")
_INLINE = re.compile(
    r"(?:^|[\s,;'\"])(?:-x\s*|-e\s*|--env[ =]|-genv\s+)?"
    rf"(?P<name>{_KNOWN})=(?P<value>\"[^\"]*\"|'[^']*'|[^\s;\"']*)"
)
_ASKED = re.compile(rf"^(?:echo\s+[\"']?\$\{{?|printenv\s+)(?P<name>{_KNOWN})\}}?[\"']?\s*$")
_PYTHON = re.compile(
    rf"^\s*(?:\w{{1,40}}\.)?environ(?:\[\s*[\"'](?P<name>{_KNOWN})[\"']\s*\]\s*=(?!=)"
    rf"|\.setdefault\(\s*[\"'](?P<default>{_KNOWN})[\"']\s*,)\s*(?P<value>\"[^\"]*\"|'[^']*')"
)
_PYTHON_UNSET = re.compile(
    rf"^\s*(?:del\s+(?:\w{{1,40}}\.)?environ\[|(?:\w{{1,40}}\.)?environ\.pop\()\s*[\"'](?P<names>{_KNOWN})[\"']"
)
_UNSET = re.compile(
    rf"^\s*unset(?:env)?\s+(?:-v\s+)?(?P<names>{_NAME}(?:\s{{1,20}}{_NAME}){{0,100}})\s*(?:[;#&|].*)?$"
)
#: An option that sets a variable, on a line of its own within a command.
_OPTION = re.compile(r"^\s*(?:-x|-e|--env|-genv)\b")
_DECLARES = re.compile(r"^\s*(?:ENV|export)\s")
_WORDS = tuple(f"{prefix}_" for prefix in PREFIXES)
_MPI = re.compile(r"\b(?:mpirun|mpiexec|srun|docker|podman|torchrun|prterun|env|nerdctl|enroot)\b")


@dataclass(frozen=True, slots=True)
class EnvSetting:
    """One variable.

    Attributes
    ----------
    name, value
        As set; quotes removed.
    line
        Line of the file, from 1.
    """

    name: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Environment:
    """Variables in the file's order; the last setting of a name counts.

    Attributes
    ----------
    settings
        Each with its line.
    """

    settings: tuple[EnvSetting, ...]

    def get(self, name: str) -> EnvSetting | None:
        """Return the last setting of a name, None if there is none."""
        return next((setting for setting in reversed(self.settings) if setting.name == name), None)


def looks_like(text: str) -> bool:
    """Return whether a line sets a variable that matters here, or the text is a shell's environment."""
    if not has_any(text, _WORDS) and not has_any(text, ("PATH=",)):
        return False
    return any(isinstance(said, EnvSetting) for said in _settings(short_lines(text)))


def read(data: bytes | str, *, name: str = "node", source: str = "") -> Reading:
    """Read all variables.

    Parameters
    ----------
    data
        The file's content.
    name
        Not used.
    source
        Where it was read.
    """
    lines, odd = open_lines(data)
    found: list[EnvSetting] = []
    gone: dict[str, int] = {}
    for said in _settings(lines):
        if isinstance(said, EnvSetting):
            found.append(said)
        else:
            gone.update(dict.fromkeys(said.names, len(found)))
        if len(found) >= MAX_SETTINGS:
            break
    left = tuple(setting for place, setting in enumerate(found) if place >= gone.get(setting.name, 0))
    return Reading(KIND, source, facts=Environment(left), notices=odd, lines=lines)


@dataclass(frozen=True, slots=True)
class _Unset:
    """Variables that are taken away again."""

    names: tuple[str, ...]


def _settings(lines: Sequence[str]) -> Iterator[EnvSetting | _Unset]:
    shell = any(
        line.lstrip().removeprefix("export ").split("=", 1)[0] in _SHELL for line in lines if "=" in line
    )
    waiting = asked = ""
    more = False
    for number, whole in enumerate(lines, 1):
        line = whole.rstrip()
        # A remark between the lines of one command does not end it.
        within, more = more, line.endswith("\\") or (more and line.lstrip().startswith("#"))
        line = line.removesuffix("\\").rstrip()
        if asked:
            name, asked = asked, ""
            if line.strip() and command_of(line) is None:
                yield EnvSetting(name, _unquoted(line), number)
                continue
        if waiting:
            match = _YAML_VALUE.match(line)
            if match:
                yield EnvSetting(waiting, _unquoted(match["value"]), number)
            waiting = ""
            if match:
                continue
        if not shell and not has_any(line, _WORDS):
            continue
        command = command_of(line)
        if said := _of_code(command or line, number):
            yield said
        elif command is not None or _MPI.search(line):
            yield from _inline(command or line, number)
            if command is not None and (match := _ASKED.match(command)):
                asked = match["name"]
        elif within or (more and _OPTION.match(line)):
            yield from _of_part(line, number, shell=shell)
        elif match := _YAML_NAME.match(line):
            waiting = match["name"]
        else:
            yield from _of_statement(line, number, shell=shell)


def _inline(text: str, number: int) -> Iterator[EnvSetting]:
    for match in _INLINE.finditer(text):
        yield EnvSetting(match["name"], _unquoted(match["value"]), number)


def _of_code(text: str, number: int) -> EnvSetting | _Unset | None:
    """Return what Python's ``os.environ`` or a shell's ``unset`` does."""
    if match := _PYTHON.match(text):
        return EnvSetting(match["name"] or match["default"], _unquoted(match["value"]), number)
    if match := _PYTHON_UNSET.match(text) or _UNSET.match(text):
        return _Unset(tuple(match["names"].split()))
    return None


def _of_part(line: str, number: int, *, shell: bool) -> Iterator[EnvSetting]:
    """Go through the variables of a line that is one of several of a command."""
    if line.lstrip().startswith("#"):
        return
    some = False
    for setting in _inline(line, number):
        some = True
        yield setting
    if not some and (one := _of_line(line, number, shell=shell)):
        yield one


def _of_statement(line: str, number: int, *, shell: bool) -> Iterator[EnvSetting]:
    """Go through the variables of a line: ``ENV`` and ``export`` set several at once."""
    several = tuple(_inline(line, number)) if _DECLARES.match(line) else ()
    if len(several) > 1:
        yield from several
    elif setting := _of_line(line, number, shell=shell):
        yield setting


def _of_line(line: str, number: int, *, shell: bool) -> EnvSetting | None:
    match = _LINE.match(line)
    if match:
        name = match["name"]
        spaced = line[match.end("name")] == " "
        known = re.fullmatch(_KNOWN, name) is not None
        declared = line.lstrip().startswith(("ENV ", "setenv "))
        if spaced and not (known and declared):
            return None
        if (known or (shell and name.upper() == name)) and not name.startswith("CONFIG_"):
            return EnvSetting(name, _unquoted(match["value"]), number)
        return None
    if match := _YAML_PAIR.match(line):
        return EnvSetting(match["name"], _unquoted(match["value"]), number)
    return None


def _unquoted(value: str) -> str:
    value = value.strip().rstrip(",").strip()
    if len(value) >= 2 and value[0] in "\"'" and value.find(value[0], 1) > 0:
        return value[1 : value.find(value[0], 1)]
    # A remark after the value, and the closing quote of a JSON list's "NAME=value".
    return re.sub(r"\s+#.*$", "", value).rstrip("\"';").strip()
