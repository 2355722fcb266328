"""The pictures of the gallery are those of its models."""

import sys
from pathlib import Path

from program import program

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "gallery"


def test_pictures_are_those_of_the_program(tmp_path):
    sys.path.insert(0, str(FOLDER))
    import pictures

    sys.path.remove(str(FOLDER))
    pictures.main(program(), tmp_path)
    made = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.svg")}
    assert len(made) == 6 and made.keys() == kept.keys()
    for name, picture in made.items():
        assert picture == kept[name], f"{name}: docs/gallery/pictures.py makes it anew"
    text = (FOLDER.parent / "gallery.md").read_text(encoding="utf-8")
    assert all(f"(gallery/{name})" in text for name in made)
