"""A test of the page of `negmm serve` in a headless Chromium: inputs changed by keyboard, rows of a file, downloads,
the token; light and dark, phone and desktop; nothing cut off or overlapping, no error, no request to another host,
nothing injected.

    python3 check.py PROGRAM [--shots DIR]

PROGRAM is the negmm to serve with. With --shots screenshots are kept.
"""

import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve()
SHARED = HERE.parents[3] / "negmm-report/tests/browser"
sys.path.insert(0, str(SHARED))

from driver import Browser  # noqa: E402

SIZES = {"phone": (390, 844), "desktop": (1280, 900)}
LOOK = (SHARED / "colour.js").read_text() + (HERE.parent / "look.js").read_text()
ARROW_RIGHT, ENTER, END, TAB = "\ue014", "\ue007", "\ue010", "\ue004"
SCRIPT = "<script>window.broken = 1</script>"


def tables():
    """Name, header and rows of the training files; the last column is the target."""
    noise = [math.sin(row * 12.9898) * 43758.5453 % 1 for row in range(600)]
    places = ["Oslo", "Łódź", "</script>" + SCRIPT, "a place with a long name, and a comma"]
    day = [f"20{10 + row % 12}-{1 + row % 12:02}-{1 + row % 28:02}" for row in range(600)]
    x = [row * 0.6180339887 % 1 for row in range(600)]
    two = [(1 if noise[row] < 0.5 else -1) * 40 * x[row] + 5 * noise[(row * 7) % 600] for row in range(600)]
    yield (
        "peaks",
        ["x", "place", SCRIPT, "day", "y"],
        [[f"{x[k]:.4f}", places[k % 4], f"{noise[k]:.3f}", day[k], f"{two[k]:.4f}"] for k in range(600)],
    )
    yield (
        "counts",
        ["x", "street", "visits"],
        [[f"{x[k]:.4f}", f"street {k % 90}", int(6 * x[k] + 3 * noise[k])] for k in range(600)],
    )
    yield (
        "zeros",
        ["x", "rain"],
        [
            [f"{x[k]:.4f}", 0 if noise[k] < 0.4 else f"{math.exp(2 * noise[(k * 7) % 600]) * (1 + x[k]):.4f}"]
            for k in range(600)
        ],
    )


class Server:
    """A server of the models in a folder."""

    def __init__(self, program, folder, models, *more):
        command = [program, "serve", *models, "--address", "127.0.0.1:0", "--json", "--quiet", *more]
        self.process = subprocess.Popen(list(map(str, command)), cwd=folder, stdout=subprocess.PIPE, text=True)
        self.url = f"http://{json.loads(self.process.stdout.readline())['address']}/"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        if self.process.wait(30) != 0:
            raise SystemExit(f"the server ended with {self.process.returncode}")


def make_models(program, folder):
    for name, header, rows in tables():
        with open(folder / f"{name}.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows])
        command = [
            "fit",
            f"{name}.csv",
            "--target",
            header[-1],
            "-o",
            f"{name}.negmm",
            "--method",
            "ne-gmm",
            "--epochs",
            "60",
        ]
        done = subprocess.run([program, "-q", *command], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        yield f"{name}.negmm"


def wait(browser, condition, what):
    for _ in range(200):
        if browser.run(f"return {condition}"):
            return []
        time.sleep(0.05)
    return [f"timed out waiting for {what}"]


def settled(browser):
    return wait(
        browser,
        "document.body.dataset.ready && !document.querySelector('.stale') && "
        "!document.getElementById('error').textContent",
        "a prediction",
    )


def summary(browser):
    return browser.run("return document.getElementById('summary').textContent")


def use(browser, folder):
    """Uses the page as a person would; returns what is wrong."""
    wrong = settled(browser)
    before = summary(browser)
    browser.run("document.getElementById('input-0').focus()")
    browser.press(END)
    time.sleep(0.2)
    wrong += settled(browser)
    if summary(browser) == before:
        wrong.append("the key End on the first input changed nothing")
    browser.press(TAB)
    if browser.run("return document.activeElement.getAttribute('aria-label')") != "x, as a number":
        wrong.append("Tab does not go from a slider to its number")
    # A value outside the range in training is reported.
    browser.run("const box = document.activeElement; box.value = ''; box.dispatchEvent(new Event('input'))")
    browser.press("9", "9")
    time.sleep(0.2)
    wrong += settled(browser)
    if "outside its range in training" not in summary(browser):
        wrong.append(f"99 is not reported as outside: {summary(browser)}")
    # Contributions of the row that is set add up to the answer minus the usual one.
    for answer in ("mean", "q0.95", "sd"):
        caption, shown = browser.run(
            """const answer = document.getElementById("answer"); answer.value = arguments[0];
            answer.dispatchEvent(new Event("change"));
            return [document.getElementById("contribution-caption").textContent,
                [...document.querySelectorAll("#contributions text[text-anchor=end]")].map(text => text.firstChild.textContent)]""",
            answer,
        )
        numbers = [float(text.replace("\u2212", "-")) for text in shown if text[0] in "+\u2212"]
        value, usual = (float(part.split()[0].rstrip(",").replace("\u2212", "-")) for part in caption.split(" is ")[1].split(", and "))
        if not numbers or abs(sum(numbers) - (value - usual)) > 0.01 * max(abs(value), abs(usual)):
            wrong.append(f"contributions to the {answer}: {shown}, {caption}")
    # Rows of a file, by keyboard.
    rows = (folder / "peaks.csv").read_text(encoding="utf-8")
    browser.run(
        """const data = new DataTransfer(); data.items.add(new File([arguments[0]], "rows.csv"));
        const file = document.getElementById("file"); file.files = data.files;
        file.dispatchEvent(new Event("change"))""",
        rows,
    )
    wrong += wait(browser, "!document.getElementById('rows').hidden", "the rows of a file")
    browser.run("document.getElementById('next').focus()")
    browser.press(ENTER)
    time.sleep(0.2)
    wrong += settled(browser)
    second = list(csv.DictReader(rows.splitlines()))[1]
    found = browser.run(
        "return [document.getElementById('row').value, document.querySelector('#inputs input[type=number]').value, "
        "document.getElementById('input-1').value]"
    )
    if found != ["2", str(float(second["x"])), second["place"]]:
        wrong.append(f"the second row is {found}")
    # Downloads are intercepted.
    browser.run("""window.downloads = []; const create = URL.createObjectURL;
        URL.createObjectURL = blob => { blob.text().then(text => window.downloads.push(text)); return create(blob); };
        HTMLAnchorElement.prototype.click = () => {}""")
    for button in ("download", "download-all"):
        browser.run(f"document.getElementById('{button}').focus()")
        browser.press(ENTER)
    wrong += wait(browser, "window.downloads.length == 2", "two downloads")
    downloads = sorted(browser.run("return window.downloads"), key=len)
    predictions = list(csv.DictReader(max(downloads, key=lambda text: text.startswith("mean,")).splitlines()))
    if len(predictions) != 600 or "q0.95" not in predictions[0]:
        wrong.append(f"{len(predictions)} predictions were downloaded")
    if not any(text.startswith("{") and json.loads(text)["model"] == "peaks" for text in downloads):
        wrong.append("the prediction of a row was not downloaded")
    if browser.run("return window.broken") is not None:
        wrong.append("a script in the data ran")
    return wrong


def check_models(browser, server, folder, shots, faults):
    for device, (width, height) in SIZES.items():
        for scheme in ("light", "dark"):
            browser.look(width, height, scheme)
            browser.visit(server.url)
            for model in ("peaks", "counts", "zeros"):
                where = f"{model}, {device}, {scheme}"
                wait(browser, "document.body.dataset.ready", "the page")
                browser.run(
                    "const model = document.getElementById('model'); model.value = arguments[0]; "
                    "model.dispatchEvent(new Event('change'))",
                    model,
                )
                time.sleep(0.4)
                faults.extend(f"{where}: {fault}" for fault in [*settled(browser), *browser.run(LOOK, scheme)])
                if shots:
                    length = browser.run("return document.documentElement.scrollHeight")
                    browser.screenshot(shots / f"explore-{model}-{device}-{scheme}.png", width, length)
            browser.run(
                "const model = document.getElementById('model'); model.value = 'peaks'; "
                "model.dispatchEvent(new Event('change'))"
            )
            time.sleep(0.4)
            where = f"used, {device}, {scheme}"
            faults.extend(f"{where}: {fault}" for fault in use(browser, folder))
            faults.extend(f"{where}: console: {entry['message']}" for entry in browser.logs("browser"))
            outside = [url for url in browser.requests() if not url.startswith((server.url, "data:", "blob:"))]
            faults.extend(f"{where}: requested {url}" for url in outside)


def check_token(browser, server, faults):
    browser.look(1280, 900, "light")
    browser.visit(server.url)
    faults.extend(wait(browser, "!document.getElementById('locked').hidden", "the token form"))
    browser.run("document.getElementById('token').focus()")
    browser.press(*"s3cret", ENTER)
    faults.extend(
        wait(
            browser,
            "document.getElementById('locked').hidden && document.querySelector('#plot svg')",
            "the page after the token",
        )
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--shots", type=pathlib.Path)
    arguments = parser.parse_args()
    program, faults = arguments.program.resolve(), []
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name, Browser() as browser:
        folder = pathlib.Path(name)
        models = list(make_models(program, folder))
        with Server(program, folder, models) as server:
            check_models(browser, server, folder, arguments.shots, faults)
        (folder / "token").write_text("s3cret\n")
        with Server(program, folder, models[:1], "--token-file", "token") as server:
            check_token(browser, server, faults)
    if faults:
        raise SystemExit("\n".join([*faults, f"{len(faults)} faults"]))
    print("the page to explore: no fault, on phone and desktop, light and dark")


if __name__ == "__main__":
    main()
