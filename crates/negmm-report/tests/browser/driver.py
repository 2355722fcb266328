"""A headless Chromium: starts chromedriver and speaks the WebDriver protocol, with the standard library only."""

import base64
import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request


class Browser:
    """A window that pages are opened in."""

    def __init__(self):
        binary = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
        if not (shutil.which("chromedriver") and binary):
            raise SystemExit("the browser test needs chromium and chromedriver (Debian: chromium, chromium-driver)")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.process = subprocess.Popen(
            ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.address = f"http://127.0.0.1:{port}"
        options = {
            "binary": binary,
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"],
        }
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        for attempt in range(50):
            try:
                session = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
                break
            except (ConnectionError, urllib.error.URLError) as error:
                if isinstance(error, urllib.error.HTTPError) or attempt == 49:
                    self.process.terminate()
                    raise
                time.sleep(0.2)
        self.session = f"/session/{session['sessionId']}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self._send("DELETE", self.session)
        finally:
            self.process.terminate()
            self.process.wait()

    def _send(self, method, path, body=None):
        data = json.dumps(body or {}).encode() if method == "POST" else None
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from None

    def _developer(self, command, **parameters):
        return self._send("POST", f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def look(self, width, height, scheme, media="screen"):
        """As a screen of this size and colour scheme, or on paper."""
        self._developer(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._developer("Emulation.setEmulatedMedia", media=media, features=features)

    def scripts(self, allowed):
        """Whether pages opened from now on may run scripts."""
        self._developer("Emulation.setScriptExecutionDisabled", value=not allowed)

    def open(self, path):
        """Opens a file; what was logged before is forgotten."""
        self.visit(f"file://{path}")

    def visit(self, url):
        """Opens an address; what was logged before is forgotten."""
        self.logs("browser"), self.logs("performance")
        self._send("POST", f"{self.session}/url", {"url": url})

    def run(self, script, *arguments):
        """Runs a script in the page and gives what it returns."""
        return self._send("POST", f"{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def press(self, *keys):
        """Presses keys, wherever the focus is."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._send("POST", f"{self.session}/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def logs(self, kind):
        """What was logged since the last call: `browser` (the console) or `performance` (requests and more)."""
        return self._send("POST", f"{self.session}/se/log", {"type": kind})

    def requests(self):
        """The addresses that were asked for since the page was opened."""
        events = (json.loads(entry["message"])["message"] for entry in self.logs("performance"))
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def screenshot(self, path, width, height):
        """The whole page, however long, as a PNG file."""
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        image = self._developer("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))
