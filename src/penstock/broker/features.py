"""The features that are switched on in the cluster, and changing them."""

from collections.abc import Mapping

from penstock.broker.coordination import VersionConflict
from penstock.broker.image_writing import ImageWriter
from penstock.controller.features import FeatureUpdate, decide_features
from penstock.controller.image import ClusterImage


class Features:
    def __init__(self, image: ClusterImage, writer: ImageWriter) -> None:
        self._image = image
        self._writer = writer

    @property
    def finalized(self) -> Mapping[str, int]:
        """The level of each feature that is on."""
        return self._image.features

    @property
    def epoch(self) -> int:
        """Grows with every change."""
        return self._image.features_epoch

    def level(self, name: str) -> int:
        """The level of a feature; 0 if it is off."""
        return self._image.features.get(name, 0)

    async def update(self, updates: Mapping[str, FeatureUpdate], *, validate_only: bool) -> None:
        """Makes all of these changes, or none."""
        while True:
            levels = decide_features(self.finalized, updates, self._image.controller_id)
            if validate_only or levels == self.finalized:
                return
            try:
                await self._writer.set_features(levels, self.epoch)
            except VersionConflict:
                await self._writer.read_features_again()
            else:
                return
