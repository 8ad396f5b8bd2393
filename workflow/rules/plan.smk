# INPUTS   the configuration, the task packages (read and hashed at parse time)
# OUTPUTS  results/<experiment>/matrix.json; frozen files below results/objects/
rule plan:
    output:
        f"{EXPERIMENT}/matrix.json",
    log:
        f"results/logs/{PLAN.name}/plan.log",
    conda:
        "../../environment.yml"
    params:
        matrix=PLAN.digest,
    shell:
        FAIRTRIAL + " plan --write --digest {params.matrix:q} > {log:q} 2>&1"
