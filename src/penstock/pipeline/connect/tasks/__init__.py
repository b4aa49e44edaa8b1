"""What runs on an executor: one task of a connector, for the length of a tick. No Spark, no worker in here."""
