"""``python -m negmm``: the program ``negmm``."""

import sys

from negmm import _native

if __name__ == "__main__":
    sys.exit(_native.run_program(["negmm", *sys.argv[1:]]))
