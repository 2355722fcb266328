"""Environment of all tests, set before the first import."""

import os

# scikit-learn skips its check of arrays of other libraries without it.
os.environ["SCIPY_ARRAY_API"] = "1"
os.environ.setdefault("MPLBACKEND", "Agg")
