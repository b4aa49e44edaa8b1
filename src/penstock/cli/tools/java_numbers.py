"""Numbers in the words of a command line, as Java reads them."""

import re

from penstock.cli.tools.failures import CommandFailure

INTEGER = re.compile(r"[+-]?[0-9]+")


def java_int(text: str) -> int:
    if not INTEGER.fullmatch(text) or not -(2**31) <= int(text) < 2**31:
        raise CommandFailure(f'For input string: "{text}"')
    return int(text)
