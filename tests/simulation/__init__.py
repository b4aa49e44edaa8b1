"""Clusters that a seed makes and disturbs, with the brokers that ship.

A seed draws a cluster of three brokers, its topic, its clients, and what befalls them: processes that are killed at any
moment, also between two writes, or stopped, paused and started; machines that lose power, and with it some of what was
not synced; links that are cut, in one direction or both, slow, or that break; a ZooKeeper that is away, forgets
sessions, or is started again; elections. What is simulated is what a broker reaches beyond its process, and nothing of
the broker itself: `machines` puts another event loop (`virtual_loop`), network (`network`, `wire`), ZooKeeper
(`zookeeper`, `kazoo_client`), disk and clock below it. All of it runs in one thread, in an order that the seed alone
decides, and the time in which nothing happens costs nothing: a minute of a cluster takes a fraction of a second.

After every step of that order `promises` looks into all brokers at once and finds what clients would not: who leads,
what is committed, who counts as in sync and what stands in whose log. In the end, when nobody disturbs it any more, a
cluster has to become whole again within moments, and every producer has to get on.

`make sim` runs many seeds, `make sim SEED=1234` tells the story of one, with the logs of its brokers and their times.
`deliberate_bugs` is what the simulation is measured by.
"""
