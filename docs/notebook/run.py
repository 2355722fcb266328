"""Runs the notebook by nbclient and writes its pictures and tables into a folder, to look at.

python docs/notebook/run.py FOLDER    (needs negmm[plot,pandas], nbclient and ipykernel)
"""

import base64
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/notebook/run.py FOLDER")
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    path = Path(__file__).with_name("deliveries.ipynb")
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": path.parent}}).execute()
    written = []
    for number, cell in enumerate(notebook.cells):
        for part, output in enumerate(cell.get("outputs", [])):
            for kind, data in output.get("data", {}).items():
                name = f"{number:02}-{part}"
                if kind == "image/png":
                    (folder / f"{name}.png").write_bytes(base64.b64decode(data))
                elif kind == "text/html":
                    (folder / f"{name}.html").write_text(data, encoding="utf-8")
                else:
                    continue
                written.append(name)
    print(f"{len(notebook.cells)} cells, pictures and tables of {len(written)} in {folder}")


if __name__ == "__main__":
    main()
