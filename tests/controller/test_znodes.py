"""What the JSON in the znodes says."""

import json
from dataclasses import replace

from penstock.controller import znodes
from penstock.replica.replica_set import Assignment, ReplicaSet

STATE = ReplicaSet((1, 2, 3), (1, 3), 1, 5, version=7, zxid=100, controller_epoch=4, lives=(40, 60))


def test_a_state_comes_back() -> None:
    data = znodes.encode_state(STATE, 4)
    assert znodes.decode_state(data, STATE.assignment, STATE.version, STATE.zxid) == STATE


def test_a_state_that_kafka_has_written() -> None:
    kafka = {"controller_epoch": 4, "leader": 1, "version": 1, "leader_epoch": 5, "isr": [1, 3]}
    assert znodes.decode_state(json.dumps(kafka).encode(), Assignment((1, 2, 3)), 7, 100) == replace(
        STATE, lives=()
    )
    assert json.loads(znodes.encode_state(replace(STATE, lives=()), 4)) == kafka
