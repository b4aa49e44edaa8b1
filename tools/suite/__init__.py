"""How the suite runs: plugins of pytest, loaded by `tests/conftest.py`.

`alone` runs what failed once more by itself, `seconds` says where the time went, `order` has long files begin first,
`processes` tells which tests start child processes, so that `make quick` can leave them out.
"""
