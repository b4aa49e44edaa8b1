"""What `KafkaAdmin` and `AsyncKafkaAdmin` offer, written once: each function is a method of both.

The functions of `client.admin` answer for every item whether it worked, since tools print that. These raise instead:
what was asked for happened if they return.
"""
