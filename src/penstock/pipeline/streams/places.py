"""Where in the user's file a step of a topology was asked for."""

import sys
from pathlib import PurePath


def callers_place() -> str:
    """File and line of the first frame that is not ours."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return f"{PurePath(frame.f_code.co_filename).name}:{frame.f_lineno}"


def _is_ours(module: str) -> bool:
    return module.startswith("penstock.")
