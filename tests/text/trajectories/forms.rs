//! The forms in which a trajectory is read, and what is wrong with a value in none of them.

use std::time::{Duration, Instant};

use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::TraceStep;
use dsrs_metrics::trajectory::Role;
use serde_json::{Value, json};

fn read(value: Value) -> Trajectory {
    Trajectory::from_json(value).unwrap_or_else(|error| panic!("{error}"))
}

fn error(value: Value) -> String {
    Trajectory::from_json(value).unwrap_err().to_string()
}

/// The role and the text of each message.
fn texts(trajectory: &Trajectory) -> Vec<(Role, &str)> {
    trajectory
        .messages()
        .iter()
        .map(|message| (message.role, &*message.text))
        .collect()
}

/// Name, arguments, result and failure of each call.
fn calls(trajectory: &Trajectory) -> Vec<(String, Value, Value, bool)> {
    let written = |call: &ToolCall| {
        let result = call.result.clone().unwrap_or_default();
        (call.name.clone(), call.args.clone(), result, call.failed)
    };
    trajectory.tool_calls().iter().map(written).collect()
}

fn call(name: &str, args: Value, result: Value, failed: bool) -> (String, Value, Value, bool) {
    (name.to_owned(), args, result, failed)
}

fn openai() -> Value {
    json!([
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Weather"}, {"type": "image_url", "image_url": {}},
            {"type": "text", "text": "in Rome?"}]},
        {"role": "assistant", "content": null, "usage": {"prompt_tokens": 20, "completion_tokens": 7}, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "weather", "arguments": "{\"city\": \"Rome\"}"}},
            {"id": "b", "type": "function", "function": {"name": "now", "arguments": ""}}]},
        {"role": "tool", "tool_call_id": "b", "content": "noon"},
        {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "21 C"}], "status": "error"},
        {"role": "assistant", "content": "Sunny."}
    ])
}

#[test]
fn openai_messages() {
    let trajectory = read(openai());
    assert_eq!(
        texts(&trajectory),
        [
            (Role::System, "Be brief."),
            (Role::User, "Weather\nin Rome?"),
            (Role::Assistant, ""),
            (Role::Tool, "noon"),
            (Role::Tool, "21 C"),
            (Role::Assistant, "Sunny."),
        ]
    );
    assert_eq!(
        calls(&trajectory),
        [
            call("weather", json!({ "city": "Rome" }), json!("21 C"), true),
            call("now", json!({}), json!("noon"), false),
        ]
    );
    assert_eq!((trajectory.steps(), trajectory.tokens()), (2, Some(27)));
    let request = json!({"model": "m", "messages": openai()});
    assert_eq!(read(request), trajectory);
    assert_eq!(read(Value::String(openai().to_string())), trajectory);
}

#[test]
fn results_without_ids_belong_to_the_calls_in_order() {
    // As in the documentation of agentevals.
    let trajectory = read(json!([
        {"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": "weather", "arguments": "{\"city\": \"Rome\"}"}}, {"function": {"name": "now", "arguments": "{}"}}]},
        {"role": "tool", "content": "21 C"},
        {"role": "tool", "content": "noon"},
        {"role": "tool", "content": "of no call"}
    ]));
    let results: Vec<_> = calls(&trajectory).into_iter().map(|call| call.2).collect();
    assert_eq!(results, ["21 C", "noon"]);
}

#[test]
fn an_id_that_is_used_again_names_the_last_call() {
    let turn = |result: &str| {
        let call = json!({"id": "call_0", "name": "next", "args": {}});
        [
            json!({"role": "assistant", "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": "call_0", "content": result}),
        ]
    };
    let mut messages = turn("one").to_vec();
    messages.extend(turn("two"));
    let unanswered = json!({"role": "assistant", "tool_calls": [{"id": "call_0", "name": "next"}]});
    messages.insert(0, unanswered);
    let results: Vec<_> = calls(&read(Value::Array(messages)))
        .into_iter()
        .map(|call| call.2)
        .collect();
    assert_eq!(results, [json!(null), json!("one"), json!("two")]);
}

#[test]
fn anthropic_messages() {
    let trajectory = read(json!([
        {"role": "user", "content": "Weather in Rome?"},
        {"role": "assistant", "usage": {"input_tokens": 5, "cache_read_input_tokens": 15, "output_tokens": 7}, "content": [
            {"type": "thinking", "thinking": "..", "signature": "x"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "a", "name": "weather", "input": {"city": "Rome"}},
            {"type": "tool_use", "id": "b", "name": "now", "input": {}}]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": "no such city", "is_error": true},
            {"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "noon"}]},
            {"type": "text", "text": "Go on."}]},
        {"role": "assistant", "content": [
            {"type": "server_tool_use", "id": "c", "name": "web_search", "input": {"query": "Rome"}},
            {"type": "web_search_tool_result", "tool_use_id": "c", "content": [{"type": "web_search_result", "url": "u"}]},
            {"type": "text", "text": "Sunny."}]}
    ]));
    assert_eq!(
        texts(&trajectory),
        [
            (Role::User, "Weather in Rome?"),
            (Role::Assistant, "I look."),
            (Role::Tool, "no such city"),
            (Role::Tool, "noon"),
            (Role::User, "Go on."),
            (Role::Assistant, "Sunny."),
            (Role::Tool, ""),
        ]
    );
    assert_eq!(
        calls(&trajectory),
        [
            call(
                "weather",
                json!({ "city": "Rome" }),
                json!("no such city"),
                true
            ),
            call("now", json!({}), json!("noon"), false),
            call("web_search", json!({ "query": "Rome" }), json!(""), false),
        ]
    );
    assert_eq!(trajectory.tokens(), Some(27));
}

#[test]
fn atif() {
    let mut root = json!({
        "schema_version": "ATIF-v1.7",
        "agent": {"name": "x", "version": "1"},
        "steps": [
            {"step_id": 1, "source": "user", "message": [{"type": "text", "text": "Weather"}]},
            {"step_id": 2, "source": "agent", "message": "I look.", "reasoning_content": "..",
                "tool_calls": [{"tool_call_id": "a", "function_name": "weather", "arguments": {"city": "Rome"}}],
                "observation": {"results": [{"source_call_id": "a", "content": "21 C"}, {"content": "of the system"}]},
                "metrics": {"prompt_tokens": 20, "completion_tokens": 7, "cached_tokens": 9}},
            {"step_id": 3, "source": "agent", "message": "Sunny.", "metrics": {"prompt_tokens": 30, "completion_tokens": 3}}
        ]
    });
    let trajectory = read(root.clone());
    assert_eq!(
        texts(&trajectory),
        [
            (Role::User, "Weather"),
            (Role::Assistant, "I look."),
            (Role::Tool, "21 C"),
            (Role::Tool, "of the system"),
            (Role::Assistant, "Sunny."),
        ]
    );
    assert_eq!(
        calls(&trajectory),
        [call(
            "weather",
            json!({ "city": "Rome" }),
            json!("21 C"),
            false
        )]
    );
    assert_eq!((trajectory.steps(), trajectory.tokens()), (2, Some(60)));
    root["final_metrics"] = json!({"total_prompt_tokens": 70, "total_completion_tokens": 12});
    assert_eq!(
        read(root).tokens(),
        Some(82),
        "the total of the format counts"
    );
}

#[test]
fn traces_calls_and_names() {
    let inputs = example! { "query" => "Rome" };
    let outputs = prediction! { "passages" => ["It is sunny."] };
    let trace = Trace {
        steps: vec![TraceStep {
            predictor: "search".to_owned(),
            inputs,
            outputs,
        }],
    };
    let of_trace = read(serde_json::to_value(&trace).unwrap());
    let passages = json!({ "passages": ["It is sunny."] });
    assert_eq!(
        calls(&of_trace),
        [call("search", json!({ "query": "Rome" }), passages, false)]
    );
    assert_eq!(read(json!({ "steps": trace })), of_trace);

    let names = read(json!({"tool_calls": ["search", "book"]}));
    assert_eq!(
        (names.tool_calls().names(), names.steps()),
        (vec!["search", "book"], 2)
    );
    for key in [
        "args",
        "arguments",
        "input_parameters",
        "input",
        "inputParameters",
        "toolInput",
        "tool_args",
        "kwargs",
        "function_args",
    ] {
        let mut listed =
            json!([{"name": "search", "output": "x"}, {"name": "book", "error": "full"}]);
        listed[0][key] = json!({ "query": "Rome" });
        let expected = [
            call("search", json!({ "query": "Rome" }), json!("x"), false),
            call("book", json!({}), json!(null), true),
        ];
        assert_eq!(calls(&read(listed.clone())), expected);
        assert_eq!(calls(&read(json!({ "tool_calls": listed }))), expected);
    }
    assert_eq!(read(json!([])), Trajectory::default());
}

/// The content of Vercel's AI SDK (two versions), Bedrock and Gemini, and the items of OpenAI's Responses.
#[test]
fn blocks_of_other_systems_are_calls_and_results() {
    let args = json!({ "city": "Rome" });
    let weather = || vec![call("weather", args.clone(), json!("21 C"), false)];
    let of = |call: Value, result: Value| json!([{"role": "assistant", "content": [call]}, {"role": "tool", "content": [result]}]);
    for messages in [
        of(
            json!({"type": "tool-call", "toolCallId": "a", "toolName": "weather", "args": args}),
            json!({"type": "tool-result", "toolCallId": "a", "toolName": "weather", "result": "21 C"}),
        ),
        of(
            json!({"type": "tool-call", "toolCallId": "a", "toolName": "weather", "input": args, "providerExecuted": false}),
            json!({"type": "tool-result", "toolCallId": "a", "toolName": "weather", "output": {"type": "text", "value": "21 C"}}),
        ),
        json!([{"role": "assistant", "parts": [{"type": "step-start"},
            {"type": "tool-weather", "toolCallId": "a", "state": "output-available", "input": args, "output": "21 C"}]}]),
        json!([{"role": "assistant", "content": "", "toolInvocations": [
            {"toolCallId": "a", "toolName": "weather", "state": "result", "args": args, "result": "21 C"}]}]),
        json!([{"role": "assistant", "content": [{"text": "I look."}, {"toolUse": {"toolUseId": "a", "name": "weather", "input": args}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": "21 C", "status": "success"}}]}]),
        json!([{"role": "assistant", "parts": [{"functionCall": {"name": "weather", "args": args}, "thoughtSignature": "x"}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "weather", "response": "21 C"}}]}]),
        json!([{"type": "reasoning", "summary": []},
            {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "weather", "arguments": args.to_string(), "status": "completed"},
            {"type": "function_call_output", "call_id": "a", "output": "21 C"}]),
    ] {
        assert_eq!(calls(&read(messages.clone())), weather(), "{messages}");
    }
    let failed = of(
        json!({"type": "tool-call", "toolCallId": "a", "toolName": "weather", "input": args}),
        json!({"type": "tool-result", "toolCallId": "a", "output": {"type": "error-text", "value": "no such city"}}),
    );
    assert_eq!(
        calls(&read(failed)),
        [call("weather", args, json!("no such city"), true)]
    );
}

/// LangChain, LlamaIndex, inspect_ai, a ReAct agent, OpenAI's custom tools; empty values and other keys do not count.
#[test]
fn keys_of_other_systems_are_parts_of_a_call() {
    for one in [
        json!({"name": "f", "args": {"a": 1}, "id": "x", "type": "tool_call"}),
        json!({"tool_id": "x", "tool_name": "f", "tool_kwargs": {"a": 1}}),
        json!({"id": "x", "function": "f", "arguments": {"a": 1}, "parse_error": null, "view": null, "type": "function"}),
        json!({"action": "f", "action_input": "{\"a\": 1}", "log": "I call f."}),
        json!({"id": "x", "type": "custom", "custom": {"name": "f", "input": "{\"a\": 1}"}}),
        json!({"name": "f", "args": {"a": 1}, "input": {"a": 1}, "arguments": {}, "unknown": "", "other": []}),
    ] {
        assert_eq!(
            calls(&read(json!([one.clone()]))),
            [call("f", json!({ "a": 1 }), json!(null), false)],
            "{one}"
        );
    }
}

#[test]
fn messages_of_gemini_langchain_sharegpt_and_responses_have_the_same_calls() {
    let args = json!({"q": "a"});
    let written = args.to_string();
    let question = json!({"type": "human", "content": "hi"});
    let langchain = json!({"content": "", "tool_calls": [{"name": "search", "args": args, "id": "1", "type": "tool_call"}]});
    let with = |key: &str, value: &str| {
        let mut message = langchain.clone();
        message[key] = value.into();
        message
    };
    let class = |name: &str| json!(["langchain", "schema", "messages", name]);
    let response = json!([{"type": "function_call", "call_id": "1", "name": "search", "arguments": written},
        {"type": "function_call_output", "call_id": "1", "output": "found"}]);
    for value in [
        json!({"contents": [{"role": "model", "parts": [{"functionCall": {"name": "search", "args": args}}]},
            {"role": "tool", "parts": [{"functionResponse": {"name": "search", "response": "found"}}]}]}),
        json!([question, with("type", "ai"), {"type": "tool", "content": "found", "tool_call_id": "1"}]),
        json!([{"type": "ai", "data": langchain}, {"type": "tool", "data": {"content": "found", "tool_call_id": "1"}}]),
        json!([{"lc": 1, "type": "constructor", "id": class("AIMessage"), "kwargs": langchain},
            {"lc": 1, "type": "constructor", "id": class("ToolMessage"), "kwargs": {"content": "found", "tool_call_id": "1"}}]),
        json!([{"type": "AIMessageChunk", "content": "", "additional_kwargs": {"tool_calls": [{"id": "1", "type": "function",
            "function": {"name": "search", "arguments": written}}]}}, {"type": "tool", "content": "found", "tool_call_id": "1"}]),
        json!({"conversations": [{"from": "human", "value": "hi"}, {"from": "function_call", "value": langchain["tool_calls"][0].to_string()},
            {"from": "observation", "value": "found"}, {"from": "gpt", "value": "done"}]}),
        response.clone(),
        json!({"object": "response", "output": response}),
        json!([{"type": "search_call", "id": "1", "status": "completed", "action": args, "results": "found"}]),
    ] {
        let expected = [call("search", args.clone(), json!("found"), false)];
        assert_eq!(calls(&read(value.clone())), expected, "{value}");
    }
    assert_eq!(
        error(json!([{"from": "robot", "value": "x"}])),
        "message 1: unknown role `robot`; write `system`, `user`, `assistant` or `tool`"
    );
    assert_eq!(
        error(json!([{"from": "function_call", "value": "{"}])),
        "message 1: `value` of a function call is not JSON: EOF while parsing an object at line 1 column 1"
    );
}

#[test]
fn arguments_that_are_not_an_object_remain_as_the_model_wrote_them() {
    let trajectory = read(json!([{"role": "assistant", "tool_calls": [
        {"function": {"name": "ok", "arguments": "{}"}},
        {"function": {"name": "cut", "arguments": "{\"city\":\"Par"}},
        {"function": {"name": "twice", "arguments": "{\"a\": 1, \"a\": 2}"}},
        {"function": {"name": "text", "arguments": "\"Rome\""}},
        {"function": {"name": "list", "arguments": [1]}},
        {"id": "x", "function": "inspect", "arguments": {}, "parse_error": "Error parsing {"}],
        "invalid_tool_calls": [{"name": "invalid", "args": "{", "id": "y", "error": "no JSON"}]}]));
    let args: Vec<Value> = calls(&trajectory).into_iter().map(|call| call.1).collect();
    assert_eq!(
        args,
        [
            json!({}),
            json!("{\"city\":\"Par"),
            json!("{\"a\": 1, \"a\": 2}"),
            json!("\"Rome\""),
            json!([1]),
            json!("Error parsing {"),
            json!("{"),
        ]
    );
    assert_eq!(
        trajectory.malformed_args().collect::<Vec<_>>(),
        [
            "the arguments of call 2 to `cut` are not JSON: EOF while parsing a string at line 1 column 12",
            "the arguments of call 3 to `twice` are not JSON: duplicate key `a` at line 1 column 16",
            "the arguments of call 4 to `text` are not an object: found the string \"Rome\"",
            "the arguments of call 5 to `list` are not an object: found a list",
            "the arguments of call 6 to `inspect` are not JSON: expected value at line 1 column 1",
            "the arguments of call 7 to `invalid` are not JSON: EOF while parsing an object at line 1 column 1",
        ]
    );
}

#[test]
fn a_trajectory_that_is_written_is_read_again() {
    let mut atif = json!({"schema_version": "ATIF-v1.0", "steps": [
        {"source": "agent", "message": "", "tool_calls": [{"tool_call_id": "a", "function_name": "f", "arguments": {"x": 1}}],
            "observation": {"results": [{"source_call_id": "a", "content": "1"}]}}]});
    for value in [
        openai(),
        json!([{"name": "f", "args": "{cut off"}, {"name": "g", "args": [1]}]),
        json!([{"name": "f", "result": {"x": [1]}, "failed": true}]),
        atif.clone(),
    ] {
        let trajectory = read(value);
        assert_eq!(read(serde_json::to_value(&trajectory).unwrap()), trajectory);
    }
    atif["final_metrics"] = json!({"total_prompt_tokens": 7});
    let trajectory = read(atif);
    assert_eq!(read(serde_json::to_value(&trajectory).unwrap()), trajectory);
}

#[test]
fn mistakes_name_the_message_and_what_to_write() {
    let user = json!({"role": "user", "content": "Hello"});
    let calling =
        |call: Value| json!([user, {"role": "assistant", "tool_calls": [{"name": "ok"}, call]}]);
    let form = "expected messages with `role`, calls with `name`, an ATIF object with `schema_version`, or steps with `predictor`; \
                found ";
    for (value, expected) in [
        (json!(7), format!("{form}the number 7")),
        (json!([7]), format!("{form}a list whose first item is the number 7")),
        (json!([{"text": "x", "by": "user"}]), format!("{form}a list of objects with `by`, `text`")),
        (json!({}), format!("{form}an object without keys")),
        (json!("[1"), "the string is not JSON: EOF while parsing a list at line 1 column 2".to_owned()),
        (json!("\"x\""), format!("{form}a string")),
        (json!({"schema_version": "2"}),
            "`schema_version`: expected `ATIF-v1.0` or a later 1.x, found the string \"2\"".to_owned()),
        (json!({"schema_version": "ATIF-v1.4"}), "an ATIF object without `steps`".to_owned()),
        (json!({"messages": [user], "tool_calls": [{"name": "f"}]}),
            "expected one list, found `messages` and `tool_calls`; remove one".to_owned()),
        (json!({"messages": 3}), "`messages`: expected a list, found the number 3".to_owned()),
        (json!([{"role": "critic"}]),
            "message 1: unknown role `critic`; write `system`, `user`, `assistant` or `tool`".to_owned()),
        (json!([user, {"content": "x"}]), "message 2: expected an object with `role`, found an object with `content`".to_owned()),
        (json!([user, "x"]), "message 2: expected an object with `role`, found the string \"x\"".to_owned()),
        (json!(["x", user]), format!("{form}a list of strings; write `{{\"tool_calls\": [..]}}` if they are the names of tools")),
        (json!({"tool_calls": ["x", user]}), "name 2: expected the name of a tool, found an object with `content`, `role`".to_owned()),
        (json!([{"role": 1}]), "message 1: `role`: expected a string, found the number 1".to_owned()),
        (json!([{"role": "user", "content": 1}]),
            "message 1: `content`: expected a string or a list of blocks, found the number 1".to_owned()),
        (json!([{"role": "user", "content": [{"words": "x"}]}]),
            "message 1: block 1: a block without `type`; write `text`, `tool_use` or `tool_result`".to_owned()),
        (json!([{"role": "assistant", "function_call": {"name": "f", "arguments": ""}}]),
            "message 1: `function_call` is not supported; write `tool_calls`".to_owned()),
        (json!([{"role": "user", "tool_calls": [{"name": "f"}]}]),
            "message 1: tool calls in a message that is not the agent's; write the role `assistant`".to_owned()),
        (json!([{"role": "assistant", "content": [{"type": "call", "name": "f"}]}]),
            "message 1: block 1: expected a block of the type `text`, `tool_use`, `tool_result` or another system's name for one of \
             them, found `call`; write one of these, and remove anything that is not part of the message".to_owned()),
        (calling(json!({"args": {}})), "message 2: call 2: a call without `name`; add the name of the tool".to_owned()),
        (calling(json!({"function": {"name": "f", "argumentz": {"a": 1}}, "id": "x"})),
            "message 2: call 2: call of `f`: expected `name`, `args`, `id`, `result`, `failed` or another system's name for one of \
             them, found `argumentz` with an object; write arguments as `args`, and remove anything that is not part of the call".to_owned()),
        (calling(json!({"name": "f", "args": {"a": 1}, "input": {"a": 2}})),
            "message 2: call 2: expected one value, found different ones in `args` and `input`; remove one".to_owned()),
        (calling(json!(["f"])), "message 2: call 2: expected an object, found a list".to_owned()),
        (json!([user, {"role": "tool", "tool_call_id": "x", "content": ""}]),
            "message 2: no earlier call without a result has the id `x`; write the id of such a call".to_owned()),
        (json!([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x"}]}]),
            "message 1: no earlier call without a result has the id `x`; write the id of such a call".to_owned()),
        (json!([{"role": "assistant", "tool_calls": [{"id": "x", "name": "f"}]},
                {"role": "tool", "tool_call_id": "x", "content": ""}, {"role": "tool", "tool_call_id": "x", "content": ""}]),
            "message 3: no earlier call without a result has the id `x`; write the id of such a call".to_owned()),
        (json!([{"role": "assistant", "usage": {"prompt_tokens": -1}}]),
            "message 1: `prompt_tokens`: expected a number of tokens, found the number -1".to_owned()),
        (json!({"schema_version": "ATIF-v1.4", "steps": [{"source": "critic"}]}),
            "step 1: unknown role `critic`; write `system`, `user`, `assistant` or `tool`".to_owned()),
        (json!([{"predictor": "p", "inputs": 3}]), "step 1: `inputs`: expected an object, found the number 3".to_owned()),
        (json!([{"name": "f"}, {"name": 3}]), "call 2: `name`: expected a string, found the number 3".to_owned()),
    ] {
        assert_eq!(error(value.clone()), expected, "{value}");
    }
}

/// A trajectory of 100,000 messages takes linear time, and no stack.
#[test]
fn many_messages_and_many_calls_of_one_message() {
    let start = Instant::now();
    let mut messages = Vec::new();
    for step in 0..50_000 {
        let id = format!("call_{step}");
        messages.push(json!({"role": "assistant", "tool_calls": [{"id": id, "name": "next", "args": {"step": step}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": "ok"}));
    }
    let trajectory = read(Value::Array(messages));
    assert_eq!(
        (trajectory.messages().len(), trajectory.steps()),
        (100_000, 50_000)
    );
    assert!(
        trajectory
            .tool_calls()
            .all(|call| call.result == Some("ok".into()))
            .is_met()
    );

    let calls: Vec<Value> = (0..100_000)
        .map(|call| json!({"id": call.to_string(), "name": "f"}))
        .collect();
    let results = (0..100_000)
        .rev()
        .map(|call| json!({"role": "tool", "tool_call_id": call.to_string(), "content": call}));
    let mut messages = vec![json!({"role": "assistant", "tool_calls": calls})];
    messages.extend(results);
    let trajectory = read(Value::Array(messages));
    let last = trajectory
        .tool_calls()
        .iter()
        .last()
        .unwrap()
        .result
        .clone();
    assert_eq!(last, Some(json!(99_999)));
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "{:?}",
        start.elapsed()
    );
}

/// Arguments are JSON in a string in a string: each has its own limit of nesting.
#[test]
fn deep_nesting_is_an_error() {
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let calling = |args: String| json!([{"name": "f", "args": args}]);
    assert_eq!(read(calling(deep(127))).tool_calls().len(), 1);
    let malformed: Vec<_> = read(calling(deep(128))).malformed_args().collect();
    assert_eq!(
        malformed,
        [
            "the arguments of call 1 to `f` are not JSON: recursion limit exceeded at line 1 column 128"
        ]
    );
    assert!(
        error(Value::String(deep(100_000)))
            .starts_with("the string is not JSON: recursion limit exceeded")
    );
}
