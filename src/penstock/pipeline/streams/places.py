"""Where in the user's file a step of a topology was asked for."""

import sys
from pathlib import PurePath

import penstock

_OURS = f"{PurePath(penstock.__file__).parent}/"


def callers_place() -> str:
    """File and line of the first frame that is not ours."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename.startswith(_OURS) and frame.f_back is not None:
        frame = frame.f_back
    return f"{PurePath(frame.f_code.co_filename).name}:{frame.f_lineno}"
