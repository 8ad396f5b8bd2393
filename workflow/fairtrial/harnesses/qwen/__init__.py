"""qwen-code: a dialect of Claude Code's stream; an API failure is text of a message that calls itself success."""
