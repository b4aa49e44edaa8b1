"""`penstock down`."""

import argparse

from penstock.cli.platform.data_dir_argument import add_data_dir, data_dir_of
from penstock.stack.data_dir import DataDir
from penstock.stack.running import stop


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        "penstock down",
        description="Stop the platform that runs on a data directory, and wait for its end.",
        allow_abbrev=False,
    )
    add_data_dir(parser)
    data_dir = data_dir_of(parser.parse_args(arguments))
    stopped = stop(DataDir(data_dir))
    print("Penstock has stopped" if stopped else f"Penstock does not run on {data_dir}")
    return 0
