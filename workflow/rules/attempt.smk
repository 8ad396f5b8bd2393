# INPUTS   matrix.json until the recipe is frozen; only its existence counts, the rest is a digest in the path
# OUTPUTS  sealed, one line with the digest of evidence.json; all evidence stands beside it, unseen by Snakemake
rule attempt:
    input:
        PLAN.before_attempt,
    output:
        "results/attempts/{suite}/{task}/{harness}/{model}/{recipe}/r{repetition}/sealed",
    log:
        "results/logs/attempts/{suite}/{task}/{harness}/{model}/{recipe}/r{repetition}.log",
    priority: snake.repetition_major
    group:
        "attempt"
    conda:
        "../../environment.yml"
    threads: PLAN.cpus
    resources:
        runtime=PLAN.wall_minutes,
        mem_mb=PLAN.memory,
        in_turn=1,
    shell:
        FAIRTRIAL
        + " attempt {output:q} > {log:q} 2>&1 || {{ cat {log:q} >&2; exit 1; }}"
