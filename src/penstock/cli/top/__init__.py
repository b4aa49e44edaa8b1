"""`penstock top`."""
