"""Page views, put together into sessions: a user's views with less than half a minute between them are one.

A session comes out once, when no view can join it any more.
"""

from penstock.streams import (
    BufferConfig,
    Produced,
    Program,
    SessionWindows,
    StreamsBuilder,
    Suppressed,
    Windowed,
)


def told(session: Windowed[str], views: int) -> dict[str, object]:
    start, end = session.window
    return {"views": views, "seconds": (end - start) / 1000}


builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
views = builder.stream("page-views").group_by_key()
sessions = views.windowed_by(SessionWindows.of_inactivity_gap_and_grace(30_000, grace_ms=5_000)).count()
closed = sessions.suppress(Suppressed.until_window_closes(BufferConfig.unbounded())).to_stream()
closed.map(lambda session, count: (session.key, told(session, count))).to(
    "sessions", Produced("string", "json")
)

program = Program("page-views", builder.build())
