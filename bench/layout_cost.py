"""What the walk over records costs the leader, in microseconds per batch. `python -m bench.layout_cost`."""

import random
import timeit
from collections.abc import Callable

from penstock.records.batch import decode_batches
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.reader import Record
from penstock.records.validation import check_records_layout

SECONDS = 0.02


def measure(record_bytes: int, batch_bytes: int, codec: Codec, *, of_one_size: bool) -> tuple[float, float]:
    chance = random.Random(1)
    words = [chance.randbytes(4).hex().encode() for _ in range(2_000)]
    records = []
    for number in range(batch_bytes // record_bytes):
        size = record_bytes if of_one_size else chance.randint(record_bytes * 2 // 3, record_bytes * 4 // 3)
        value = b" ".join(chance.choices(words, k=size // 9 + 1))[:size]
        records.append(Record(number, 1_700_000_000_000 + number // 10, None, value))
    buffer = memoryview(bytearray(build_batch(records, codec=codec).view))
    (batch,) = decode_batches(buffer)
    return _microseconds(lambda: decode_batches(buffer)), _microseconds(lambda: check_records_layout(batch))


def _microseconds(work: Callable[[], object]) -> float:
    timer = timeit.Timer(work)
    number = max(3, int(SECONDS / max(timer.timeit(3) / 3, 1e-7)))
    return min(timer.repeat(5, number)) / number * 1e6


def main() -> None:
    print("record  batch  codec   header and CRC   walk, one size   walk, many sizes   (us per batch)")
    for record_bytes in (100, 1000):
        for batch_bytes in (16_384, 65_536):
            for codec in Codec:
                header, walk = measure(record_bytes, batch_bytes, codec, of_one_size=True)
                _, varied = measure(record_bytes, batch_bytes, codec, of_one_size=False)
                name = codec.name.lower()
                print(
                    f"{record_bytes:6} {batch_bytes:6}  {name:6} {header:15.1f} {walk:16.1f} {varied:18.1f}"
                )


if __name__ == "__main__":
    main()
