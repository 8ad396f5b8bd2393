# INPUTS   the tables and the scorecard
# OUTPUTS  the report's files, in runs of at most 2,000 attempts with a page for each
rule report:
    input:
        rules.dataset.output,
        rules.scorecard.output,
    output:
        report(
            f"{EXPERIMENT}/report/index.html",
            category="Report",
            labels={"file": "the page"},
            caption="../report/index.rst",
        ),
        report(
            f"{EXPERIMENT}/report/summary.txt",
            category="Report",
            labels={"file": "80-column summary"},
            caption="../report/summary.rst",
        ),
        f"{EXPERIMENT}/report/report.md",
        f"{EXPERIMENT}/report/report.json",
        expand(
            f"{EXPERIMENT}/report/attempts/{{attempt}}.html",
            attempt=PLAN.attempts if len(PLAN.results) <= MOST_LINKED else [],
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
