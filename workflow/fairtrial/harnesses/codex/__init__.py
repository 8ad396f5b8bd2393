"""OpenAI Codex: `codex exec --json`; no caps of its own, no cost, no model in its events."""
