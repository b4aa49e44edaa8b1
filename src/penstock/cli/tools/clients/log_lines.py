"""Lines on standard error in the layout that Kafka's tools log in; an exception is one line below."""

import sys
import time


def log_error(message: str, logger: str, exception: str | None = None) -> None:
    _log("ERROR", message, logger, exception)


def log_warning(message: str, logger: str) -> None:
    _log("WARN", message, logger, None)


def _log(level: str, message: str, logger: str, exception: str | None) -> None:
    now = time.time()
    stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
    lines = [f"[{stamp},{int(now * 1000) % 1000:03d}] {level} {message} ({logger})"]
    if exception is not None:
        lines.append(exception)
    sys.stdout.flush()
    print("\n".join(lines), file=sys.stderr, flush=True)
