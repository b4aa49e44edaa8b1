"""What a client says on one connection, and what the broker owes it.

whole     Requests and mutants in one stream, cut into pieces anywhere, and an ApiVersions at the end. Each is answered,
          in order, up to the end of all, or up to where the connection is closed. A Produce may ask for no answer.
cut       The stream ends within a request, and the client is gone, or says that it will say no more: the connection
          is closed.
garbled   The bytes of the stream are changed anywhere, lengths too, and the client says that it will say no more: the
          connection is closed.

Some requests wait for others, or for records, as long as the client has asked for, which a mutant may say is a month:
whoever waits for one of those says after a moment that it will say no more, and the connection must be closed.
"""

from __future__ import annotations

import asyncio
import random
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.api_versions import ApiVersionsRequest
from tests.fuzz.requests import Requests
from tests.support.wire_client import request_bytes

PATIENCE_SECONDS = 20.0
WAITING_PATIENCE_SECONDS = 0.5
WAITING = {ApiKey.FETCH, ApiKey.SHARE_FETCH, ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP}
MOST_FRAMES = 24
MOST_PIECES = 6


class Unanswered(AssertionError):
    """A connection that neither answers nor closes, or answers what was not asked."""


@dataclass
class Conversation:
    kind: str
    frames: list[bytes]
    pieces: list[bytes]
    is_reset: bool


def draw(seed: str, topic_ids: Sequence[bytes]) -> Conversation:
    chance = random.Random(seed)
    requests = Requests(chance, topic_ids)
    share = chance.choice((0.0, 0.1, 0.3, 1.0))
    count = chance.randint(1, MOST_FRAMES if share < 1 else 3)
    frames = [
        requests.mutant(number) if chance.random() < share else requests.valid(number)
        for number in range(1, count + 1)
    ]
    kind = chance.choice(("whole", "whole", "whole", "cut", "garbled"))
    if kind == "whole":
        frames.append(request_bytes(ApiVersionsRequest("fuzz", "1.0"), 3, count + 1))
    data = b"".join(frames)
    if kind == "cut":
        data = data[: len(data) - chance.randint(1, len(frames[-1]) - 1)]
    elif kind == "garbled":
        data = requests.garbled(data)
    cuts = (
        sorted(chance.randrange(len(data)) for _ in range(chance.choice((0, 0, 1, MOST_PIECES))))
        if data
        else []
    )
    pieces = [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    return Conversation(kind, frames, pieces, kind == "cut" and chance.random() < 0.5)


class NotConnected(Exception):
    """The connection was closed while there was still something to say."""


def say_no_more(writer: asyncio.StreamWriter) -> None:
    try:
        writer.write_eof()
    except OSError as error:
        raise NotConnected from error


def key_of(frame: bytes) -> int:
    found: int = struct.unpack_from(">h", frame, 4)[0]
    return found


@dataclass
class Judge:
    """Holds conversations and counts what became of their requests."""

    host: str
    port: int
    outcomes: Counter[str] = field(default_factory=Counter)

    @property
    def judged(self) -> int:
        """Requests that were answered, or that closed their connection."""
        return self.outcomes["answered"] + self.outcomes["closed"]

    async def hold(self, talk: Conversation) -> None:
        reader, writer = await asyncio.open_connection(self.host, self.port)
        sending = asyncio.ensure_future(self._send(writer, talk))
        try:
            if talk.kind == "whole":
                await self._hear_answers(reader, writer, talk)
            elif talk.is_reset:
                await sending
                self.outcomes["left"] += 1
            else:
                await sending
                await self._hear_out(reader, writer, talk)
        except (ConnectionError, NotConnected):
            self.outcomes["closed"] += 1
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            writer.transport.abort()

    async def _send(self, writer: asyncio.StreamWriter, talk: Conversation) -> None:
        try:
            for piece in talk.pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)
        except ConnectionError:
            pass  # the reader hears it, too

    async def _hear_answers(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, talk: Conversation
    ) -> None:
        next_number = 1
        while next_number <= len(talk.frames):
            try:
                answered = await self._hear_answer(reader, talk.frames[next_number - 1])
            except asyncio.IncompleteReadError as end:
                if end.partial:
                    raise Unanswered(f"closed in the middle of an answer: {end.partial!r}") from None
                self.outcomes["closed"] += 1
                return
            except TimeoutError:
                self.outcomes["waits"] += 1
                await self._hear_out(reader, writer, talk)
                return
            for skipped in range(next_number, answered):
                if key_of(talk.frames[skipped - 1]) != ApiKey.PRODUCE:
                    raise Unanswered(
                        f"request {skipped} was passed over for {answered}: {talk.frames[skipped - 1]!r}"
                    )
                self.outcomes["unasked"] += 1
            if not next_number <= answered <= len(talk.frames):
                raise Unanswered(f"{answered} was answered, and {next_number} was to be")
            self.outcomes["answered"] += 1
            next_number = answered + 1

    async def _hear_answer(self, reader: asyncio.StreamReader, asked: bytes) -> int:
        """The correlation id; TimeoutError if it is one that may take long."""
        may_wait = key_of(asked) in WAITING
        try:
            async with asyncio.timeout(WAITING_PATIENCE_SECONDS if may_wait else PATIENCE_SECONDS):
                (size,) = struct.unpack(">i", await reader.readexactly(4))
                return int.from_bytes((await reader.readexactly(size))[:4])
        except TimeoutError:
            if may_wait:
                raise
            raise Unanswered(f"neither answered nor closed within {PATIENCE_SECONDS} s: {asked!r}") from None

    async def _hear_out(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, talk: Conversation
    ) -> None:
        """Until the connection is closed, as it must be when no more is said."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                say_no_more(writer)
                while await reader.read(65_536):
                    pass
        except TimeoutError:
            raise Unanswered(f"not closed within {PATIENCE_SECONDS} s: {talk!r}") from None
        self.outcomes["closed"] += 1
