"""Every performance claim as a script that prints a ratio; `results/` keeps what they printed. Knows no web or state."""

from __future__ import annotations

import os

# One thread, so that rates are of one core; libraries read these when they are first imported.
os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))
