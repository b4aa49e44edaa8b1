"""`penstock streams`: programs of streams."""
