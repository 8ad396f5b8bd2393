"""The command line."""

import sys
import tomllib

from shelf import store
from shelf.steps import find


def main(argv):
    """list FILE, or run FILE."""
    command, path = argv
    if command == "list":
        for number, title, year in store.load_records(path):
            print(f"{number:>4}  {title} ({year})")
        return 0
    with open("steps.toml", "rb") as stream:
        value = path
        for name in tomllib.load(stream)["steps"]:
            value = find(name)(value)
    print("\n".join(value))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
