"""Programs of streams that were deployed: kept in a topic, run by every pipeline process, started again if they fail.

Each program is a consumer group of its own, in which each process that runs it is a member. So its tasks are spread
over all processes, and when one dies, the others have its tasks as soon as the group has missed it; there is nobody
who deals them out.
"""
