# INPUTS   the tables
# OUTPUTS  one row per arm, and per task, suite, language and tag, as Parquet, CSV and JSON
rule scorecard:
    input:
        rules.dataset.output,
    output:
        expand(
            f"{EXPERIMENT}/scorecard/scorecard.{{ending}}",
            ending=["parquet", "csv", "json"],
        ),
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
