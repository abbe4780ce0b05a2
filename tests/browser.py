"""A headless Chromium by its own remote protocol, over two pipes: nothing to install but the browser."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run"]


class Browser:
    """One page of one browser; `events` holds everything that it has reported."""

    def __init__(self) -> None:
        assert CHROMIUM is not None
        self.profile = tempfile.mkdtemp()
        ours_in, theirs_out = os.pipe()
        theirs_in, ours_out = os.pipe()

        def wire() -> None:
            # The browser reads from 3 and writes to 4; copies first, lest one overwrite the other.
            reading, writing = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        command = [CHROMIUM, *FLAGS, f"--user-data-dir={self.profile}", "--window-size=1000,900", "about:blank"]
        self.process = subprocess.Popen(
            command,
            preexec_fn=wire,  # noqa: PLW1509 the test has one thread
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_out)
        os.close(theirs_in)
        self.reading, self.writing = ours_in, ours_out
        self.buffer, self.number, self.session = b"", 0, None
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.events.clear()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Ask the browser for something and wait for the answer."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self.number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            piece = os.read(self.reading, 1 << 16)
            assert piece, "the browser has gone"
            self.buffer += piece
        line, _, self.buffer = self.buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def open(self, path: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.call("Page.navigate", url=path.resolve().as_uri())
        until = time.monotonic() + 60
        while self.evaluate("document.readyState") != "complete":
            assert time.monotonic() < until
            time.sleep(0.05)

    def evaluate(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def hover(self, selector: str) -> None:
        """Move the pointer over an element, scrolled into view."""
        box = f"(() => {{ const e = document.querySelector({selector!r}); e.scrollIntoView({{block: 'center'}}); "
        box += "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        x, y = self.evaluate(box)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def screenshot(self, path: Path) -> None:
        """Save a picture of the whole page."""
        found = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(found["data"]))

    def named(self, method: str) -> list[dict[str, Any]]:
        """Return what the browser has reported under a name."""
        return [event["params"] for event in self.events if event.get("method") == method]

    def close(self) -> None:
        """End the browser."""
        self.process.terminate()
        self.process.wait()
        os.close(self.reading)
        os.close(self.writing)
        shutil.rmtree(self.profile, ignore_errors=True)
