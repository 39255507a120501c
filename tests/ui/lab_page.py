"""A page of JupyterLab as a person uses it: open a notebook, run it, look at it."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lab_server import LabServer

#: What the page itself writes to the console on every start and that is no fault of gdviz.
KNOWN_NOISE: tuple[str, ...] = ()

#: Seconds for a page to start.
START_S = 60.0


class LabPage:
    """A browser page on a `LabServer`.

    Parameters
    ----------
    page
        Playwright's page; use it freely for what has no method here.
    server
        The server it shows.
    artefacts
        Folder for the pictures.
    name
        What the pictures are called.

    Attributes
    ----------
    errors
        Every error in the console and every uncaught exception, in order.
    elsewhere
        Every request to another host than the server.
    requests
        Every request's path, in order.
    """

    def __init__(self, page: Any, server: LabServer, artefacts: Path, *, name: str) -> None:
        self.page = page
        self.server = server
        self.errors: list[str] = []
        self.elsewhere: list[str] = []
        self.requests: list[str] = []
        self._artefacts = artefacts
        self._name = re.sub(r"[^\w.-]+", "-", name)
        page.on("console", self._on_console)
        page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))
        page.on("request", self._on_request)

    def _on_console(self, message: Any) -> None:
        if message.type == "error" and not any(noise in message.text for noise in KNOWN_NOISE):
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def _on_request(self, request: Any) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in ("data", "blob"):
            return
        self.requests.append(parts.path)
        if f"{parts.scheme}://{parts.netloc}" != self.server.address:
            self.elsewhere.append(request.url)

    def start(self) -> None:
        """Go to JupyterLab, in a workspace of its own, and wait until its plugins stand."""
        self.page.goto(self.server.url("lab?reset"))
        self.wait_for_lab()

    def reload(self) -> None:
        """Reload the page and wait until it stands again."""
        self.page.reload()
        self.wait_for_lab()

    def wait_for_lab(self) -> None:
        """Wait until JupyterLab and gdviz-lab's plugins have started."""
        mark = "jupyterapp" if self.server.plain else "gdviz"
        self.page.wait_for_function(f"() => window.{mark} !== undefined", timeout=START_S * 1000)
        self.page.wait_for_selector("#jp-main-dock-panel", timeout=START_S * 1000)
        self.page.wait_for_selector("#jupyterlab-splash", state="detached", timeout=START_S * 1000)

    def open(self, path: str) -> None:
        """Open a notebook by its path below the server's root, and wait for its kernel."""
        self.execute("docmanager:open", path=path, factory="Notebook")
        self.wait_for_kernel()

    def wait_for_kernel(self, timeout_s: float = 60) -> None:
        """Wait until the notebook in front has an idle kernel."""
        self.page.wait_for_function(
            """() => {
              const context = window.jupyterapp.shell.currentWidget?.sessionContext;
              return context?.isReady && context.session?.kernel?.status === 'idle'
                && context.session.kernel.connectionStatus === 'connected';
            }""",
            timeout=timeout_s * 1000,
        )

    def execute(self, command: str, **args: Any) -> None:
        """Run a command of JupyterLab and wait until it is done; its value is not fetched."""
        self.page.evaluate(
            "async ([command, args]) => { await window.jupyterapp.commands.execute(command, args); }",
            [command, args],
        )

    def run_all(self, timeout_s: float = 120) -> None:
        """Run all cells, wait for the last, and fail with the traceback when one raised."""
        self.page.set_default_timeout(timeout_s * 1000)
        self.execute("notebook:run-all-cells")
        self.page.set_default_timeout(30000)
        raised = self.page.locator(
            ".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr'] pre, "
            ".jp-RenderedText[data-mime-type='application/vnd.jupyter.error'] pre"
        )
        said = [text for text in raised.all_inner_texts() if "Error" in text]
        assert not said, "\n".join(said)

    def tell_kernel(self, code: str) -> None:
        """Have the notebook's kernel execute code, without touching a cell."""
        self.ask_kernel(f"exec({code!r})")

    def ask_kernel(self, expression: str) -> Any:
        """Return the value of an expression in the notebook's kernel; it must be JSON-able."""
        answer = self.page.evaluate(
            """async expression => {
              const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
              const future = kernel.requestExecute({
                code: '', silent: true, user_expressions: { value: `__import__('json').dumps(${expression})` }
              });
              const reply = await future.done;
              return reply.content.user_expressions.value;
            }""",
            expression,
        )
        assert answer["status"] == "ok", answer
        return json.loads(ast.literal_eval(answer["data"]["text/plain"]))

    def save(self) -> dict[str, Any]:
        """Save the notebook in front; return it as it lies on the disk."""
        path = self.page.evaluate("() => window.jupyterapp.shell.currentWidget.context.path")
        self.execute("docmanager:save")
        return dict(json.loads((self.server.root / path).read_text(encoding="utf-8")))

    def theme(self, name: str) -> None:
        """Switch to a theme, for instance ``JupyterLab Dark``."""
        self.execute("apputils:change-theme", theme=name)
        self.page.wait_for_function(
            "name => document.body.dataset.jpThemeName === name", arg=name, timeout=30000
        )
        self.page.wait_for_selector("#jupyterlab-splash", state="detached", timeout=START_S * 1000)

    def figures(self) -> Any:
        """Return a locator for the Bokeh figures in view order."""
        return self.page.locator(".bk-Figure")

    def model(self, name: str) -> Any:
        """Return the properties of the newest Bokeh model of that name, as JSON-able values."""
        return self.page.evaluate(
            """name => {
              for (const document of [...window.Bokeh.documents].reverse()) {
                const model = document.get_model_by_name(name);
                if (model !== null && document.roots().length > 0) {
                  return Object.fromEntries(Object.entries(model.properties).map(
                    ([key, property]) => {
                      try { return [key, JSON.parse(JSON.stringify(property.get_value()))]; }
                      catch { return [key, null]; }
                    }));
                }
              }
              return null;
            }""",
            name,
        )

    def screenshot(self, label: str) -> Path:
        """Keep a picture of the page in ``artefacts/ui``."""
        path = self.picture_path(label)
        self.page.screenshot(path=path)
        return path

    def picture_path(self, label: str) -> Path:
        """Return where a picture of this test goes."""
        self._artefacts.mkdir(parents=True, exist_ok=True)
        return self._artefacts / f"{self._name}-{label}.png"

    def assert_clean(self) -> None:
        """Fail when the console has an error, or when a request went to another host."""
        assert not self.errors, "\n".join(self.errors)
        assert not self.elsewhere, "\n".join(self.elsewhere)
