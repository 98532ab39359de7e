"""A real Prometheus: with samples of the past, and with a target whose metrics a test chooses."""

from __future__ import annotations

import json
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from .processes import HeldPort, ServerProcess

_READY_SECONDS: Final = 60.0
EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""When the samples of the past begin: one a minute, for two hours."""
MINUTES: Final = 120
SCRAPE_SECONDS: Final = 1


def history() -> str:
    """The samples of the past as OpenMetrics: `requests_total` of pod `a` grows by 60 a minute, that of `b` by 120, 3
    of them errors; `latency_seconds` is 0.25 in the first hour and 0.75 in the second; `broken` is NaN."""
    families: dict[str, list[str]] = {name: [] for name in ("requests", "errors", "latency_seconds", "broken")}
    for minute in range(MINUTES):
        at = int((EPOCH + timedelta(minutes=minute)).timestamp())
        for pod, each in (("a", 60), ("b", 120)):
            families["requests"].append(f'requests_total{{pod="{pod}"}} {each * minute} {at}')
        families["errors"].append(f'errors_total{{pod="b"}} {3 * minute} {at}')
        families["latency_seconds"].append(f"latency_seconds {0.25 if minute < 60 else 0.75} {at}")
        families["broken"].append(f"broken NaN {at}")
    counters = ("requests", "errors")
    lines: list[str] = []
    for name, samples in families.items():
        # promtool wants the samples of each series together, in the order of time.
        series = sorted(samples, key=lambda sample: sample.rsplit(" ", 2)[0])
        lines += [f"# TYPE {name} {'counter' if name in counters else 'gauge'}", *series]
    return "\n".join((*lines, "# EOF", ""))


class PrometheusServer:
    """One server on the loopback address, and the target that it scrapes each second: `target` is its text."""

    def __init__(self, program: Path, folder: Path) -> None:
        """Keep data and log in a folder, which is this server's own."""
        self.target = ""
        self._scraped = 0
        self._port = HeldPort()
        self.url = f"http://127.0.0.1:{self._port.number}"
        self._folder = folder
        self._tool = program.with_name("promtool")
        self._served = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        config = folder / "prometheus.yml"
        config.write_text(
            f"global: {{scrape_interval: {SCRAPE_SECONDS}s}}\n"
            "scrape_configs:\n"
            f'  - {{job_name: target, static_configs: [{{targets: ["127.0.0.1:{self._served.server_address[1]}"]}}]}}\n'
        )
        arguments = [
            str(program),
            f"--config.file={config}",
            f"--storage.tsdb.path={folder / 'data'}",
            "--storage.tsdb.retention.time=100y",
            f"--web.listen-address=127.0.0.1:{self._port.number}",
        ]
        self.process = ServerProcess("prometheus", arguments, log=folder / "log")

    def __enter__(self) -> PrometheusServer:
        """Write the past, start, and wait until queries are answered."""
        samples = self._folder / "history.txt"
        samples.write_text(history())
        command = [
            str(self._tool),
            "tsdb",
            "create-blocks-from",
            "openmetrics",
            str(samples),
            str(self._folder / "data"),
        ]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"promtool: {done.stdout}{done.stderr}")
        threading.Thread(target=self._served.serve_forever, daemon=True).start()
        self.process.start()
        self.process.await_ready(self._is_ready, seconds=_READY_SECONDS)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.stop()
        self._served.shutdown()
        self._served.server_close()

    def scrape(self, text: str) -> None:
        """Let the target say this, and wait until queries see it."""
        self._scraped += 1
        self.target = f"{text}scraped {self._scraped}\n"
        deadline = time.monotonic() + _READY_SECONDS
        while [one["value"][1] for one in self.query("scraped")] != [str(self._scraped)]:
            if time.monotonic() > deadline:
                raise RuntimeError("prometheus does not scrape its target; is its text well formed?")
            time.sleep(0.2)

    def query(self, text: str) -> list[Any]:
        """The instant vector of a query, now."""
        url = f"{self.url}/api/v1/query?{urllib.parse.urlencode({'query': text})}"
        with urllib.request.urlopen(url, timeout=10) as response:
            return list(json.load(response)["data"]["result"])

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=5) as response:
                return bool(response.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = server.target.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
