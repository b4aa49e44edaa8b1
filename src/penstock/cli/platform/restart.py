"""`penstock restart SERVICE`."""

import argparse

from penstock.cli.platform.data_dir_argument import add_data_dir, data_dir_of
from penstock.stack.data_dir import DataDir
from penstock.stack.running import restart


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        "penstock restart",
        description="Stop one service of a running platform cleanly, start it again with the settings that it had, "
        "and wait until it answers. The others go on meanwhile. Several brokers are restarted one after the other, "
        "each when the replicas of those before it are in sync again.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "service",
        metavar="SERVICE",
        help="its name as `penstock status` shows it, or its kind, as in broker, which means all brokers",
    )
    add_data_dir(parser)
    parsed = parser.parse_args(arguments)
    for done in restart(DataDir(data_dir_of(parsed)), parsed.service):
        before = "was down" if done.old_pid is None else f"(pid {done.old_pid}) was stopped"
        print(
            f"{done.name} {before}, and answers again on {done.address} "
            f"(pid {done.new_pid}) after {done.seconds:.1f} s",
            flush=True,
        )
    return 0
