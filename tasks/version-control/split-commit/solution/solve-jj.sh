#!/usr/bin/env bash
set -euo pipefail
export JJ_USER=agent JJ_EMAIL=agent@example.invalid
[ -d .jj ] || jj git init --quiet --colocate .
split='subject(exact:"Rework report")'
jj split --quiet -r "$split" -m 'Rename render to format_report' report.py README.md
jj describe --quiet -r "$split" -m 'Add totals'
