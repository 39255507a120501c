"""What NVML tells of NVIDIA GPUs, without waiting for it: names, BAR1, and bytes over PCIe and NVLink."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from gdviz.clock import wall_seconds
from gdviz.errors import MissingDependencyError
from gdviz.messages import _

#: NVML_FI_DEV_*: bytes over PCIe since the driver was loaded, and KiB of data over all NVLinks.
PCIE_SENT, PCIE_RECEIVED, NVLINK_SENT, NVLINK_RECEIVED = 197, 198, 138, 139


@dataclass(frozen=True, slots=True)
class GpuCounters:
    """Counters of one GPU; None where it does not tell.

    Attributes
    ----------
    time_s
        When they were read.
    """

    time_s: float
    pcie_sent_bytes: int | None
    pcie_received_bytes: int | None
    nvlink_sent_bytes: int | None
    nvlink_received_bytes: int | None


class Nvml:
    """A session with NVML; where there is none, every question is answered with None.

    Parameters
    ----------
    library
        The module ``pynvml``, of the package nvidia-ml-py; imported if not given.
    """

    def __init__(self, library: Any = None) -> None:
        self.trouble = ""
        self._nvml = library
        try:
            if library is None:
                self._nvml = load()
            self._nvml.nvmlInit()
        except MissingDependencyError as error:
            self.trouble, self._nvml = str(error), None
        except self._errors() as error:
            self.trouble, self._nvml = str(error), None

    def _errors(self) -> type[Exception]:
        kind: type[Exception] = self._nvml.NVMLError if self._nvml is not None else OSError
        return kind

    def _handle(self, busid: str) -> Any:
        return self._nvml.nvmlDeviceGetHandleByPciBusId(busid.encode())

    def _ask(self, question: str, busid: str) -> Any:
        if self._nvml is None:
            return None
        with suppress(self._errors()):
            return getattr(self._nvml, question)(self._handle(busid))
        return None

    def gpu_name(self, busid: str) -> str | None:
        """Return a GPU's name, by bus id."""
        found = self._ask("nvmlDeviceGetName", busid)
        return found.decode() if isinstance(found, bytes) else found

    def bar1_used_bytes(self, busid: str) -> int | None:
        """Return how much of BAR1 is mapped, by all processes."""
        found = self._ask("nvmlDeviceGetBAR1MemoryInfo", busid)
        return None if found is None else int(found.bar1Used)

    def bar1_total_bytes(self, busid: str) -> int | None:
        """Return the size of BAR1."""
        found = self._ask("nvmlDeviceGetBAR1MemoryInfo", busid)
        return None if found is None else int(found.bar1Total)

    def counters(self, busid: str) -> GpuCounters | None:
        """Return a GPU's counters.

        They are cumulative and read at once; nvmlDeviceGetPcieThroughput, which measures for 20 ms, is not
        asked. On GPUs and drivers without them the fields are None.
        """
        if self._nvml is None:
            return None
        wanted = [PCIE_SENT, PCIE_RECEIVED, NVLINK_SENT, NVLINK_RECEIVED]
        try:
            answers = self._nvml.nvmlDeviceGetFieldValues(self._handle(busid), wanted)
        except self._errors():
            return None
        sent, received, nvlink_sent, nvlink_received = (_value(answer) for answer in answers)
        return GpuCounters(
            wall_seconds(),
            sent,
            received,
            None if nvlink_sent is None else nvlink_sent * 1024,
            None if nvlink_received is None else nvlink_received * 1024,
        )

    def close(self) -> None:
        """End the session; doing it twice is fine."""
        if self._nvml is not None:
            with suppress(self._errors()):
                self._nvml.nvmlShutdown()
            self._nvml = None


def _value(answer: Any) -> int | None:
    """Return a field's value as the type that it says it has; None after an error of its own."""
    if answer.nvmlReturn != 0:
        return None
    names = {0: "dVal", 1: "uiVal", 2: "ulVal", 3: "ullVal", 4: "sllVal", 5: "siVal", 6: "usVal"}
    name = names.get(int(answer.valueType))
    return None if name is None else int(getattr(answer.value, name))


def load() -> Any:
    """Return the module ``pynvml``.

    Raises
    ------
    MissingDependencyError
        It is not installed.
    """
    try:
        import pynvml  # noqa: TID251  (used here, and the error below says how to install it)
    except ImportError as error:
        raise MissingDependencyError(
            _("NVML cannot be read: {error}.").format(error=error),
            _("Install it: pip install nvidia-ml-py."),
        ) from error
    return pynvml
