"""The transaction coordinator: what `__transaction_state` remembers."""
