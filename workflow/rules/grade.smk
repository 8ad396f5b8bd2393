# INPUTS   sealed, and matrix.json until the grade is frozen; of both only the existence counts
# OUTPUTS  grades/<grade12>/result.json
rule grade:
    input:
        PLAN.before_grade,
        sealed=ancient(rules.attempt.output),
    output:
        "results/attempts/{suite}/{task}/{harness}/{model}/{recipe}/r{repetition}/grades/{grade}/result.json",
    log:
        "results/logs/grades/{suite}/{task}/{harness}/{model}/{recipe}/r{repetition}-{grade}.log",
    priority: snake.repetition_major
    group:
        "attempt"
    conda:
        "../../environment.yml"
    resources:
        runtime=5,
        in_turn=1,
    shell:
        FAIRTRIAL
        + " grade {input.sealed:q} --grade {wildcards.grade:q} > {log:q} 2>&1 || {{ cat {log:q} >&2; exit 1; }}"
