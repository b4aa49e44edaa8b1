"""The argument that names a platform: its data directory."""

import argparse
from pathlib import Path

from penstock.stack.data_dir import default_data_dir


def add_data_dir(container: argparse._ActionsContainer) -> None:
    container.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="where the platform keeps its data; $PENSTOCK_HOME if that is set, else ~/.penstock",
    )


def data_dir_of(parsed: argparse.Namespace) -> Path:
    chosen: Path = parsed.data_dir or default_data_dir()
    return chosen.expanduser().absolute()
