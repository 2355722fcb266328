#!/usr/bin/env python3
"""The pictures of docs/gallery.md: makes them from the reports of its models, always the same bytes.

    docs/gallery/pictures.py [PROGRAM [FOLDER]]
"""

import html
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
DATA = HERE.parent / "data"
QUICK = ["--preset", "fast", "--steps", "200"]
#: Picture: how its model is fitted, the rows of its report, and how the label of the figure in the report begins.
PICTURES = {
    "premium": (["visits.csv", "--target", "cost", "--ignore", "visits,attended", *QUICK], "visits.csv", "Effect of age."),
    "demand": (["visits.csv", "--target", "visits", "--ignore", "cost,attended", *QUICK], "visits.csv", "Widest: row"),
    "lifetime": (
        ["pumps.csv", "--target", "hours", "--censored", "running", "--lower", "0", *QUICK],
        "pumps.csv",
        "Predicted and observed survival.",
    ),
    "week": (
        ["sales.csv", "--sequence", "loaves", "--time", "day", "--series", "shop", "--horizon", "7", *QUICK],
        "sales.csv",
        "Forecast of loaves of bridge.",
    ),
    "joint": (
        ["visits.csv", "--target", "visits,attended", "--ignore", "cost", "--method", "ne-gmm", "--epochs", "20"],
        "visits.csv",
        "visits and attended.",
    ),
    "calibrated": (
        ["deliveries.csv", "--target", "minutes", "--lower", "0", *QUICK],
        "later.csv",
        "Nominal against observed coverage.",
    ),
}


def main(program: str = "negmm", folder: str | Path = HERE) -> None:
    for name, (flags, rows, label) in PICTURES.items():
        with tempfile.TemporaryDirectory() as work:
            model, report = Path(work, "model.negmm"), Path(work, "report.html")
            for arguments in (["fit", *flags, "-o", model], ["report", model, rows, "-o", report]):
                subprocess.run([program, *arguments, "--quiet"], cwd=DATA, check=True, stdout=subprocess.DEVNULL)
            Path(folder, f"{name}.svg").write_text(picture(report.read_text(encoding="utf-8"), label), encoding="utf-8")


def picture(page: str, label: str) -> str:
    """A figure of a report by the beginning of its label, as a file of its own: with the colours of the light page."""
    start = page.index(f'aria-label="{html.escape(label, quote=False)}')
    start = page.rindex("<svg xmlns", 0, start)
    depth, end = 0, start
    for tag in re.finditer(r"<(/?)svg\b", page[start:]):
        depth += -1 if tag[1] else 1
        if depth == 0:
            end = start + tag.end() + 1
            break
    root = page[page.index(":root{") + 6 :]
    colours = dict(re.findall(r"--([\w-]+):([^;}]+)", root[: root.index("}")]))
    figure = re.sub(r"var\(--([\w-]+)\)", lambda found: colours[found[1]], page[start:end])
    head, body = figure.split(">", 1)
    return f'{head} font-family="sans-serif">\n<path d="M0 0h2000v2000h-2000z" fill="#fff"/>{body}\n'


if __name__ == "__main__":
    main(*sys.argv[1:])
