"""Members of groups and transactional processors, each a process of its own that a test may kill at any moment.

A program gets its settings as one JSON object, its only argument. It appends to two files: `records`, a line
"partition offset number" for each record processed, written out before the offset is committed, and between them a
line "owns PARTITION..." for each change of what is its own; and `events`, a line for each thing that happened to it:

    owns GENERATION PARTITION...   the partitions that are its own from now on; generation -1 where the client hides it
    commit-failed ERROR            the offsets of records that stand in `records` already were not committed
    error ERROR                    anything else that the client told
    holding                        it keeps a batch between processing and commit: SIGUSR1 told it to, SIGUSR2 ends it
    closed                         it left in order

SIGTERM makes it leave the group in order and end. It opens its files when it is ready for that, not before.
"""
