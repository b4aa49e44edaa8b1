"""The features that are switched on in the cluster, and changing them."""

from collections.abc import Mapping

from penstock.broker.cluster import Cluster
from penstock.broker.coordination import VersionConflict
from penstock.controller.features import FeatureUpdate, decide_features


class Features:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def finalized(self) -> Mapping[str, int]:
        """The level of each feature that is on."""
        return self._cluster.image.features

    @property
    def epoch(self) -> int:
        """Grows with every change."""
        return self._cluster.image.features_epoch

    def level(self, name: str) -> int:
        """The level of a feature; 0 if it is off."""
        return self._cluster.image.features.get(name, 0)

    async def update(self, updates: Mapping[str, FeatureUpdate], *, validate_only: bool) -> None:
        """Makes all of these changes, or none."""
        while True:
            levels = decide_features(self.finalized, updates, self._cluster.broker_id)
            if validate_only or levels == self.finalized:
                return
            try:
                await self._cluster.set_features(levels)
            except VersionConflict:
                await self._cluster.load_features()
            else:
                return
