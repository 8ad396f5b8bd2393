"""What is in a folder, by name: the one way parts of fairtrial are found."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

from fairtrial.contracts.errors import UserError


def names(package: str) -> list[str]:
    """Sorted names of the modules and folders in `package` (dotted), private ones left out."""
    found = importlib.import_module(package)
    return sorted(m.name for m in pkgutil.iter_modules(found.__path__) if not m.name.startswith("_"))


@cache  # a matrix of 10,000 attempts asks 20,000 times
def load(package: str, name: str, member: str = "", what: str = "") -> ModuleType:
    """Import `package.name[.member]`; a wrong name is a UserError that lists the known ones."""
    module = name.replace("-", "_")
    if module not in names(package):
        known = ", ".join(n.replace("_", "-") for n in names(package))
        raise UserError(f"unknown {what or package.rsplit('.', 1)[-1]} {name!r}; known: {known}")
    return importlib.import_module(".".join(p for p in (package, module, member) if p))
