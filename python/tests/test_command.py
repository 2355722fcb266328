"""The command ``negmm`` of the wheel."""

from __future__ import annotations

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
