"""Columns of the scorecard, one file a family (contracts.protocols.Metric).

`compute(attempts, settings)` gets the scored rows of one arm as analysis.columns.plain made them. Settings:
    k           list of ints                     level   0.95
    seed        int                              unscored  {task key: number of unscored attempts}
PLACE (default 50) orders modules within their group. A module with ARM_ONLY = True is not computed for suites,
languages and tags. A column `name_k` is a mapping by k:
{"3": {"value": number or None, "tasks": how many allow k, "of": how many there are}}.
"""
