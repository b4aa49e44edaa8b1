"""How many brokers a data directory has been used with, so that none of their records is left behind.

`config/broker-N.properties`, which `penstock up` writes at each start, says who there was and where its log lies.
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from penstock.errors import ConfigError
from penstock.settings.properties import read_properties
from penstock.stack.data_dir import DataDir
from penstock.stack.services import broker_name, broker_number

_PARTITION = re.compile(r".+-\d+")


def decide_count(wanted: int | None, path: Path) -> int:
    """As many as are asked for, or else as there were before. Fewer only if the others hold nothing."""
    data_dir = DataDir(path)
    before = brokers_before(data_dir)
    if wanted is None:
        return max(before, default=1)
    held = {number: _partitions_of(data_dir, number) for number in before if number > wanted >= 1}
    if any(held.values()):
        raise ConfigError(_refusal(wanted, max(before), path, held))
    return wanted


def _refusal(wanted: int, before: int, path: Path, held: Mapping[int, int]) -> str:
    whose = " and ".join(f"{broker_name(number)} ({count})" for number, count in held.items() if count)
    left = ",".join(str(number) for number in range(1, wanted + 1))
    return (
        f"--brokers: got {wanted}; {path} has run with {before}, and the partitions of {whose} would be missing. "
        f"Start all {before}, as `penstock up` does without --brokers. To go on with fewer, first move what they hold "
        f"to broker {left} with kafka-reassign-partitions"
    )


def brokers_before(data_dir: DataDir) -> list[int]:
    names = (path.stem for path in data_dir.config_path("any").parent.glob("broker-*.properties"))
    return sorted(number for name in names if (number := broker_number(name)) is not None)


def forget_brokers_after(data_dir: DataDir, count: int) -> None:
    """So that the next start is with this many."""
    for number in brokers_before(data_dir):
        if number > count:
            data_dir.config_path(broker_name(number)).unlink()


def _partitions_of(data_dir: DataDir, number: int) -> int:
    properties = read_properties(data_dir.config_path(broker_name(number)))
    directories = (properties.get("log.dirs") or properties.get("log.dir", "")).split(",")
    return sum(1 for directory in directories for _ in _partitions_in(Path(directory.strip())))


def _partitions_in(directory: Path) -> Iterable[Path]:
    if not directory.is_dir():
        return []
    return (path for path in directory.iterdir() if path.is_dir() and _PARTITION.fullmatch(path.name))
