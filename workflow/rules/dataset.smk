# INPUTS   matrix.json and every result.json it plans
# OUTPUTS  the six tables, the fourteen-column CSV, problems.json
rule dataset:
    input:
        rules.plan.output,
        PLAN.results,
    output:
        expand(f"{EXPERIMENT}/dataset/{{table}}.parquet", table=snake.TABLES),
        report(
            f"{EXPERIMENT}/dataset/time-to-green.csv",
            category="Data",
            labels={"file": "attempts"},
            caption="../report/time-to-green.rst",
        ),
        report(
            f"{EXPERIMENT}/dataset/problems.json",
            category="Data",
            labels={"file": "unreadable records"},
            caption="../report/problems.rst",
        ),
        f"{EXPERIMENT}/dataset/datapackage.json",
    log:
        f"results/logs/{PLAN.name}/dataset.log",
    conda:
        "../../environment.yml"
    params:
        name=PLAN.name,
        version=snake.DATASET,
        prices=PLAN.prices,
        excluded=PLAN.excluded,
    message:
        "Merging the results into tables"
    shell:
        FAIRTRIAL
        + " dataset --name {params.name:q} > {log:q} 2>&1 || {{ cat {log:q} >&2; exit 1; }}"
