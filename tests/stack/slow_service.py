"""A service whose start takes as long as it is told, and that says how far it is; or that gives up the first time."""

import socket
import sys
import time
from pathlib import Path


def main() -> None:
    lines = Path(sys.argv[1]).read_text().splitlines()
    settings = dict(line.split("=") for line in lines if not line.startswith("#"))
    turns = int(settings["turns"])
    for turn in range(turns):
        if settings["says"] == "yes":
            print(f"2026-11-18 INFO x: loading logs: {turn + 1} of {turns} topics", flush=True)
        time.sleep(0.5)
    if settings["gives_up_without"] and not Path(settings["gives_up_without"]).exists():
        Path(settings["gives_up_without"]).touch()
        raise SystemExit(1)
    with socket.create_server(("127.0.0.1", int(settings["port"]))) as server:
        while True:
            connection, _ = server.accept()
            with connection:
                connection.recv(4)
                connection.sendall(b"imok")


if __name__ == "__main__":
    main()
