"""Prints environment.yml: the pins of pyproject.toml for conda and mamba users."""

import sys
import tomllib
from pathlib import Path

HEAD = """\
# Made from pyproject.toml by `make environment.yml`; a test compares the two.
name: fairtrial
channels:
  - conda-forge
  - nodefaults
dependencies:
  - python >=3.11
  - pip
  - git
  - make
  - pip:
"""


def environment(pyproject: Path) -> str:
    """The text of environment.yml."""
    pins = tomllib.loads(pyproject.read_text())["project"]["dependencies"]
    return HEAD + "".join(f'      - "{pin}"\n' for pin in pins)


if __name__ == "__main__":
    sys.stdout.write(environment(Path(__file__).parent.parent / "pyproject.toml"))
