# INPUTS   the tables
# OUTPUTS  one row per arm, and per task, suite, language and tag, as Parquet, CSV and JSON; every comparison
rule scorecard:
    input:
        rules.dataset.output,
    output:
        report(
            f"{EXPERIMENT}/scorecard/scorecard.csv",
            category="Scorecard",
            labels={"file": "arms"},
            caption="../report/scorecard.rst",
        ),
        report(
            f"{EXPERIMENT}/scorecard/comparisons.json",
            category="Scorecard",
            labels={"file": "comparisons"},
            caption="../report/comparisons.rst",
        ),
        f"{EXPERIMENT}/scorecard/scorecard.json",
        f"{EXPERIMENT}/scorecard/scorecard.parquet",
    log:
        f"results/logs/{PLAN.name}/scorecard.log",
    conda:
        "../../environment.yml"
    params:
        name=PLAN.name,
        version=snake.SCORECARD,
    message:
        "Computing the scorecard"
    shell:
        FAIRTRIAL
        + " scorecard --name {params.name:q} > {log:q} 2>&1 || {{ cat {log:q} >&2; exit 1; }}"
