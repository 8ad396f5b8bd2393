"""Task x harness x model x repetition -> attempts -> evidence -> results -> tables -> scorecard -> report."""

import sys
from pathlib import Path

from snakemake.utils import min_version

from fairtrial.analysis.report.model import MOST_LINKED
from fairtrial.capture.spend import live
from fairtrial.plan import pace, snake

min_version("9.0")


configfile: f"{workflow.basedir}/config/config.yaml"


report: "workflow/report/workflow.rst"


PLAN = snake.load(
    config, Path(workflow.basedir), Path.cwd(), workflow.overwrite_configfiles
)
EXPERIMENT = f"results/{PLAN.name}"
FAIRTRIAL = snake.command(sys.executable)


# Seconds each, and they would only wait in a cluster's queue.
localrules:
    all,
    plan,
    dataset,
    scorecard,
    report,


wildcard_constraints:
    repetition=r"[1-9]\d*",
    recipe="[0-9a-f]{12}",
    grade="[0-9a-f]{12}",


include: "workflow/rules/plan.smk"
include: "workflow/rules/attempt.smk"
include: "workflow/rules/grade.smk"
include: "workflow/rules/dataset.smk"
include: "workflow/rules/scorecard.smk"
include: "workflow/rules/report.smk"


rule all:
    default_target: True
    input:
        PLAN.results,
        rules.plan.output,
        rules.dataset.output,
        rules.scorecard.output,
        rules.report.output,
    message:
        "Everything the matrix plans is there"


onstart:
    pace.steady(workflow.scheduler)
    live.begin(PLAN, Path.cwd(), workflow.overwrite_configfiles)


onsuccess:
    live.end(PLAN, Path.cwd())


onerror:
    live.end_with_faults(PLAN, Path.cwd())
