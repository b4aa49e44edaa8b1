"""`penstock version`."""

import argparse

import penstock


def main(arguments: list[str]) -> int:
    argparse.ArgumentParser("penstock version", description="Show the version.").parse_args(arguments)
    print(f"penstock {penstock.__version__}")
    return 0
