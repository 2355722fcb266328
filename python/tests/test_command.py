"""The command ``negmm`` of the wheel."""

from __future__ import annotations

import os
import subprocess
import sys

import external
from program import ROOT, program


def test_the_command_is_the_program(tmp_path):
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{at},{at % 7}\n" for at in range(30)))
    fit = ["fit", "d.csv", "--target", "y", "--method", "constant", "-o"]
    own = [sys.executable, "-c", "import sys, negmm_command; sys.exit(negmm_command.main())"]
    for name, run in (("a", [program()]), ("b", own), ("c", [sys.executable, "-m", "negmm"])):
        done = subprocess.run([*run, *fit, name], cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "constant" in done.stdout and done.stderr == ""
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes() == (tmp_path / "c").read_bytes()
    wrong = subprocess.run([*own, "fti"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert wrong.returncode == 2 and wrong.stderr.startswith('error: there is no command "fti"')
    # scikit-learn takes a second to import, and is not.
    loads = "import sys, negmm_command; sys.argv[1:] = ['--version']; negmm_command.main(); print('sklearn' in sys.modules)"
    version = subprocess.run([sys.executable, "-c", loads], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert version.stdout.startswith("negmm ") and version.stdout.endswith("False\n")


def test_a_source_build_without_rust_ends_in_a_sentence(tmp_path):
    external.module("maturin")
    code = "import sys; sys.path.insert(0, sys.argv[1]); import _build"
    found = subprocess.run(
        [sys.executable, "-c", code, ROOT / "python"], env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert found.returncode == 1 and found.stdout == ""
    assert found.stderr.startswith("negmm is built from source with Rust 1.90 or newer, and cargo was not found: ")
    assert found.stderr.count("\n") == 1


def test_numbers_on_a_terminal_have_the_digits_that_matter(tmp_path):
    pty = external.module("pty")
    (tmp_path / "d.csv").write_text("x,y\n" + "".join(f"{at},{at % 7}.25\n" for at in range(30)))
    run = {"cwd": tmp_path, "check": True, "stderr": subprocess.DEVNULL}
    subprocess.run([program(), "fit", "d.csv", "--target", "y", "--method", "constant", "-o", "m", "-q"], **run)

    def printed(terminal: bool, *flags: str) -> list[str]:
        ours, theirs = pty.openpty()
        command = [program(), "predict", "m", "d.csv", *flags]
        if not terminal:
            return subprocess.run(command, **{**run, "stdout": subprocess.PIPE, "text": True}).stdout.splitlines()
        with os.fdopen(theirs, "wb") as terminal_side:
            subprocess.run(command, stdout=terminal_side, **run)
        return os.read(ours, 100_000).decode().splitlines()

    shown, whole = printed(True), printed(False)
    assert len(shown) == len(whole) == 31 and shown[0] == whole[0]
    assert len(shown[1]) < 14 < len(whole[1])
    numbers = [[float(cell) for cell in line.split(",")] for line in (shown[1], whole[1])]
    assert numbers[0] == [round(number, 3) for number in numbers[1]]
    assert printed(True, "--digits", "17") == whole
