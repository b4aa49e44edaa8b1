from penstock.errors import PenstockError


class DumpError(PenstockError):
    """The file can't be dumped any further."""
