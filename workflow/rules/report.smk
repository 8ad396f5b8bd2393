# INPUTS   the tables and the scorecard
# OUTPUTS  the report's top-level files; each attempt's page stands beside them, unseen by Snakemake
rule report:
    input:
        rules.dataset.output,
        rules.scorecard.output,
    output:
        report(
            f"{EXPERIMENT}/report/index.html",
            category="fairtrial",
            caption="../report/index.rst",
        ),
        expand(
            f"{EXPERIMENT}/report/{{name}}",
            name=["report.md", "report.json", "summary.txt"],
        ),
    log:
        f"results/logs/{PLAN.name}/report.log",
    conda:
        "../../environment.yml"
    params:
        name=PLAN.name,
        version=snake.REPORT,
    message:
        "Rendering the report"
    shell:
        FAIRTRIAL
        + " report --name {params.name:q} > {log:q} 2>&1 || {{ cat {log:q} >&2; exit 1; }}"
