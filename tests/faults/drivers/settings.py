"""What a driver program is told, as JSON on its command line."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class MemberSettings:
    bootstrap: str
    group: str
    topic: str
    records: str
    events: str
    protocol: str = "classic"
    assignor: str = "range"
    instance_id: str | None = None
    session_timeout_ms: int = 6_000
    heartbeat_interval_ms: int = 500
    max_poll_interval_ms: int = 60_000
    output: str = ""
    transactional_id: str = ""
    transaction_timeout_ms: int = 60_000

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def told() -> MemberSettings:
    return MemberSettings(**json.loads(sys.argv[1]))
