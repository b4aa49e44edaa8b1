"""What the walk over the records costs the leader, which no other scenario tells apart.

It is measured in this process, on batches as the produce scenario sends them and on smaller ones whose records differ
in size, which costs more, beside the check of header and CRC that there would be without it.
`python -m bench.layout_cost` tells it of more kinds of batches.
"""

from __future__ import annotations

from bench.layout_cost import measure
from bench.session import RECORD_BYTES, Session
from penstock.records.compression import Codec

PRODUCED_BATCH_BYTES = 1_000_000
SMALL_BATCH_BYTES, SMALL_RECORD_BYTES = 16_384, 100


def run(session: Session) -> None:
    if "penstock" not in session.names:
        return
    for _ in range(session.sizes.rounds):
        produced = measure(RECORD_BYTES, PRODUCED_BATCH_BYTES, Codec.NONE, of_one_size=True)
        record(session, "walk_cpu", *(us / 1e6 * 1e9 / PRODUCED_BATCH_BYTES for us in produced))
        for key, codec in (("walk_plain", Codec.NONE), ("walk_zstd", Codec.ZSTD)):
            record(session, key, *measure(SMALL_RECORD_BYTES, SMALL_BATCH_BYTES, codec, of_one_size=False))
        session.say_last("penstock", "walk_cpu", "walk_plain", "walk_zstd")


def record(session: Session, key: str, header: float, walk: float) -> None:
    session.record(key, "kafka", header)
    session.record(key, "penstock", walk)
