"""kafka-producer-perf-test: how many records a second a producer gets rid of, and how long each takes."""

from __future__ import annotations

import sys

from penstock.cli.options.argparse4j import ArgumentParserError
from penstock.cli.tool import err, run
from penstock.cli.tools.perf.producer_options import argument_parser, read_request


def producer_perf_test(words: list[str]) -> int:
    parser = argument_parser()
    try:
        request = read_request(parser, words)
    except ArgumentParserError as error:
        if not words:
            parser.print_help()
            return 0
        parser.handle_error(error)
        return 1
    except ValueError as error:
        err(str(error))
        return 1
    sys.stdout.flush()
    from penstock.cli.tools.perf.producer_run import run_producer_test

    return run_producer_test(request)


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-producer-perf-test", producer_perf_test, arguments)


if __name__ == "__main__":
    sys.exit(main())
