"""`--override NAME=VALUE`."""

import argparse
from collections.abc import Sequence

from penstock.errors import ConfigError


def add_overrides(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--override",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a broker's setting, as in server.properties; can be given several times",
    )


def parse_overrides(texts: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for text, (name, equals, _) in zip(texts, pairs, strict=True):
        if not equals or not name.strip():
            raise ConfigError(f"--override: got {text!r}; takes NAME=VALUE, as in num.partitions=3")
    return {name.strip(): value.strip() for name, _, value in pairs}
