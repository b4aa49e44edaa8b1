"""Records into topics and out of them: `penstock tail` and `penstock cp`."""
