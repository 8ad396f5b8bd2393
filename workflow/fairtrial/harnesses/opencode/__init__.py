"""opencode: `opencode run --format json`; usage and cost per step, no terminal event but its last step."""
