"""The formats of this package."""

from __future__ import annotations

from gdviz.readers.formats import Format, Scope, of_module
from gdviz.readers.host import (
    command_line,
    environment,
    kernel,
    kernel_config,
    kernel_log,
    limits,
    module_info,
    modules,
    notes,
    nvidia_driver,
    product,
)

FORMATS: tuple[Format, ...] = (
    of_module(modules),
    of_module(module_info),
    of_module(kernel_log),
    of_module(kernel_config, Scope.LINES),
    of_module(kernel, Scope.LINES),
    of_module(command_line, Scope.LINES),
    of_module(limits, Scope.LINES),
    of_module(environment, Scope.LINES),
    of_module(nvidia_driver, Scope.LINES),
    of_module(product, Scope.LINES),
    of_module(notes, Scope.LINES),
)
