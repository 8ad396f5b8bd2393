"""gemini-cli: `gemini -o stream-json`; no cost; a turn cap in its settings."""
