"""A test of reports in a headless Chromium: every plot drawn with sensible axes, nothing overlapping or cut off, the
row selector, no error, no request, nothing injected; light and dark, phone and desktop, without scripts, and in print.

    python3 check.py PROGRAM [--shots DIR]

PROGRAM is the negmm to make the reports with. Real data is looked for in NEGMM_DATA, else ../shared/data beside the
repository; without it a notice is printed and those reports are left out. With --shots screenshots are kept.
"""

import argparse
import csv
import math
import os
import pathlib
import subprocess
import tempfile
from statistics import NormalDist

from driver import Browser

HERE = pathlib.Path(__file__).resolve()
SIZES = {"phone": (390, 844), "desktop": (1280, 900)}
MOST_BYTES = 1_000_000

LOOK = (HERE.parent / "colour.js").read_text() + (HERE.parent / "look.js").read_text()


def odd_names(folder):
    """Column names and categories that try to inject HTML."""
    script = "<script>window.broken = 1</script>"
    quotes = "\"quotes\" 'ticks' & <img src=x onerror='window.broken = 1'>"
    words = ["</script><script>window.broken = 1</script>", "שלום עולם \u202e", "😀👩‍👩‍👧", "z" * 10_000, quotes]
    with open(folder / "odd.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([script, "n" * 10_000, "مرحبا", quotes])
        for row in range(400):
            noise = math.sin(row * 12.9898) * 43758.5453 % 1
            x = row * 0.6180339887 % 1
            writer.writerow([words[row % 5], f"{x:.4f}", f"{noise:.4f}", f"{row % 5 + 3 * x + noise:.4f}"])
    return "odd.csv", quotes


def edge_cases(folder):
    """Edge cases: name, rows of cells with the header first, number of rows in the report."""
    wave = [math.sin(row * 0.37) + (row * 0.618 % 1) * 0.3 for row in range(300)]
    yield "one-row", [["x", "y"], *[[row, wave[row]] for row in range(100)]], 1
    yield "constant-target", [["x", "y"], *[[row, 1_000_000.5] for row in range(100)]], None
    yield "same-prediction", [["x", "y"], *[[7, wave[row]] for row in range(100)]], None
    wide = [[f"column {k}" for k in range(200)] + ["y"]]
    wide += [[f"{(row * (k + 1) * 0.618) % 1:.3f}" for k in range(200)] + [wave[row]] for row in range(300)]
    yield "200-inputs", wide, None
    cities = ["Paris", "Rome", "Oslo", "Bonn", "a city with a long name"]
    text = [
        ["city", "street", "y"],
        *[[cities[row % 5], f"street {row % 40}", row % 5 + wave[row]] for row in range(300)],
    ]
    yield "text-inputs", text, None
    yield "counts", [["x", "y"], *[[row % 17, round((row % 17) / 4 + 2 * wave[row] ** 2)] for row in range(300)]], None
    yield "zeros", [["x", "y"], *[[row % 17, 0 if row % 5 < 2 else math.exp(wave[row])] for row in range(300)]], None


def predictions():
    """Anybody's predictions: name and rows of cells with the header first. Quantiles of boosted trees nearly touch."""
    centre = [4 + 3 * math.sin(row * 0.37) for row in range(200)]
    noise = [NormalDist().inv_cdf((row * 0.618034 + 0.31) % 1) for row in range(200)]
    y = [f"{m + z:.4f}" for m, z in zip(centre, noise)]
    levels = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99]
    steps = [NormalDist().inv_cdf(level) for level in levels]

    def quantiles(row):
        exact = [centre[row] + z for z in steps]
        exact[3] = exact[2] + 1e-6 * (row % 3)
        return exact

    def draws(row):
        return [centre[row] + NormalDist().inv_cdf((k * 0.618034 + row * 0.37) % 1) for k in range(1, 61)]

    yield "quantiles", [["y", *(f"q{level}" for level in levels)], *([y[row], *quantiles(row)] for row in range(200))]
    yield "draws", [["y", *(f"draw_{k}" for k in range(1, 61))], *([y[row], *draws(row)] for row in range(200))]
    yield "normal", [["y", "mean", "sd"], *([y[row], centre[row], 1.2] for row in range(200))]
    counts = [max(0, round(m + z)) for m, z in zip(centre, noise)]
    yield "poisson", [["y", "family", "mean"], *([counts[row], "poisson", centre[row]] for row in range(200))]
    names = [f"{what}_{k}" for k in (1, 2) for what in ("weight", "mean", "sd")]
    parts = ([0.6, m, 0.8, 0.4, m + 1, 1.5] for m in centre)
    yield "mixtures", [["y", *names], *([y[row], *part] for row, part in enumerate(parts))]
    yield "interval", [["y", "lower_0.9", "upper_0.9"], *([y[row], m - 1.6, m + 1.6] for row, m in enumerate(centre))]


def make_reports(program, folder):
    """The reports: name and page."""

    def quick(epochs):
        return "--method", "ne-gmm", "--epochs", epochs

    def run(*arguments):
        done = subprocess.run([program, "-q", *map(str, arguments)], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"negmm {' '.join(map(str, arguments))}: {done.stderr}")

    run("demo", "--save", "demo")
    yield "demo", folder / "demo/toy2.html"
    run("demo", "toy1", "--save", "demo")
    yield "demo toy1", folder / "demo/toy1.html"
    data, target = odd_names(folder)
    run("fit", data, "--target", target, "-o", "odd.negmm", *quick(30), "--report", "odd.html")
    yield "odd names", folder / "odd.html"
    for name, lines, rows in edge_cases(folder):
        for file, part in (("train.csv", lines), ("test.csv", lines if rows is None else lines[: rows + 1])):
            with open(folder / file, "w", newline="") as out:
                csv.writer(out).writerows(part)
        run("fit", "train.csv", "--target", "y", "-o", "edge.negmm", *quick(20))
        run("report", "edge.negmm", "test.csv", "-o", f"{name}.html")
        yield name, folder / f"{name}.html"
    for name, lines in predictions():
        with open(folder / "predictions.csv", "w", newline="") as out:
            csv.writer(out).writerows(lines)
        run("report", "--predictions", "predictions.csv", "--target", "y", "-o", f"{name}.html")
        yield f"predicted {name}", folder / f"{name}.html"
    real = pathlib.Path(os.environ.get("NEGMM_DATA") or HERE.parents[5] / "shared/data")
    if not real.is_dir() or not (real / "uci/concrete.csv.gz").exists() and "CI" not in os.environ:
        print(f"no real data in {real}: reports of real sets are left out")
        return
    run(
        "fit",
        real / "uci/concrete.csv.gz",
        "--target",
        "compressive_strength",
        "-o",
        "c.negmm",
        "--report",
        "concrete.html",
    )
    yield "concrete", folder / "concrete.html"
    ensemble = ["--method", "ensemble", "--ensemble-size", "5", "--member", "ne-gmm", "--epochs", "40"]
    run("fit", real / "uci/wine_red.csv.gz", "--target", "quality", "-o", "w.negmm", *ensemble)
    run("report", "w.negmm", real / "uci/wine_red.csv.gz", "-o", "wine.html")
    yield "wine, an ensemble", folder / "wine.html"
    run(
        "fit",
        real / "uci/yacht.csv.gz",
        "--target",
        "residuary_resistance",
        "-o",
        "y.negmm",
        "--method",
        "sample-net",
        "--epochs",
        "60",
        "--report",
        "yacht.html",
    )
    yield "yacht, samples", folder / "yacht.html"
    stock = real / "stocks/goog.csv"
    column = next(
        name for name in open(stock).readline().strip().split(",") if name.lower() in ("close", "adj close", "price")
    )
    run(
        "fit",
        stock,
        "--target",
        column,
        "--sequence",
        column,
        "--window",
        "10",
        "-o",
        "s.negmm",
        *quick(5),
        "--report",
        "stock.html",
    )
    yield "stock, a sequence", folder / "stock.html"


def complain(faults, where, found):
    faults.extend(f"{where}: {fault}" for fault in found)


def check_page(browser, name, page, shots, faults):
    size = page.stat().st_size
    if size >= MOST_BYTES:
        faults.append(f"{name}: {size} bytes are too many")
    for device, (width, height) in SIZES.items():
        for scheme in ("light", "dark"):
            where = f"{name}, {device}, {scheme}"
            browser.look(width, height, scheme)
            browser.open(page)
            complain(faults, where, browser.run(LOOK, scheme))
            complain(faults, where, select_rows(browser))
            if shots:
                length = browser.run("return document.documentElement.scrollHeight")
                browser.screenshot(
                    shots / f"{name}-{device}-{scheme}.png".replace(", ", "-").replace(" ", "-"), width, length
                )
            complain(faults, where, [f"console: {entry['message']}" for entry in browser.logs("browser")])
            outside = [url for url in browser.requests() if not (url == f"file://{page}" or url.startswith("data:"))]
            complain(faults, where, [f"requested {url}" for url in outside])


def select_rows(browser):
    """Selects rows with keys and buttons; returns what is wrong."""
    first = browser.run(
        "document.getElementById('row').focus(); return document.getElementById('row-summary').textContent"
    )
    options = browser.run("return document.getElementById('row').options.length")
    if options < 2:
        return [] if first else ["the only row is not shown"]
    # The End key chooses the last row.
    browser.press("\ue010")
    state = """const row = document.getElementById('row');
        return [row.selectedOptions[0].textContent, document.getElementById('row-summary').textContent,
            document.querySelector('#row-plot svg').getAttribute('aria-label'), row.selectedIndex,
            document.querySelectorAll('#row-facts tr').length]"""
    option, summary, label, index, facts = browser.run(state)
    wrong = []
    tall = """return Math.max(0, ...[...document.querySelectorAll("#row-plot path[fill='var(--sky)']")]
        .map(path => path.getBoundingClientRect().height))"""
    if browser.run(tall) < 50:
        wrong.append("no distribution in the plot of a row")
    number = option.removeprefix("row ")
    if index != options - 1 or f"Row {number}:" not in summary or summary != label:
        wrong.append(f"the key End selected {option} and showed {summary!r}")
    if facts < 11:
        wrong.append(f"{facts} facts about a row")
    browser.run("document.getElementById('previous').focus()")
    browser.press("\ue007")
    if browser.run(state)[3] != options - 2:
        wrong.append("the button Previous did not work")
    browser.run("document.getElementById('next').click(); document.getElementById('next').click()")
    if browser.run(state)[3] != 0:
        wrong.append("the button Next did not come round")
    if "NaN" in browser.run("return document.getElementById('row-selector').innerHTML"):
        wrong.append("NaN in the plot of a row")
    return wrong


def check_without_script(browser, page, faults):
    browser.scripts(False)
    browser.look(1280, 900, "light")
    browser.open(page)
    browser.scripts(True)
    hidden, drawn = browser.run(
        "return [document.getElementById('row-selector').hidden, document.querySelectorAll('#rows figure svg').length]"
    )
    if not hidden or drawn < 3:
        faults.append(f"without script: row selector hidden {hidden}, {drawn} rows drawn")


def check_print(browser, page, faults):
    browser.look(800, 1100, "dark", "print")
    browser.open(page)
    background, selector = browser.run(
        "return [getComputedStyle(document.body).backgroundColor, "
        "getComputedStyle(document.getElementById('row-selector')).display]"
    )
    if background != "rgb(255, 255, 255)" or selector != "none":
        faults.append(f"in print: background {background}, row selector {selector}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--shots", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    faults, pages = [], 0
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        for name, page in make_reports(arguments.program.resolve(), pathlib.Path(folder)):
            check_page(browser, name, page, arguments.shots, faults)
            pages += 1
            if name == "demo":
                check_without_script(browser, page, faults)
                check_print(browser, page, faults)
    if faults:
        raise SystemExit("\n".join([*faults, f"{len(faults)} faults in {pages} reports"]))
    print(f"{pages} reports: no fault, on phone and desktop, light and dark")


if __name__ == "__main__":
    main()
