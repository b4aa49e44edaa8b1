"""Gives the lead back to preferred leaders, every now and then; `controller.balance` decides where."""

import logging
from collections.abc import Callable

from penstock.broker.controller import Controller
from penstock.broker.coordination import CoordinationError
from penstock.controller.balance import decide_balance
from penstock.settings.broker import BrokerSettings

log = logging.getLogger("penstock.broker.leader_balance")


class LeaderBalance:
    def __init__(self, controller: Controller, settings: Callable[[], BrokerSettings]) -> None:
        self.controller = controller
        self.settings = settings

    async def restore(self) -> None:
        """If this broker is the controller. What others have changed meanwhile waits for the next time."""
        settings, image = self.settings(), self.controller.image
        if not (settings.auto_leader_rebalance_enable and self.controller.is_active):
            return
        decided = decide_balance(
            image.topics.values(), image.brokers, settings.leader_imbalance_per_broker_percentage
        )
        if not decided:
            return
        log.info("preferred leaders lead %d partitions again, for the balance", len(decided))
        try:
            await self.controller.write_states(decided)
        except CoordinationError as error:
            log.warning("leaders stay out of balance for now: %s", error)
