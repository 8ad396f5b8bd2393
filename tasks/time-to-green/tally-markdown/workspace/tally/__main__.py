"""Entry point of `python3 -m tally`."""

import sys

from tally.cli import main

if __name__ == "__main__":
    sys.exit(main())
