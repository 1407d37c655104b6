"""CP-SAT's module ``cp_model``, imported without pandas.

OR-Tools imports pandas for vectors of variables only, which no model here builds, and that import takes longer than
all the rest of ``cp_model``. Where pandas has not been imported yet, its classes are stood in for while ``cp_model``
is imported; the stand-ins recognise and make real ones as soon as somebody asks for them.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

__all__ = ["cp_model"]


class _OnDemand(type):
    """The class of pandas' classes that are imported when they are first made."""

    def __instancecheck__(cls, instance: object) -> bool:
        pandas = sys.modules.get("pandas")
        return pandas is not None and isinstance(instance, getattr(pandas, cls.__name__))

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        import pandas

        return getattr(pandas, cls.__name__)(*arguments, **named)


class _StandIn(ModuleType):
    """pandas, as far as annotations read it."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return _OnDemand(name, (), {})


if "pandas" in sys.modules:
    from ortools.sat.python import cp_model
else:
    sys.modules["pandas"] = _StandIn("pandas")
    try:
        from ortools.sat.python import cp_model
    finally:
        del sys.modules["pandas"]
