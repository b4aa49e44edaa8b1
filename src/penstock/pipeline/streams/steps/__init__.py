"""What the DSL's methods do: functions from what is known of streams and tables to more of them."""
