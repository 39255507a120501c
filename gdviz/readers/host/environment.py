"""Environment variables: ``env``, ``export -p``, ``mpirun -x``, lists of Docker and Kubernetes."""

from __future__ import annotations

from dataclasses import dataclass

KIND = "environment"
TITLE = "environment variables"


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
