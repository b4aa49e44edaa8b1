"""The features of the cluster (KIP-584): what the broker could do, and what is switched on."""

SUPPORTED_FEATURES: tuple[tuple[str, int, int], ...] = (("metadata.version", 7, 30),)
"""Name, lowest and highest level."""

FINALIZED_FEATURES: tuple[tuple[str, int], ...] = (("metadata.version", 30),)
FINALIZED_EPOCH = 1
