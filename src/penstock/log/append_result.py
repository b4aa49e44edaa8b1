"""What an append did."""


class AppendResult:
    __slots__ = ("duplicate", "first_offset", "last_offset", "log_append_time_ms", "log_start_offset")

    def __init__(
        self,
        first_offset: int,
        last_offset: int,
        log_append_time_ms: int,
        log_start_offset: int,
        duplicate: bool,
    ) -> None:
        self.first_offset = first_offset
        self.last_offset = last_offset
        self.log_append_time_ms = log_append_time_ms  # -1 if the records keep their own timestamps
        self.log_start_offset = log_start_offset
        self.duplicate = (
            duplicate  # seen before: nothing was written, the offsets are those of the first time
        )

    def __repr__(self) -> str:
        return f"AppendResult({self.first_offset}..{self.last_offset}, duplicate={self.duplicate})"
