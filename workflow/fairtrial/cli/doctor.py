"""fairtrial doctor"""

from __future__ import annotations

import argparse

HELP = "say what this machine can do, and how to get more"


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's options."""
    parser.add_argument("probes", nargs="*", help="of the probes named in the output; default all")


def run(args: argparse.Namespace) -> int:
    """0, or 1 when something is wrong; 130 after Ctrl-C."""
    from fairtrial.cli._interrupted import interrupted

    try:
        return _look(args.probes)
    except KeyboardInterrupt:
        return interrupted()


def _look(asked: list[str]) -> int:
    from fairtrial import registry

    wrong = 0
    names = asked or registry.names("fairtrial.upkeep.probes")
    for name, probe in [(name, registry.load("fairtrial.upkeep.probes", name, what="probe")) for name in names]:
        print(f"{name}:", flush=True)
        for finding in probe.probe():
            sign = {True: "ok", False: "no", None: "--"}[finding.ok]
            print(f"  {sign}  {finding.name}: {finding.detail}", flush=True)
            wrong += finding.ok is False
            if finding.remedy and not finding.ok:
                print(f"      {finding.remedy}")
    return 1 if wrong else 0
