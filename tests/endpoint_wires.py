"""The four protocols as a small client writes and reads them."""

from __future__ import annotations

import json
from typing import Any

PARAMETERS = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
Json = dict[str, Any]


class Anthropic:
    name, path = "anthropic", "/v1/messages?beta=true"
    error = staticmethod(lambda reply: reply.json["error"]["message"])

    @staticmethod
    def body(calls: int = 0, tools: bool = True, stream: bool = True) -> Json:
        done = [{"role": "assistant", "content": [{"type": "tool_use", "id": str(i), "name": "Bash", "input": {}}]}
                for i in range(calls)]  # fmt: skip
        offered = [{"name": "Bash", "input_schema": PARAMETERS}] if tools else []
        messages = [{"role": "user", "content": "go"}, *done]
        return {"model": "model-x", "stream": stream, "messages": messages, "tools": offered}

    @staticmethod
    def said(reply: Any) -> tuple[str | None, str | None]:
        """(command, text) of a streamed answer."""
        deltas = [e["delta"] for e in reply.events if e["type"] == "content_block_delta"]
        arguments = "".join(d.get("partial_json", "") for d in deltas)
        text = "".join(d.get("text", "") for d in deltas)
        return (json.loads(arguments)["command"] if arguments else None), text or None

    @staticmethod
    def whole(reply: Any) -> tuple[str | None, str | None]:
        block = reply.json["content"][0]
        return (block["input"]["command"], None) if block["type"] == "tool_use" else (None, block["text"])


class Responses:
    name, path = "openai-responses", "/v1/responses"
    error = staticmethod(lambda reply: reply.json["error"]["message"])

    @staticmethod
    def body(calls: int = 0, tools: bool = True, stream: bool = True) -> Json:
        done = [{"type": "function_call", "name": "shell", "arguments": "{}", "call_id": str(i)} for i in range(calls)]
        offered = [{"type": "function", "name": "shell", "parameters": PARAMETERS}] if tools else []
        given = [{"role": "user", "content": "go"}, *done]
        return {"model": "model-x", "stream": stream, "input": given, "tools": offered}

    @classmethod
    def said(cls, reply: Any) -> tuple[str | None, str | None]:
        items = [e["item"] for e in reply.events if e["type"] == "response.output_item.done"]
        return cls._of(items[0])

    @classmethod
    def whole(cls, reply: Any) -> tuple[str | None, str | None]:
        return cls._of(reply.json["output"][0])

    @staticmethod
    def _of(item: Json) -> tuple[str | None, str | None]:
        if item["type"] == "function_call":
            return json.loads(item["arguments"])["command"], None
        return None, item["content"][0]["text"]


class Chat:
    name, path = "openai-chat", "/v1/chat/completions"
    error = staticmethod(lambda reply: reply.json["error"]["message"])

    @staticmethod
    def body(calls: int = 0, tools: bool = True, stream: bool = True) -> Json:
        function = {"name": "bash", "arguments": "{}"}
        done = [{"role": "assistant", "tool_calls": [{"id": str(i), "type": "function", "function": function}]}
                for i in range(calls)]  # fmt: skip
        offered = [{"type": "function", "function": {"name": "bash", "parameters": PARAMETERS}}] if tools else []
        messages = [{"role": "user", "content": "go"}, *done]
        return {"model": "model-x", "stream": stream, "messages": messages, "tools": offered}

    @classmethod
    def said(cls, reply: Any) -> tuple[str | None, str | None]:
        return cls._of(reply.events[0]["choices"][0]["delta"])

    @classmethod
    def whole(cls, reply: Any) -> tuple[str | None, str | None]:
        return cls._of(reply.json["choices"][0]["message"])

    @staticmethod
    def _of(message: Json) -> tuple[str | None, str | None]:
        calls = message.get("tool_calls")
        return (json.loads(calls[0]["function"]["arguments"])["command"] if calls else None), message["content"]


class Gemini:
    name, path = "gemini", "/v1beta/models/model-x:streamGenerateContent?alt=sse"
    error = staticmethod(lambda reply: reply.json["error"]["message"])

    @staticmethod
    def body(calls: int = 0, tools: bool = True, stream: bool = True) -> Json:
        done = [{"role": "model", "parts": [{"functionCall": {"name": "run_shell_command", "args": {}}}]}] * calls
        declared = {"name": "run_shell_command", "parametersJsonSchema": PARAMETERS}
        offered = [{"functionDeclarations": [declared]}] if tools else []
        return {"contents": [{"role": "user", "parts": [{"text": "go"}]}, *done], "tools": offered}

    @classmethod
    def said(cls, reply: Any) -> tuple[str | None, str | None]:
        return cls._of(reply.events[0])

    @classmethod
    def whole(cls, reply: Any) -> tuple[str | None, str | None]:
        return cls._of(reply.json)

    @staticmethod
    def _of(answer: Json) -> tuple[str | None, str | None]:
        part = answer["candidates"][0]["content"]["parts"][0]
        return (part["functionCall"]["args"]["command"] if "functionCall" in part else None), part.get("text")


WIRES = (Anthropic, Responses, Chat, Gemini)
WHOLE = {Gemini: "/v1beta/models/model-x:generateContent"}


def whole_path(wire: Any) -> str:
    """Where an answer in one piece is asked for."""
    return WHOLE.get(wire, wire.path)
