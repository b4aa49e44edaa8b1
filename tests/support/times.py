"""Times for records: what is older than `retention.ms`, a week, may be deleted while a test still reads it."""

import time

RECENTLY_MS = int(time.time()) * 1000 - 60_000 + 123
