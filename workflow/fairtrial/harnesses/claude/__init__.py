"""Claude Code: `claude -p`, stream-json events, caps of its own for turns and dollars."""
