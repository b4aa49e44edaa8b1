from penstock.group.parts import Part
from penstock.machine import Producer


class Offsets(Part):
    def replay_end_transaction(self, producer: Producer, *, is_commit: bool) -> None:
        pass
