"""The installed Bokeh's static folder and its version, for whoever is logged in to this server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import bokeh
from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import AuthenticatedFileHandler, JupyterHandler
from jupyter_server.utils import url_path_join
from tornado import web

__all__ = ["SCRIPTS", "routes"]

#: What the page loads, in this order: plots, then widgets (buttons and tables that figures hold).
SCRIPTS = ("js/bokeh.min.js", "js/bokeh-widgets.min.js")


class BokehVersionHandler(JupyterHandler):
    """Which Bokeh this server has, and the scripts of it that a page needs."""

    auth_resource = "contents"

    @web.authenticated
    @authorized
    def get(self) -> None:
        """Answer ``{"version": ..., "scripts": [...]}``."""
        self.set_header("Content-Type", "application/json")
        self.set_header("Cache-Control", "no-store")
        self.finish(json.dumps({"version": bokeh.__version__, "scripts": SCRIPTS}))


def routes(base_url: str) -> list[tuple[Any, ...]]:
    """Return the two routes for a server at `base_url`.

    A script asked for with ``?v=VERSION`` may be kept by the browser; without, it is asked for anew.
    """
    static = Path(bokeh.__file__).parent / "server" / "static"
    return [
        (url_path_join(base_url, r"gdviz/bokeh/(.*)"), AuthenticatedFileHandler, {"path": str(static)}),
        (url_path_join(base_url, "gdviz/bokeh-version"), BokehVersionHandler),
    ]
