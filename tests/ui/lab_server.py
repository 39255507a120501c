"""A JupyterLab server in a process of its own, with a configuration that nobody else touches."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: Seconds until a started server has answered; a cold disk is slow.
START_S = 90.0

#: Settings under which a test sees the same page each time: no news, no telemetry, no autosave in between.
OVERRIDES = {
    "@jupyterlab/apputils-extension:notification": {
        "checkForUpdates": False,
        "doNotDisturbMode": False,
        "fetchNews": "false",
    },
    "@jupyterlab/docmanager-extension:plugin": {"autosave": False},
    "@jupyterlab/apputils-extension:themes": {"theme": "JupyterLab Light", "adaptive-theme": False},
}


class LabServer:
    """Start JupyterLab; a context manager.

    Parameters
    ----------
    folder
        Where its configuration, its log and the copies of the notebooks go.
    base_url
        The path under which it answers, with a slash at both ends.
    notebooks
        Folders whose contents are copied into the server's root; those that do not exist are left out.
    plain
        Without gdviz-lab, as in a JupyterLab where somebody has only installed gdviz.
    """

    def __init__(
        self, folder: Path, *, base_url: str, notebooks: Sequence[Path], plain: bool = False
    ) -> None:
        self.folder = folder
        self.base_url = base_url
        self.plain = plain
        self.token = secrets.token_hex(16)
        self.root = folder / "notebooks"
        self.root.mkdir(parents=True)
        self.address = ""
        self._sources = tuple(notebooks)
        self.renew_notebooks()
        self._process: subprocess.Popen[str] | None = None
        self._ready = threading.Event()

    @property
    def log(self) -> Path:
        """The file with everything that the server wrote."""
        return self.folder / "server.log"

    def __enter__(self) -> LabServer:
        config = self.folder / "config"
        settings = config / "labconfig"
        settings.mkdir(parents=True)
        (settings / "default_setting_overrides.json").write_text(json.dumps(OVERRIDES), encoding="utf-8")
        if self.plain:
            disabled = {"disabledExtensions": {"gdviz-lab": True}}
            (settings / "page_config.json").write_text(json.dumps(disabled), encoding="utf-8")
        env = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JUPYTER", "JPY_", "GDVIZ_"))
        }
        env |= {
            "JUPYTER_CONFIG_DIR": str(config),
            "JUPYTER_DATA_DIR": str(self.folder / "data"),
            "JUPYTER_RUNTIME_DIR": str(self.folder / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(self.folder / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(self.folder / "workspaces"),
            "IPYTHONDIR": str(self.folder / "ipython"),
        }
        command = [
            *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
            "--ServerApp.ip=127.0.0.1",
            "--ServerApp.port=0",
            f"--ServerApp.base_url={self.base_url}",
            f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={self.root}",
            "--LabApp.expose_app_in_browser=True",
            "--LabApp.news_url=None",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        ]
        if self.plain:
            command.append("--ServerApp.jpserver_extensions={'gdviz_lab': False, 'jupyterlab': True}")
        self._process = subprocess.Popen(
            command,
            env=env,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        threading.Thread(target=self._read, args=(self._process,), daemon=True).start()
        if not self._ready.wait(START_S):
            self.__exit__()
            raise RuntimeError(f"JupyterLab did not start:\n{self.log.read_text(encoding='utf-8')[-3000:]}")
        return self

    def __exit__(self, *_: object) -> None:
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            # Its own session was started above: this reaches its kernels and nothing else.
            os.killpg(process.pid, signal.SIGKILL)

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with self.log.open("w", encoding="utf-8") as log:
            for line in process.stdout:
                log.write(line)
                log.flush()
                start = line.find("http://127.0.0.1:")
                if start >= 0 and not self._ready.is_set():
                    port = line[start + len("http://127.0.0.1:") :].split("/")[0]
                    self.address = f"http://127.0.0.1:{port}"
                    self._ready.set()
        self._ready.set()

    def renew_notebooks(self) -> None:
        """Copy the notebooks anew, over whatever a test has saved."""
        for source in self._sources:
            if source.is_dir():
                ignore = shutil.ignore_patterns(".ipynb_checkpoints", "__pycache__")
                shutil.copytree(source, self.root, dirs_exist_ok=True, ignore=ignore)

    def url(self, path: str) -> str:
        """Return the full address of a path below the base URL, with the token."""
        sign = "&" if "?" in path else "?"
        return f"{self.address}{self.base_url}{path}{sign}token={self.token}"

    def ask(self, path: str, *, method: str = "GET", token: bool = True) -> tuple[int, dict[str, str], bytes]:
        """Ask the server; return the status, the headers and the body."""
        request = urllib.request.Request(f"{self.address}{self.base_url}{path}", method=method)
        if token:
            request.add_header("Authorization", f"token {self.token}")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())
        try:
            with opener.open(request, timeout=20) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except urllib.error.HTTPError as refused:
            return refused.code, dict(refused.headers), refused.read()

    def kernels(self) -> list[dict[str, Any]]:
        """Return the running kernels, as the server's REST API describes them."""
        return list(json.loads(self.ask("api/kernels")[2]))

    def end_kernels(self) -> None:
        """Shut all kernels and sessions down, so that the next test starts alone."""
        for session in json.loads(self.ask("api/sessions")[2]):
            self.ask(f"api/sessions/{session['id']}", method="DELETE")
        for kernel in self.kernels():
            self.ask(f"api/kernels/{kernel['id']}", method="DELETE")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None
