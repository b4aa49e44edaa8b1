"""Where things of the user lie that outlive a run."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """`$XDG_CACHE_HOME/penstock`, or `~/.cache/penstock`."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "penstock"
