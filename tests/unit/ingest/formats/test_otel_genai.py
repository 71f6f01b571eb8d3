"""GenAI spans: one call once, whoever repeats its tokens, and nothing where a span is silent."""

from __future__ import annotations

import json

import pytest

from governance_pipeline.ingest.formats import otel_runs

TRACE = "0af7651916cd43dd8448eb211c80319c"
START = 1_767_607_200_000_000_000


def any_value(value):
    kinds = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    return {kinds[type(value)]: str(value) if type(value) is int else value}


def otlp_span(number, parent=None, trace=TRACE, **attributes):
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": "x",
        "startTimeUnixNano": str(START + number * 10**9),
        "endTimeUnixNano": str(START + number * 10**9 + 5 * 10**8),
        "attributes": [{"key": name.replace("__", "."), "value": any_value(v)} for name, v in attributes.items()],
    }


def export(*spans, **resource):
    about = {"attributes": [{"key": f"service.{name}", "value": any_value(v)} for name, v in resource.items()]}
    return {"resourceSpans": [{"resource": about, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]}


def agent(number, parent=None, **attributes):
    return otlp_span(
        number, parent, gen_ai__operation__name="invoke_agent", gen_ai__agent__name=f"a{number}", **attributes
    )


def chat(number, parent=None, tokens=(10, 2), **attributes):
    return otlp_span(
        number,
        parent,
        gen_ai__operation__name="chat",
        gen_ai__usage__input_tokens=tokens[0],
        gen_ai__usage__output_tokens=tokens[1],
        **attributes,
    )


def tool(number, parent=None, name="bash", arguments='{"command": "ls"}', **attributes):
    return otlp_span(
        number,
        parent,
        gen_ai__operation__name="execute_tool",
        gen_ai__tool__name=name,
        gen_ai__tool__call__arguments=arguments,
        **attributes,
    )


@pytest.fixture
def lines(read):
    return lambda *values: read({"logs/t.jsonl": list(values)})


@pytest.fixture
def document(read):
    return lambda value: read({"logs/t.json": json.dumps(value)})


def declared(tables):
    return {row["field"]: row["value_raw"] for row in tables.rows("core_declared")}


def parts(tables, source, column="tokens"):
    found = [r for r in tables.rows("core_components") if (r["source"], r["column"]) == (source, column)]
    return [row["value_raw"] for row in found]


@pytest.mark.parametrize(
    "value",
    [
        {"spans": [{"name": "x"}]},
        {"spans": [{"traceId": "t", "spanId": "s", "attributes": {"http.method": "GET"}}]},
        [{"context": {"trace_id": 1}, "attributes": {"gen_ai.operation.name": "chat"}}],
        {"attributes": {"gen_ai.operation.name": "chat"}},
    ],
)
def test_what_has_no_genai_span_of_a_trace_is_not_claimed(document, value):
    assert document(value).unclaimed == {"logs/t.json": "unsupported_format"}


def test_an_invoked_agent_is_a_run_over_the_lines_of_its_trace(lines):
    tables = lines(
        export(agent(1, gen_ai__conversation__id="c"), name="vs", version="18"),
        export(chat(2, 1, gen_ai__response__model="m"), tool(3, 1)),
    )
    (run,) = tables.rows("core_runs")
    assert (run["run_id"], run["session_id"]) == (f"{TRACE}/{1:016x}", "c")
    assert (run["agent_id"], run["platform"], run["model_id"], run["exit_status"]) == ("a1", "vs 18", "m", None)
    (step,) = tables.rows("core_steps")
    assert (step["command"], step["duration_s"], step["status"], step["pointer"]) == (
        "ls",
        0.5,
        None,
        "/resourceSpans/0/scopeSpans/0/spans/1",
    )
    (usage,) = tables.rows("core_usage")
    assert (usage["input_tokens"], usage["is_cache_inside_input"], usage["line"]) == (10, True, 2)
    assert run["ended_at"].second == step["at"].second == 3


def test_an_agent_below_another_is_its_sub_agent(document):
    tables = document(export(agent(1), otlp_span(2, 1), agent(3, 2), chat(4, 3), chat(5)))
    runs = {row["run_id"]: row["parent_run_id"] for row in tables.rows("core_runs")}
    assert runs == {f"{TRACE}/{1:016x}": None, f"{TRACE}/{3:016x}": f"{TRACE}/{1:016x}", TRACE: None}
    assert [row["lines_in"] for row in tables.rows("raw_log_files")] == [5]


def test_spans_of_other_things_are_read_and_make_no_run(lines):
    tables = lines(export(otlp_span(1, http__method="GET")))
    assert tables.frame("core_runs").empty
    assert [row["accepted"] for row in tables.rows("raw_log_files")] == [1]


def test_a_silent_span_says_nothing_of_tokens(lines):
    tables = lines(export(agent(1), otlp_span(2, 1, gen_ai__operation__name="chat")))
    assert tables.frame("core_usage").empty
    assert tables.frame("core_declared").empty


def test_an_integer_is_a_text_in_otlp_and_a_text_is_no_number(lines):
    texts = {"gen_ai__usage__input_tokens": "10", "gen_ai__usage__output_tokens": 2}
    (row,) = lines(export(otlp_span(1, **texts))).rows("core_usage")
    assert (row["input_tokens"], row["output_tokens"]) == (None, 2)


def test_what_an_agent_adds_up_is_declared_and_no_call(document):
    usage = {"gen_ai__usage__input_tokens": 30, "gen_ai__usage__output_tokens": 4}
    tables = document(export(agent(1, **usage), chat(2, 1), chat(3, 1, (20, 2))))
    assert declared(tables) == {"agent_input_tokens": "30", "agent_output_tokens": "4"}
    assert parts(tables, "calls", "input_tokens") == ["10", "20"]
    assert [row["input_tokens"] for row in tables.rows("core_usage")] == [10, 20]


def test_the_same_tokens_under_two_names_are_one_call(document):
    twice = {
        "ai__usage__promptTokens": 10,
        "ai__usage__completionTokens": 3,
        "ai__operationId": "ai.generateText.doGenerate",
    }
    tables = document(export(chat(1, None, (10, 2), **twice)))
    assert [(row["input_tokens"], row["output_tokens"]) for row in tables.rows("core_usage")] == [(10, 2)]
    assert declared(tables) == {"ai_input_tokens": "10", "ai_output_tokens": "3"}
    assert (parts(tables, "own_input_tokens"), parts(tables, "own_output_tokens")) == (["10"], ["2"])


def test_an_outer_operation_of_the_ai_sdk_is_no_call_even_alone(document):
    outer = {"ai__operationId": "ai.streamText", "ai__usage__inputTokens": 15, "ai__usage__totalTokens": 127}
    tables = document(export(otlp_span(1, **outer)))
    assert tables.frame("core_usage").empty
    assert declared(tables) == {"total_tokens": "127", "agent_input_tokens": "15"}
    assert parts(tables, "kinds") == ["15", None]
    assert parts(tables, "calls", "input_tokens") == []
    assert len({row["subject_id"] for row in tables.rows("core_declared")}) == 1


def accounts(tables):
    return [
        tuple(row[name] for name in ("lines_in", "accepted", "quarantined", "duplicates"))
        for row in tables.rows("raw_log_files")
    ]


def rejected(tables):
    return [
        (row["line"], row["pointer"], row["reason_code"], row["duplicate_of"]) for row in tables.rows("raw_quarantine")
    ]


def test_another_span_with_the_id_of_one_is_quarantined(document):
    first, other = tool(2, arguments='{"command": "rm a"}'), tool(2, arguments='{"command": "rm b"}')
    tables = document(export(first, other, first))
    spans = "/resourceSpans/0/scopeSpans/0/spans"
    assert accounts(tables) == [(3, 1, 1, 1)]
    assert rejected(tables) == [
        (None, f"{spans}/1", "repeated_id", None),
        (None, f"{spans}/2", "repeated_span", f"logs/t.json:{spans}/0"),
    ]
    assert [row["command"] for row in tables.rows("core_steps")] == ["rm a"]


@pytest.mark.parametrize("change", [{"name": "y"}, {"events": [{"name": "e"}]}, {"status": {"code": 2}}])
def test_a_span_that_differs_anywhere_is_no_repetition(lines, change):
    tables = lines(export(chat(1)), export(chat(1) | change), export(chat(1), version="2"))
    assert accounts(tables) == [(3, 1, 2, 0)]
    assert {row[2] for row in rejected(tables)} == {"repeated_id"}
    assert len(list(tables.rows("core_usage"))) == 1


def test_a_span_exported_twice_is_one_call_and_one_step(lines):
    tables = lines(export(chat(1), tool(2)), export(chat(1, None, (10, 2)), tool(2)))
    assert accounts(tables) == [(2, 1, 0, 1)]
    assert rejected(tables) == [(2, "", "repeated_span", "logs/t.jsonl:1:/resourceSpans/0/scopeSpans/0/spans/0")]
    assert [row["duplicate_of"] for row in tables.rows("core_usage")] == [None]
    assert len(list(tables.rows("core_steps"))) == 1


def test_a_span_exported_again_beside_a_new_one_is_a_duplicate_call(lines):
    tables = lines(export(chat(1)), export(chat(1), chat(2)))
    assert accounts(tables) == [(2, 2, 0, 0)]
    part = "/resourceSpans/0/scopeSpans/0/spans/0"
    assert rejected(tables) == [(2, part, "repeated_span", f"logs/t.jsonl:1:{part}")]
    assert [(row["dedup_key"], row["duplicate_of"]) for row in tables.rows("core_usage")] == [
        (f"{TRACE}/{1:016x}", None),
        (f"{TRACE}/{2:016x}", None),
        (f"{TRACE}/{1:016x}", "logs/t.jsonl:1"),
    ]


def test_a_tool_span_exported_again_beside_a_new_one_has_a_row_that_says_so(lines):
    tables = lines(export(agent(1), tool(2)), export(tool(2), tool(3)))
    assert accounts(tables) == [(2, 2, 0, 0)]
    (row,) = tables.rows("raw_quarantine")
    assert (row["disposition"], row["line"], row["reason_code"]) == ("repeated_part", 2, "repeated_span")
    assert row["duplicate_of"] == "logs/t.jsonl:1:/resourceSpans/0/scopeSpans/0/spans/1"
    assert (row["dedup_key"], row["dedup_reason"]) == (f"{TRACE}/{2:016x}", otel_runs.EXPORTED_AGAIN)
    assert f"{2:016x}" in row["excerpt"]
    assert len(list(tables.rows("core_steps"))) == 2


def test_two_spans_with_one_id_in_a_line_take_the_line_with_them(lines):
    tables = lines(export(agent(1), tool(2)), export(tool(3), tool(3, arguments="{}")))
    assert accounts(tables) == [(2, 1, 1, 0)]
    assert rejected(tables) == [(2, "", "repeated_id", None)]


@pytest.mark.parametrize(
    ("status", "more", "expected"),
    [
        ({"code": 2}, {}, "error"),
        ({"code": "STATUS_CODE_OK"}, {}, "ok"),
        ({"code": 0}, {}, None),
        ({}, {}, None),
        ({"code": [2]}, {}, None),
        ({"code": 1}, {"error__type": "timeout"}, "error"),
    ],
)
def test_a_status_that_is_not_set_is_no_success(document, status, more, expected):
    (step,) = document(export(tool(1, **more) | {"status": status})).rows("core_steps")
    assert step["status"] == expected


EDIT = json.dumps({"command": "str_replace", "path": "a", "old_str": "x", "new_str": "y"})


@pytest.mark.parametrize(
    ("status", "answer", "files", "opaque"),
    [
        ({}, None, [], 1),
        ({}, "No replacement was performed, old_str `x` did not appear verbatim in a.", [], 1),
        ({"code": 1}, "No replacement was performed, old_str `x` did not appear verbatim in a.", [], 1),
        ({"code": 2}, None, [], 0),
        ({}, "The file a has been edited.", ["a"], 0),
        ({"code": 1}, None, ["a"], 0),
    ],
)
def test_an_edit_is_counted_where_its_success_is_known(document, status, answer, files, opaque):
    said = {} if answer is None else {"gen_ai__tool__call__result": answer}
    tables = document(export(tool(1, None, "str_replace_editor", EDIT, **said) | {"status": status}))
    assert [row["file_path"] for row in tables.rows("core_file_changes")] == files
    assert [row["opaque_step_count"] for row in tables.rows("core_runs")] == [opaque]


def test_arguments_that_are_no_json_leave_the_step_opaque(document):
    tables = document(export(tool(1, arguments="{"), tool(2, name="get_file")))
    assert [row["command"] for row in tables.rows("core_steps")] == [None, None]
    assert [row["opaque_step_count"] for row in tables.rows("core_runs")] == [1]


def test_spans_of_the_python_sdk_and_of_any_agent_are_read(document):
    def span(number, parent, **attributes):
        return {
            "context": {"trace_id": 2**100, "span_id": number},
            "parent": {"span_id": parent},
            "start_time": START,
            "end_time": "2026-01-05T10:00:01Z",
            "status": {"status_code": "ok"},
            "attributes": attributes,
        }

    invoked = span(1, None, **{"gen_ai.operation.name": "invoke_agent"})
    usage = {"gen_ai.usage.input_tokens": 5, "gen_ai.usage.input_cost": 0.1, "gen_ai.usage.output_cost": 0.02}
    tables = document(
        {"spans": [invoked, span(2, 1, **usage), span(3, 1, **(usage | {"gen_ai.usage.output_cost": None}))]}
    )
    (run,) = tables.rows("core_runs")
    assert (run["run_id"], run["exit_status"]) == (f"{2**100}/1", "ok")
    assert (run["started_at"].hour, run["ended_at"].second) == (10, 1)
    assert [row["cost_lexeme"] for row in tables.rows("core_usage")] == ["0.12", None]
    assert [row["pointer"] for row in tables.rows("core_usage")] == ["/spans/1", "/spans/2"]


def test_spans_of_the_javascript_sdk_are_read(document):
    span = {
        "spanContext": {"traceId": "t", "spanId": "s"},
        "startTime": [START // 10**9, 242_000_000],
        "endTime": [1, 2, 3],
        "attributes": {"ai.operationId": "ai.embed.doEmbed", "ai.usage.tokens": 10},
    }
    tables = document([span])
    (run,) = tables.rows("core_runs")
    assert (run["run_id"], run["started_at"].microsecond) == ("t", 242_000)
    assert [(row["input_tokens"], row["output_tokens"]) for row in tables.rows("core_usage")] == [(10, None)]


def test_a_record_with_a_span_that_is_none_is_quarantined(lines, document):
    tables = lines(export(chat(1)), export(chat(2), {"traceId": "t"}), [1])
    assert [(row["line"], row["reason_code"]) for row in tables.rows("raw_quarantine")] == [
        (2, "bad_span"),
        (3, "bad_span"),
    ]
    (file,) = document(export(chat(1), 7)).rows("raw_log_files")
    assert (file["accepted"], file["quarantined"]) == (1, 1)


def test_spans_that_make_a_circle_or_a_long_chain_end(document):
    circle = [chat(1, 2), chat(2, 1)]
    chain = [chat(number, number - 1) for number in range(4, 200)]
    tables = document(export(*circle, agent(3), *chain))
    found = {row["run_id"] for row in tables.rows("core_runs")}
    assert found == {TRACE, f"{TRACE}/{3:016x}"}


@pytest.mark.parametrize("broken", [1, "x", None, [], {}, [1], {"a": [1]}])
def test_members_of_the_wrong_type_are_unknown_and_stop_nothing(document, broken):
    names = ("parentSpanId", "startTimeUnixNano", "endTimeUnixNano", "status", "name", "resource", "parent")
    span = chat(1) | dict.fromkeys(names, broken)
    odd = chat(2) | {"attributes": [broken, {"key": "gen_ai.operation.name", "value": broken}]}
    assert len(list(document(export(span, odd)).rows("core_usage"))) == 1
    kinds = {"gen_ai.operation.name": broken, "ai.operationId": broken, "gen_ai.usage.input_tokens": broken}
    sdk = {"spanContext": {"traceId": "t", "spanId": "s"}, "attributes": kinds}
    assert not document([sdk]).unclaimed
