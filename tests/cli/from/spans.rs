//! Spans from OpenTelemetry: a row for each root, with a trajectory.

use dsrs_metrics::runs::formats::{Epochs, ForeignFormat, import_file};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::Folder;

/// Two traces, whose spans are in two documents and not in order: an agent that calls a tool, and one that answers at once.
pub(super) const TRACES: &str = concat!(
    r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"travel"}}]},"scopeSpans":[{"spans":["#,
    r#"{"traceId":"t1","spanId":"c2","parentSpanId":"r1","name":"chat","startTimeUnixNano":"5000000000","endTimeUnixNano":"6000000000","attributes":["#,
    r#"{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":"30"}},"#,
    r#"{"key":"gen_ai.usage.output_tokens","value":{"intValue":"4"}},"#,
    r#"{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Is it sunny?\"}]},{\"role\":\"assistant\",\"parts\":[{\"type\":\"tool_call\",\"id\":\"k\",\"name\":\"weather\",\"arguments\":{\"city\":\"Rome\"}}]},{\"role\":\"tool\",\"parts\":[{\"type\":\"tool_call_response\",\"id\":\"k\",\"response\":\"21 C\"}]}]"}},"#,
    r#"{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"Yes, 21 C.\"}],\"finish_reason\":\"stop\"}]"}}]},"#,
    r#"{"traceId":"t2","spanId":"r2","name":"chat","startTimeUnixNano":"1000000000","endTimeUnixNano":"1250000000","attributes":["#,
    r#"{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},"#,
    r#"{"key":"gen_ai.output.messages","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"role","value":{"stringValue":"assistant"}},{"key":"parts","value":{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"type","value":{"stringValue":"text"}},{"key":"content","value":{"stringValue":"No."}}]}}]}}}]}}]}}}],"#,
    r#""events":[{"name":"gen_ai.evaluation.result","attributes":[{"key":"gen_ai.evaluation.name","value":{"stringValue":"helpful"}},{"key":"gen_ai.evaluation.score.value","value":{"doubleValue":0.25}}]}]}"#,
    r#"]}]}]}"#,
    "\n",
    r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"travel"}}]},"scopeSpans":[{"spans":["#,
    r#"{"traceId":"t1","spanId":"x1","parentSpanId":"r1","name":"execute_tool weather","startTimeUnixNano":"3000000000","endTimeUnixNano":"4000000000","attributes":["#,
    r#"{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"weather"}},{"key":"gen_ai.tool.call.id","value":{"stringValue":"k"}},{"key":"gen_ai.tool.call.result","value":{"stringValue":"21 C"}}]},"#,
    r#"{"traceId":"t1","spanId":"c1","parentSpanId":"r1","name":"chat","startTimeUnixNano":"2000000000","endTimeUnixNano":"3000000000","attributes":["#,
    r#"{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.usage.input_tokens","value":{"intValue":20}},{"key":"gen_ai.usage.output_tokens","value":{"intValue":"6"}},"#,
    r#"{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Is it sunny?\"}]}]"}},"#,
    r#"{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"tool_call\",\"id\":\"k\",\"name\":\"weather\",\"arguments\":{\"city\":\"Rome\"}}]}]"}}]},"#,
    r#"{"traceId":"t1","spanId":"r1","name":"invoke_agent","startTimeUnixNano":"1000000000","endTimeUnixNano":"6500000000","attributes":["#,
    r#"{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}},{"key":"gen_ai.agent.name","value":{"stringValue":"guide"}}],"#,
    r#""events":[{"name":"gen_ai.evaluation.result","attributes":[{"key":"gen_ai.evaluation.name","value":{"stringValue":"helpful"}},{"key":"gen_ai.evaluation.score.value","value":{"intValue":"1"}},{"key":"gen_ai.evaluation.score.label","value":{"stringValue":"pass"}},{"key":"gen_ai.evaluation.explanation","value":{"stringValue":"it is right"}}]}]}"#,
    r#"]}]}]}"#,
    "\n"
);

/// The rows of spans, as `score` writes them, and its warnings.
fn rows(content: &str) -> (Vec<Value>, String) {
    let folder = Folder::with("t.json", content);
    let score = "score --from otlp t.json -m no_loops --with-rows";
    let ran = folder.run(&format!("{score} --out out.jsonl"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let rows = folder.read("out.jsonl");
    (
        rows.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
        ran.err,
    )
}

fn error(content: &str) -> String {
    Folder::with("t.json", content).score_error("--from otlp t.json -m no_loops")
}

#[test]
fn the_spans_of_a_trace_are_one_trajectory() {
    let (rows, _) = rows(TRACES);
    let [first, second] = &rows[..] else {
        panic!("{rows:?}")
    };
    assert_eq!(first["id"], "t1");
    assert_eq!(first["gold"], json!({"question": "Is it sunny?"}));
    let call = json!({"id": "k", "name": "weather", "args": {"city": "Rome"}});
    let trajectory = json!([
        {"role": "user", "content": "Is it sunny?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "k", "content": "21 C"},
        {"role": "assistant", "content": "Yes, 21 C."}
    ]);
    assert_eq!(
        first["pred"],
        json!({"answer": "Yes, 21 C.", "trajectory": trajectory})
    );
    assert_eq!(first["latency_s"], 5.5);
    assert_eq!(
        (&first["input_tokens"], &first["output_tokens"]),
        (&50.into(), &10.into())
    );
    let attributes = json!({"span": "invoke_agent", "trace_id": "t1", "spans": 4, "agent": "guide", "service": "travel"});
    assert_eq!(first["attributes"], attributes);
    assert_eq!(
        (&second["id"], &second["pred"]["answer"]),
        (&"t2".into(), &"No.".into())
    );
    assert_eq!(second["latency_s"], 0.25);
}

/// A document of spans: trace, id, parent and start.
fn document(spans: &[(&str, &str, &str, u64)]) -> String {
    let span = |(trace, id, parent, start): &(&str, &str, &str, u64)| {
        json!({
            "traceId": trace, "spanId": id, "parentSpanId": parent, "name": format!("span {id}"),
            "startTimeUnixNano": start.to_string(), "endTimeUnixNano": (start + 1).to_string(),
            "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}],
        })
    };
    let spans: Vec<_> = spans.iter().map(span).collect();
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string()
}

#[test]
fn several_roots_and_a_missing_parent_are_rows() {
    let spans = [
        ("t", "a", "", 5),
        ("t", "b", "a", 6),
        ("t", "c", "", 1),
        ("u", "d", "gone", 1),
        ("u", "e", "d", 2),
    ];
    let (rows, warnings) = rows(&document(&spans));
    let ids: Vec<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["t:c", "t:a", "u"]);
    assert_eq!(rows[1]["attributes"]["spans"], 2);
    assert_eq!(rows[2]["attributes"]["missing_parent"], "gone");
    let warning = "warning: t.json: rows without their parent in the file: 1; see their attribute `missing_parent`";
    assert!(warnings.contains(warning), "{warnings}");
}

#[test]
fn a_span_that_is_exported_twice_counts_once() {
    let twice = [("t", "a", "", 5), ("t", "b", "a", 6), ("t", "b", "a", 6)];
    assert_eq!(rows(&document(&twice)).0[0]["attributes"]["spans"], 2);
    let different = [("t", "a", "", 5), ("t", "a", "", 6)];
    assert_snapshot!(error(&document(&different)),
        @"t.json: trace t: two different spans have the id a; give each span its own id");
}

#[test]
fn a_cycle_of_spans_is_named() {
    let cycle = [
        ("t", "r", "", 1),
        ("t", "a", "c", 2),
        ("t", "b", "a", 3),
        ("t", "c", "b", 4),
        ("t", "d", "c", 5),
    ];
    let error = error(&document(&cycle));
    let (start, end) = (
        "t.json: trace t: the parents of the spans ",
        " form a cycle; add a span without a parent",
    );
    let ids = error
        .strip_prefix(start)
        .and_then(|it| it.strip_suffix(end))
        .unwrap_or_else(|| panic!("{error}"));
    let mut ids: Vec<_> = ids.split(", ").collect();
    ids.sort_unstable();
    assert_eq!(ids, ["`a`", "`b`", "`c`"]);
    // A span that is its own parent.
    let own = self::error(&document(&[("t", "a", "a", 1)]));
    assert!(own.contains("the spans `a` form a cycle"), "{own}");
}

#[test]
fn a_tool_that_fails_without_messages_is_a_failed_call() {
    let span = |id: &str, operation: &str, extra: Value| {
        let mut attributes =
            vec![json!({"key": "gen_ai.operation.name", "value": {"stringValue": operation}})];
        attributes.extend(extra.as_array().unwrap().clone());
        json!({"traceId": "t", "spanId": id, "name": id, "startTimeUnixNano": "1", "endTimeUnixNano": "2", "attributes": attributes,
            "parentSpanId": if id == "r" { "" } else { "r" }, "status": {"code": if id == "x" { 2 } else { 1 }}})
    };
    let tool = json!([{"key": "gen_ai.tool.name", "value": {"stringValue": "refund"}},
        {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": "{\"euros\": 40}"}}]);
    let spans = json!([
        span("r", "invoke_agent", json!([])),
        span("x", "execute_tool", tool)
    ]);
    let (rows, _) =
        rows(&json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string());
    let call = json!({"id": "x", "name": "refund", "args": {"euros": 40}});
    let expected = json!([
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "x", "content": "", "is_error": true}
    ]);
    assert_eq!(rows[0]["pred"]["trajectory"], expected);
}

#[test]
fn a_document_that_is_written_over_several_lines_is_read() {
    let value: Value = serde_json::from_str(&document(&[("t", "a", "", 1)])).unwrap();
    let (rows, _) = rows(&serde_json::to_string_pretty(&value).unwrap());
    assert_eq!(rows[0]["id"], "t");
}

#[test]
fn invalid_spans_are_named() {
    let time = document(&[("t", "a", "", 1)]).replace("\"1\"", "\"soon\"");
    assert_snapshot!(error(&time),
        @r#"t.json: line 1: span a: `startTimeUnixNano`: expected nanoseconds, found the string "soon""#);
    let id = document(&[("t", "", "", 1)]);
    assert_eq!(
        error(&id),
        "t.json: line 1: a span without `traceId` or `spanId`; add both"
    );
    let none = r#"{"resourceSpans":[]}"#;
    assert_eq!(
        error(none),
        "t.json: no spans in the file; export the spans of at least one trace"
    );
}

/// A trace of spans below a root without attributes, each one second after the other.
fn trace(spans: &[Value]) -> String {
    let attribute = |(key, value): (&String, &Value)| {
        let value = match value {
            Value::Number(_) => json!({ "intValue": value.to_string() }),
            value => json!({ "stringValue": value }),
        };
        json!({ "key": key, "value": value })
    };
    let root = json!({});
    let spans = [&root].into_iter().chain(spans).zip(1_u64..).map(|(attributes, number)| {
        let attributes: Vec<Value> = attributes.as_object().unwrap().iter().map(attribute).collect();
        json!({
            "traceId": "t", "spanId": format!("s{number}"), "parentSpanId": if number == 1 { "" } else { "s1" },
            "name": format!("span {number}"), "startTimeUnixNano": number.to_string(), "endTimeUnixNano": number.to_string(),
            "attributes": attributes,
        })
    });
    let spans: Vec<Value> = spans.collect();
    json!({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}).to_string()
}

/// A question, a call, its result and an answer, in the conventions of three programs.
#[test]
fn each_convention_becomes_the_same_trajectory() {
    let args = r#"{"q":"louvre"}"#;
    let open_llmetry = [
        json!({"gen_ai.system": "openai", "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Where?",
            "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "",
            "gen_ai.completion.0.tool_calls.0.id": "k", "gen_ai.completion.0.tool_calls.0.name": "search",
            "gen_ai.completion.0.tool_calls.0.arguments": args, "gen_ai.usage.prompt_tokens": 10, "gen_ai.usage.completion_tokens": 5}),
        json!({"traceloop.span.kind": "tool", "traceloop.entity.name": "search",
            "traceloop.entity.input": r#"{"args":[],"kwargs":{"q":"louvre"}}"#, "traceloop.entity.output": "Paris"}),
        json!({"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Where?", "gen_ai.prompt.1.role": "assistant",
            "gen_ai.prompt.1.tool_calls.0.id": "k", "gen_ai.prompt.1.tool_calls.0.name": "search",
            "gen_ai.prompt.1.tool_calls.0.arguments": args, "gen_ai.prompt.2.role": "tool", "gen_ai.prompt.2.tool_call_id": "k",
            "gen_ai.prompt.2.content": "Paris", "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "In Paris.",
            "gen_ai.usage.prompt_tokens": 20, "gen_ai.usage.completion_tokens": 3}),
    ];
    let (message, call) = (
        "llm.output_messages.0.message",
        "message.tool_calls.0.tool_call",
    );
    let open_inference = [
        json!({"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.contents.0.message_content.type": "text",
            "llm.input_messages.0.message.contents.0.message_content.text": "Where?", (format!("{message}.role")): "assistant",
            (format!("llm.output_messages.0.{call}.id")): "k", (format!("llm.output_messages.0.{call}.function.name")): "search",
            (format!("llm.output_messages.0.{call}.function.arguments")): args,
            "llm.token_count.prompt": 10, "llm.token_count.completion": 5}),
        json!({"openinference.span.kind": "TOOL", "tool.name": "search", "input.value": args, "output.value": "Paris"}),
        json!({"openinference.span.kind": "LLM", "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Where?", (format!("{message}.role")): "assistant",
            (format!("{message}.content")): "In Paris.", "llm.token_count.prompt": 20, "llm.token_count.completion": 3}),
    ];
    let question = json!({"role": "user", "content": [{"type": "text", "text": "Where?"}]});
    let vercel = [
        json!({"ai.operationId": "ai.generateText", "ai.response.text": "In Paris.", "ai.usage.promptTokens": 30}),
        json!({"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": json!([question]).to_string(),
            "ai.response.toolCalls": json!([{"toolCallType": "function", "toolCallId": "k", "toolName": "search", "args": args}]).to_string(),
            "ai.usage.promptTokens": 10, "ai.usage.completionTokens": 5}),
        json!({"ai.operationId": "ai.toolCall", "ai.toolCall.name": "search", "ai.toolCall.id": "k", "ai.toolCall.args": args,
            "ai.toolCall.result": "Paris"}),
        json!({"ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": json!([question,
                {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "k", "toolName": "search", "input": {"q": "louvre"}}]},
                {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "k", "output": {"type": "text", "value": "Paris"}}]},
            ]).to_string(), "ai.response.text": "In Paris.", "ai.usage.inputTokens": 20, "ai.usage.outputTokens": 3}),
    ];
    let expected = json!([
        {"role": "user", "content": "Where?"},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "k", "name": "search", "args": {"q": "louvre"}}]},
        {"role": "tool", "tool_call_id": "k", "content": "Paris"},
        {"role": "assistant", "content": "In Paris."}
    ]);
    for spans in [&open_llmetry[..], &open_inference[..], &vercel[..]] {
        let (rows, warnings) = rows(&trace(spans));
        assert_eq!(
            rows[0]["pred"],
            json!({"answer": "In Paris.", "trajectory": expected})
        );
        assert_eq!(
            (&rows[0]["gold"], &*warnings),
            (&json!({"question": "Where?"}), "")
        );
        assert_eq!(
            (&rows[0]["input_tokens"], &rows[0]["output_tokens"]),
            (&30.into(), &8.into())
        );
    }
}

#[test]
fn a_trace_without_messages_has_no_trajectory() {
    let unknown = trace(&[json!({"gen_ai.prompt": "x"})]);
    let silent = trace(&[
        json!({"gen_ai.operation.name": "chat"}),
        json!({"openinference.span.kind": "LLM"}),
    ]);
    for content in [unknown, silent] {
        let folder = Folder::with("t.json", content);
        let ran = folder
            .run("score --from otlp t.json -m no_loops --with-rows --max-errors 9 --out out.jsonl");
        let warning = "warning: t.json: rows without a trajectory: 1; no span below has messages as OpenTelemetry, \
                       OpenLLMetry, OpenInference or Vercel's AI SDK write them\n";
        assert!(ran.err.starts_with(warning), "{}", ran.err);
        let row: Value = serde_json::from_str(folder.read("out.jsonl").trim_end()).unwrap();
        assert_eq!(
            (&row["pred"], &row["scores"]["no_loops"]["value"]),
            (&json!({}), &json!(0.0)),
            "{row}"
        );
    }
}

#[test]
fn a_part_of_an_unknown_type_is_named() {
    let message =
        json!([{"role": "user", "parts": [{"type": "words", "content": "x"}]}]).to_string();
    let content =
        trace(&[json!({"gen_ai.operation.name": "chat", "gen_ai.input.messages": message})]);
    assert_snapshot!(error(&content),
        @"t.json: trace t: span s1: its messages: message 1: block 1: expected a block of the type `text`, `tool_use`, `tool_result` or another system's name for one of them, found `words`; write one of these, and remove anything that is not part of the message");
}

/// The outcome and the value or the error of a score that a span has under the attribute `gen_ai.evaluation.score.value`.
fn scored(value: &str) -> (String, Value) {
    let event = |value: &str| {
        format!(
            r#"{{"name":"gen_ai.evaluation.result","attributes":[{{"key":"gen_ai.evaluation.name","value":{{"stringValue":"rel"}}}}{value}]}}"#
        )
    };
    let span = |id: &str, event: &str| {
        format!(r#"{{"traceId":"{id}","spanId":"{id}","attributes":[],"events":[{event}]}}"#)
    };
    let key = r#","#.to_owned() + r#"{"key":"gen_ai.evaluation.score.value","value":"#;
    let first = match value {
        "" => String::new(),
        "no value" => event(""),
        value => event(&format!("{key}{value}}}")),
    };
    let spans = [
        span("a", &first),
        span("b", &event(&format!("{key}{{\"doubleValue\":1}}}}"))),
    ];
    let content = format!(
        r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#,
        spans.join(",")
    );
    let folder = Folder::with("t.json", content);
    let out = folder.path("rows.jsonl");
    import_file(
        ForeignFormat::Otlp,
        Epochs::Repeats,
        &folder.path("t.json"),
        &out,
    )
    .unwrap();
    let row: Value =
        serde_json::from_str(folder.read("rows.jsonl").lines().next().unwrap()).unwrap();
    let score = &row["scores"]["rel"];
    let shown = score
        .get("value")
        .filter(|it| it.is_number())
        .unwrap_or(&score["error"])
        .clone();
    (
        score["outcome"].as_str().unwrap_or_default().to_owned(),
        shown,
    )
}

/// Protobuf's JSON may have numbers as strings. Whatever is not a number is a failure with its text.
#[test]
fn a_score_that_is_not_a_number_is_a_failure() {
    for (value, expected) in [
        (r#"{"doubleValue":0}"#, json!(0.0)),
        (r#"{"doubleValue":"0"}"#, json!(0.0)),
        (r#"{"doubleValue":"2.5e-1"}"#, json!(0.25)),
        (r#"{"intValue":"0"}"#, json!(0.0)),
    ] {
        assert_eq!(scored(value), ("scored".to_owned(), expected), "{value}");
    }
    for (value, expected) in [
        (
            r#"{"doubleValue":"NaN"}"#,
            r#"the score is the string "NaN", not a number"#,
        ),
        (
            r#"{"doubleValue":"Infinity"}"#,
            r#"the score is the string "Infinity", not a number"#,
        ),
        (
            r#"{"doubleValue":null}"#,
            "the score is missing, null or NaN, not a number",
        ),
        (
            r#"{"stringValue":"0"}"#,
            r#"the score is the string "0", not a number"#,
        ),
        (
            r#"{"boolValue":false}"#,
            "the score is the boolean false, not a number",
        ),
        (
            r#"{"doubleValue":0,"intValue":"1"}"#,
            "the score is an object, not a number",
        ),
        (
            r#"{"arrayValue":{"values":[{"doubleValue":0}]}}"#,
            "the score is a list, not a number",
        ),
        (
            "no value",
            "the score is missing, null or NaN, not a number",
        ),
        (
            "",
            "the file has no score for this row, but has one for others",
        ),
    ] {
        let (outcome, error) = scored(value);
        let error = error.as_str().unwrap_or_default().to_owned();
        assert_eq!(
            (&*outcome, &*error),
            ("metric_failed", &*format!("metric `rel`: {expected}")),
            "{value}"
        );
    }
}

#[test]
fn two_values_of_one_attribute_are_an_error() {
    let twice = trace(&[json!({"gen_ai.operation.name": "chat"})]).replace(
        r#""stringValue":"chat"}}"#,
        r#""stringValue":"chat"}},{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}}"#,
    );
    assert_snapshot!(error(&twice),
        @r#"t.json: line 1: span s2: expected one value for the attribute `gen_ai.operation.name`, found the string "chat" and the string "execute_tool"; keep one"#);
}
