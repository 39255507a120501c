"""BokehJS on the page before the first figure: from gdviz-lab where it is, else out of the notebook.

A figure needs the browser to have run BokehJS. In JupyterLab the gdviz-lab extension loads it from the
Jupyter server, and nothing of it enters the notebook. Everywhere else (nbclient, VS Code, Voilà, a
JupyterLab without gdviz-lab) `ensure_bokehjs` displays the scripts of the installed Bokeh once: 1.6 MB
in the saved notebook, but neither a network nor a CDN is asked.

How a kernel knows: gdviz-lab's server extension sets two environment variables that its kernels inherit,
the version of the server's Bokeh and the server's process id. A kernel that something else started,
nbclient in one of JupyterLab's terminals for instance, inherits them too, but its parent, as
jupyter_client notes it in ``JPY_PARENT_PID``, is another process: then the scripts are displayed.
``GDVIZ_BOKEHJS=page`` or ``GDVIZ_BOKEHJS=inline`` overrules what was found, for instance for a kernel on
another host than the server.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Literal

from gdviz.messages import _

__all__ = ["bokehjs_home", "ensure_bokehjs"]

#: Where the page gets BokehJS from: it has it already (``page``) or from the notebook (``inline``).
Home = Literal["page", "inline"]

#: The parts of BokehJS that gdviz's figures use.
COMPONENTS: tuple[Literal["bokeh", "bokeh-widgets"], ...] = ("bokeh", "bokeh-widgets")

#: Cell and execution in which the scripts were displayed; None before.
_displayed: tuple[str, str] | None = None


def bokehjs_home(environment: Mapping[str, str] | None = None) -> Home:
    """Return where a page that shows this kernel's figures gets BokehJS from.

    Parameters
    ----------
    environment
        The environment variables; those of this process when None.

    Returns
    -------
    str
        ``page`` when gdviz-lab has loaded it, ``inline`` when it must come with the notebook.
    """
    env = os.environ if environment is None else environment
    match env.get("GDVIZ_BOKEHJS"):
        case "page":
            return "page"
        case "inline":
            return "inline"
    if env.get("SERVER_SOFTWARE", "").startswith("voila/"):
        # Voilà's pages may come from the same server, but load no JupyterLab extension.
        return "inline"
    server = env.get("GDVIZ_LAB_PID")
    return "page" if server and server == env.get("JPY_PARENT_PID") else "inline"


def ensure_bokehjs() -> None:
    """See to it that the page has BokehJS; call it before a figure is displayed.

    Outside a notebook it does nothing. The scripts are displayed once a kernel, and again when the cell
    that shows them is run again, because that clears them from the notebook.

    Warns
    -----
    UserWarning
        When the Jupyter server has another Bokeh than this kernel: figures may then fail to show.
    """
    global _displayed
    execution = _execution()
    if execution is None:
        return
    if bokehjs_home() == "page":
        if _displayed is None:
            _compare_versions()
            _displayed = execution
    elif _displayed is None or _is_rerun(_displayed, execution):
        _display_inline()
        _displayed = execution


def _is_rerun(before: tuple[str, str], now: tuple[str, str]) -> bool:
    # A client that names no cells (nbclient) gives an empty id: nothing can be said of it.
    return before[0] != "" and before[0] == now[0] and before[1] != now[1]


def _execution() -> tuple[str, str] | None:
    """Return the running cell's id and its execution's, or None where there is no notebook."""
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return None
    shell = get_ipython()
    if shell is None or not hasattr(shell, "kernel"):
        return None
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    cell = parent.get("metadata", {}).get("cellId", "")
    return str(cell), str(parent.get("header", {}).get("msg_id", ""))


def _compare_versions() -> None:
    import bokeh

    server = os.environ.get("GDVIZ_LAB_BOKEH", bokeh.__version__)
    if server != bokeh.__version__:
        text = _(
            "The Jupyter server has Bokeh {server} and this kernel Bokeh {kernel}: figures may fail to "
            "show. Install the same version for both."
        )
        warnings.warn(text.format(server=server, kernel=bokeh.__version__), stacklevel=3)


def _display_inline() -> None:
    import bokeh
    from bokeh.resources import Resources
    from IPython.display import publish_display_data

    code = "\n".join(Resources(mode="inline", components=[*COMPONENTS], log_level="warn").js_raw)
    # The scripts expect `this` to be the window. A page that has BokehJS keeps the one it has.
    script = f"if (window.Bokeh === undefined) (function () {{\n{code}\n}}).call(window);"
    said = _("BokehJS {version}, loaded with this notebook").format(version=bokeh.__version__)
    publish_display_data(  # type: ignore[no-untyped-call]
        {"application/javascript": script, "text/plain": said}
    )
