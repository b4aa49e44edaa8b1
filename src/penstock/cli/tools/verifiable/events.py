"""The events of the verifiable tools: a line of JSON each, with its time and its name in front."""

import json
import sys
import time
from typing import Any


def print_event(name: str, **fields: Any) -> None:
    event = {"timestamp": time.time_ns() // 1_000_000, "name": name, **fields}
    sys.stdout.write(json.dumps(event, separators=(",", ":"), ensure_ascii=False) + "\n")
    sys.stdout.flush()
