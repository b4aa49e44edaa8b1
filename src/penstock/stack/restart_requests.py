"""How another shell asks the supervisor to restart a service: a file with the service's name, and a signal.

The file says which; the signal, which wakes the supervisor and nothing else, says that there is one.
"""

import signal
from pathlib import Path

FOLDER = "restart"
WAKES = signal.SIGUSR1


def ask(data_dir: Path, service: str) -> None:
    folder = data_dir / FOLDER
    folder.mkdir(exist_ok=True)
    (folder / service).touch()


def take(data_dir: Path) -> list[str]:
    """The services that were asked for since the last time."""
    try:
        files = sorted((data_dir / FOLDER).iterdir())
    except FileNotFoundError:
        return []
    for file in files:
        file.unlink(missing_ok=True)
    return [file.name for file in files]
