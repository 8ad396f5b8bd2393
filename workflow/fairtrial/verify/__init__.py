"""What hidden verifiers import: named checks on a finished workspace, the product only ever run as a black box.

Stand-alone, standard library only. Product code runs in a boxed child of its own, on a fresh copy of the workspace;
what it returns crosses as JSON and is compared here, so nothing inside the product can touch a verdict. Typical use::

    from fairtrial.verify import Failed, Verification

    v = Verification()

    @v.check("counts-lines")  # every name is declared in task.toml [verifier.checks]
    def counts_lines() -> None:
        result = v.run(["python3", "-m", "tally", "in.txt"], files={"in.txt": b"a\\nb\\n"})
        v.equal(v.ok(result).text, "2\\n", "output")
        v.equal(v.call("tally.stats", "total", args=[[1, 2]]), 3, "total")

    v.finish()

By hand, without a box: ``python verify.py WORKSPACE TASKFOLDER`` prints the report.
Settings come from the JSON file named by FAIRTRIAL_VERIFY: workspace, task (folders), prefix (argv that boxes a child;
``{workspace}`` is replaced by the folder to stand at /task), nonce, report (file descriptor or path of the private
channel), python (the interpreter inside the box), seconds (the verifier's whole time limit).
"""

from fairtrial.verify.blackbox import BrokenBox, Failed, Result
from fairtrial.verify.verification import Verification

__all__ = ["BrokenBox", "Failed", "Result", "Verification"]
