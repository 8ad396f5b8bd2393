"""The result object of Claude Code (`--output-format json`, and the last line of stream-json); qwen prints a like one.

An API failure says `subtype: success` with `is_error: true`, so neither the subtype nor the exit code is enough
(O01). `modelUsage` holds the whole attempt; at a budget stop the top-level `usage` holds one request only.
"""

from __future__ import annotations

from typing import Any

from fairtrial.wire import failure, get, tokens

Json = dict[str, Any]

_CAPS = {"error_max_turns": "turn_cap", "error_max_budget_usd": "usd_cap"}


def read_result(value: Json) -> Json:
    """A partial events record: session_id, model_observed, turns, cost_usd, cost_source, tokens, tokens_lower_bound,
    api_seconds, stop, model_events, final_text, errors. Any object is accepted."""
    usage = result_tokens(value)
    stop, errors = _stop_and_errors(value)
    cost = _cost(value)
    seconds = get.number(value, "duration_api_ms")
    return {
        "session_id": get.text(value, "session_id"),
        "model_observed": _model(value),
        "turns": _turns(value, stop),
        "cost_usd": cost,
        "cost_source": None if cost is None else "cli",
        "tokens": usage,
        "tokens_lower_bound": False,
        "api_seconds": None if seconds is None or seconds < 0 else seconds / 1000,
        "stop": stop,
        "model_events": 1 if tokens.anything(usage) else 0,
        "final_text": get.text(value, "result"),
        "errors": errors,
    }


def usage_tokens(usage: Any) -> tokens.Tokens:
    """An API `usage` object: input excludes cache reads and writes."""
    reasoning = get.count(usage, "output_tokens_details", "thinking_tokens")
    return tokens.exclusive(
        get.count(usage, "input_tokens"),
        get.count(usage, "cache_read_input_tokens"),
        get.count(usage, "cache_creation_input_tokens"),
        get.count(usage, "output_tokens"),
        reasoning,
    )


def result_tokens(value: Json) -> tokens.Tokens:
    """Totals of the attempt: the sum over `modelUsage`, else the top-level `usage`."""
    models = [m for m in get.mapping(value, "modelUsage").values() if isinstance(m, dict)]
    if not models:
        return usage_tokens(value.get("usage"))
    return tokens.total(
        tokens.exclusive(
            get.count(model, "inputTokens"),
            get.count(model, "cacheReadInputTokens"),
            get.count(model, "cacheCreationInputTokens"),
            get.count(model, "outputTokens"),
            get.count(model, "thinkingTokens"),
        )
        for model in models
    )


def _turns(value: Json, stop: str) -> int | None:
    # At its turn cap the program also counts the turn it refused: cap 4 says 5.
    turns = get.count(value, "num_turns")
    return max(0, turns - 1) if turns is not None and stop == "turn_cap" else turns


def price_may_be_invented(value: Json) -> bool:
    """Whether a cost is for a model that is not the maker's own and nothing says where its price is from (2.1.197)."""
    models = get.mapping(value, "modelUsage")
    return any(not name.startswith("claude") and get.text(m, "costBasis") is None for name, m in models.items())


def _model(value: Json) -> str | None:
    models = {name: get.count(m, "outputTokens") or 0 for name, m in get.mapping(value, "modelUsage").items()}
    return max(models, key=lambda name: models[name]) if models else None


def _cost(value: Json) -> float | None:
    # For a model it does not know the program invents a price and says so: no price is better than that one.
    if any(get.text(m, "costBasis") == "unknown" for m in get.mapping(value, "modelUsage").values()):
        return None
    return get.dollars(value, "total_cost_usd")


def _stop_and_errors(value: Json) -> tuple[str, list[Json]]:
    subtype = get.text(value, "subtype") or ""
    cap = _CAPS.get(subtype)
    if cap is not None:
        return cap, []
    failed = value.get("is_error") is True or subtype.startswith("error")
    if not failed:
        return "completed", []
    said = [e for e in get.items(value, "errors") if isinstance(e, str)]
    message = "; ".join(said) or get.text(value, "result") or get.text(value, "error", "message") or subtype
    status = get.count(value, "api_error_status")
    if (own := failure.cap_of(message)) is not None:
        return own, []
    outside = status is not None or get.text(value, "terminal_reason") == "api_error" or subtype == "success"
    kind = failure.kind_of(status, message) if outside else "model"
    return "error", [failure.error(message, status=status, fatal=True, kind=kind)]
