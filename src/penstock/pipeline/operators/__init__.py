"""What does a plan: operators over slices of records, their stores, and the task that runs a sub-topology of them.

Nothing here does IO or has a clock: records, time and what is produced are arguments and results.
"""
