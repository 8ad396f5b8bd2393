"""What is in a folder, by name: the one way parts of fairtrial are found."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

from fairtrial.contracts.errors import UserError


def names(package: str) -> list[str]:
    """Sorted names of the modules and folders in `package` (dotted), private ones left out."""
    found = importlib.import_module(package)
    return sorted({name for folder in found.__path__ for name in _names_in(Path(folder)) if not name.startswith("_")})


def _names_in(folder: Path) -> Iterator[str]:
    """As pkgutil.iter_modules, which imports `inspect` and asks every entry; stage commands start with this."""
    for entry in folder.iterdir():
        if entry.suffix == ".py":
            yield entry.stem
        elif (entry / "__init__.py").exists():
            yield entry.name


@cache  # a matrix of 10,000 attempts asks 20,000 times
def load(package: str, name: str, member: str = "", what: str = "") -> ModuleType:
    """Import `package.name[.member]`; a wrong name is a UserError that lists the known ones."""
    module = name.replace("-", "_")
    if not _is_there(package, module):
        from fairtrial.contracts.schema import meant

        known = [n.replace("_", "-") for n in names(package)]
        kind = what or package.rsplit(".", 1)[-1]
        raise UserError(f"unknown {kind} {name!r}{meant(name, known)}; known: {', '.join(known)}")
    return importlib.import_module(".".join(p for p in (package, module, member) if p))


def _is_there(package: str, module: str) -> bool:
    """Does `names` list it? One look instead of a list of them all."""
    if not module.isidentifier() or module.startswith("_"):
        return False
    folders = map(Path, importlib.import_module(package).__path__)
    return any((f / f"{module}.py").exists() or (f / module / "__init__.py").exists() for f in folders)
