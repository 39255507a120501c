"""What a host's operating system says: kernel, modules, limits, environment, log, notes."""

from __future__ import annotations

from gdviz.readers.host.command_line import KernelCommandLine
from gdviz.readers.host.environment import Environment, EnvSetting
from gdviz.readers.host.kernel import Kernel
from gdviz.readers.host.kernel_config import ConfigOption, KernelConfig
from gdviz.readers.host.kernel_log import KernelLog, LogEntry
from gdviz.readers.host.limits import Limits
from gdviz.readers.host.module_info import ModuleInfo, ModuleInfos
from gdviz.readers.host.modules import KernelModules, Module
from gdviz.readers.host.notes import HostNotes, Statement
from gdviz.readers.host.nvidia_driver import NvidiaDriver
from gdviz.readers.host.product import Product

__all__ = [
    "ConfigOption",
    "EnvSetting",
    "Environment",
    "HostNotes",
    "Kernel",
    "KernelCommandLine",
    "KernelConfig",
    "KernelLog",
    "KernelModules",
    "Limits",
    "LogEntry",
    "Module",
    "ModuleInfo",
    "ModuleInfos",
    "NvidiaDriver",
    "Product",
    "Statement",
]
