"""gdviz's server extension: Bokeh's own scripts from this server, and a word to its kernels.

The kernels learn from two environment variables that the page they talk to loads BokehJS by itself, so
that nothing has to be embedded in the notebook. `gdviz.widgets.bokehjs` reads them.
"""

from __future__ import annotations

import os
from typing import Any

__all__ = ["__version__"]

__version__ = "0.1.0"


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "gdviz-lab"}]


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "gdviz_lab"}]


def _load_jupyter_server_extension(server_app: Any) -> None:
    """Add the routes, and tell the kernels started from now on."""
    import bokeh

    from gdviz_lab.bokeh_files import routes

    web_app = server_app.web_app
    web_app.add_handlers(".*$", routes(web_app.settings["base_url"]))
    os.environ["GDVIZ_LAB_BOKEH"] = bokeh.__version__
    os.environ["GDVIZ_LAB_PID"] = str(os.getpid())
    server_app.log.info("gdviz-lab %s serves BokehJS %s", __version__, bokeh.__version__)
