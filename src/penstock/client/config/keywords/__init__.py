"""The settings of the clients as type checkers and editors see them; the modules are generated."""
