"""How kernels are compiled; importing this module needs numba.

In memory when first called, never kept on disk. Nothing compiled calls itself; the interpreter's lock is released.
"""

from __future__ import annotations

import numba

# Division by zero does not occur; numpy's model leaves its check out. Floating point is never reordered.
compiled = numba.njit(error_model="numpy", nogil=True)
inlined = numba.njit(error_model="numpy", inline="always")
