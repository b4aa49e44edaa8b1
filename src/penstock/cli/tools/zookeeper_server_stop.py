"""`zookeeper-server-stop`: SIGTERM, or $SIGNAL, to the servers that zookeeper-server-start runs here."""

import sys

from penstock.cli.tools.servers.stop import running_servers, stop_servers
from penstock.errors import PenstockError

TOOL = "zookeeper-server-stop"


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if words:
        print(f"{TOOL}: got {' '.join(words)!r}; takes no arguments", file=sys.stderr)
        return 0 if words == ["--help"] else 1
    try:
        return stop_servers(running_servers("zookeeper-server-start"), "zookeeper")
    except PenstockError as error:
        print(f"{TOOL}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
