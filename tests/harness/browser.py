"""A page in a real browser: headless Chromium, told what to do over its debugging pipe. Nothing but Chromium itself is needed.

The test is skipped where there is no Chromium (Debian: `apt-get install chromium fonts-dejavu-core`).
SPDX-License-Identifier: Apache-2.0
"""
import contextlib
import json
import os
import shutil
import subprocess

import pytest

FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--remote-debugging-pipe")


class Page:
    """One page. Messages are JSON, each with a NUL behind it."""

    def __init__(self, to_browser, from_browser):
        self.to_browser, self.from_browser = to_browser, from_browser
        self.number, self.session, self.events = 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def message(self):
        text = bytearray()
        while (byte := self.from_browser.read(1)) not in (b"\0", b""):
            text += byte
        assert text, "the browser has gone"
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        self.to_browser.write(json.dumps(message).encode() + b"\0")
        self.to_browser.flush()
        while (answer := self.message()).get("id") != self.number:
            self.events.append(answer)
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, url, width, scheme="light"):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        self.call("Page.navigate", url=url)
        while not any(one.get("method") == "Page.loadEventFired" for one in self.events):
            self.events.append(self.message())

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def errors(self):
        """What the page's scripts and its policy complained about since it was opened."""
        return [one for one in self.events if one.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]


@contextlib.contextmanager
def browser(directory):
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium: apt-get install --no-install-recommends chromium fonts-dejavu-core")
    reads, to_browser = os.pipe()
    from_browser, writes = os.pipe()

    def pipes():  # Chromium reads at 3 and writes at 4
        ours, theirs = os.dup(reads), os.dup(writes)
        os.dup2(ours, 3)
        os.dup2(theirs, 4)

    command = [program, *FLAGS, f"--user-data-dir={directory}/chromium"]
    with subprocess.Popen(command, preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        os.close(reads)
        os.close(writes)
        try:
            with os.fdopen(to_browser, "wb") as to, os.fdopen(from_browser, "rb") as back:
                yield Page(to, back)
        finally:
            process.kill()
