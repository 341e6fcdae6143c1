//! The estimate of each shipped judge, compared with what a run of it calls and pays: a token has one byte, so that no call costs more.

use dsrs_metrics::Evaluate;
use dsrs_metrics::contract::{Params, Settings};
use dsrs_metrics::judge::Models;
use dsrs_metrics::lm::{Ledger, LmBuilder, LmEstimate, Price, Prices};
use dsrs_metrics::metrics::Registry;
use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::Pair;
use dsrs_metrics::runs::EvaluationResult;
use serde_json::{Value, json};

use crate::plain;
use crate::server::{Answer, Received, Server, chat};

const MODEL: &str = "openai:m";
const EMBEDDER: &str = "openai:e";

/// Rows with the fields of every judge: empty and long texts, no context and three, no turn and two.
fn rows() -> Vec<Pair> {
    let long = "Paris is the capital of France. ".repeat(40);
    let messages = json!([
        { "role": "user", "content": "Where?" },
        { "role": "assistant", "content": "In Paris.", "tool_calls": [{ "name": "find", "arguments": {} }] },
        { "role": "user", "content": "And then?" },
        { "role": "assistant", "content": "To Rome." },
    ]);
    let row = |id: &str, text: &str, contexts: Value, messages: &Value| {
        let gold = json!({ "question": "Where?", "answer": text, "response": text, "task": "Book it.", "topics": ["travel"],
            "goal": "It is booked.", "role": "a clerk" });
        let pred = json!({ "answer": text, "response": text, "context": contexts,
            "conversation": messages, "trajectory": messages });
        let fields = |value: Value| value.as_object().unwrap().clone();
        let (gold, pred) = (fields(gold).into_iter(), fields(pred).into_iter());
        Pair::new(id, gold.collect::<Example>(), pred.collect::<Prediction>())
    };
    vec![
        row(
            "three contexts",
            "In Paris.",
            json!(["a", "b", "c"]),
            &messages,
        ),
        row("long", &long, json!([long]), &messages),
        row("nothing", "", json!([]), &json!([])),
    ]
}

/// A value of this schema: lists have two items, and lists of numbers, which cite, none.
fn value(schema: &Value, root: &Value) -> Value {
    if let Some(name) = schema["$ref"].as_str() {
        return value(root.pointer(name.trim_start_matches('#')).unwrap(), root);
    }
    if let Some(constant) = schema.get("const") {
        return constant.clone();
    }
    if let Some(label) = schema["enum"].as_array().and_then(|labels| labels.first()) {
        return label.clone();
    }
    if let Some(first) = ["anyOf", "oneOf"]
        .iter()
        .find_map(|key| schema[*key].as_array())
    {
        return value(&first[0], root);
    }
    match schema["type"]
        .as_str()
        .or_else(|| schema["type"][0].as_str())
    {
        Some("object") => {
            let fields = schema["properties"].as_object().unwrap().iter();
            fields
                .map(|(name, schema)| (name.clone(), value(schema, root)))
                .collect()
        }
        Some("array") if schema["items"]["type"] == "integer" => json!([]),
        Some("array") => (1..=2)
            .map(|index| numbered(value(&schema["items"], root), index))
            .collect(),
        Some("boolean") => json!(true),
        Some("integer" | "number") => json!(1),
        Some("string") => json!("Some words of the judge."),
        other => panic!("{other:?} in {schema}"),
    }
}

fn numbered(mut item: Value, index: usize) -> Value {
    if let Some(number) = item.get_mut("item") {
        *number = json!(index);
    }
    item
}

/// Replies to any judge. A list whose length is wrong has the right one in the repair, whose message names it.
fn reply(received: &Received) -> Answer {
    if let Some(texts) = received.body["input"].as_array() {
        let data = (0..texts.len()).map(|index| json!({ "index": index, "embedding": [1.0, 2.0] }));
        let tokens: usize = texts.iter().map(|text| text.as_str().unwrap().len()).sum();
        let data: Vec<Value> = data.collect();
        return Answer::json(
            200,
            &json!({ "data": data, "usage": { "prompt_tokens": tokens, "total_tokens": tokens } }),
        );
    }
    let schema = &received.body["response_format"]["json_schema"]["schema"];
    let mut answer = value(schema, schema);
    if let Some(ends_before_the_vectors) = answer.get_mut("noncommittal") {
        *ends_before_the_vectors = json!(false);
    }
    for flaw in received.prompt().split("; ") {
        let Some((name, after)) = flaw.split_once("` must have exactly one item for each of the ")
        else {
            continue;
        };
        let name = name.rsplit_once('`').unwrap().1;
        let count = after.split_once(' ').unwrap().0.parse().unwrap();
        let item = answer[name][0].clone();
        answer[name] = (1..=count)
            .map(|index| numbered(item.clone(), index))
            .collect();
    }
    let text = answer.to_string();
    let messages = received.body["messages"].as_array().unwrap();
    let prompt: usize = messages
        .iter()
        .map(|message| message["content"].as_str().unwrap().len())
        .sum();
    let mut reply = chat(&text, "stop");
    reply["usage"] = json!({ "prompt_tokens": prompt, "completion_tokens": text.len() });
    Answer::json(200, &reply)
}

/// Scores the rows with the models of a server, as these functions build them.
async fn run(
    metric: &str,
    server: &Server,
    build: impl Fn(LmBuilder) -> LmBuilder,
) -> EvaluationResult {
    let price = || Price {
        input: 1.0,
        output: 2.0,
        cached_input: None,
    };
    let prices = Prices::empty().with(MODEL, price()).with(EMBEDDER, price());
    let lm = |id| build(plain(id, &server.url("/v1")).prices(prices.clone()));
    let embedder = lm(EMBEDDER).build_embedder().unwrap();
    let models = Models::new(lm(MODEL).build().unwrap()).with_embedder(embedder);
    let settings = Settings::new().with(models);
    let metric = settings
        .clone()
        .scope(async { Registry::builtin().create(metric, &Params::default()) })
        .await
        .unwrap();
    let evaluate = Evaluate::builder().metrics([metric]).build().unwrap();
    settings
        .scope(async { evaluate.score(rows()).await })
        .await
        .unwrap()
}

#[tokio::test]
async fn no_shipped_judge_makes_a_call_or_costs_an_amount_that_its_estimate_lacks() {
    let server = Server::start(reply).await;
    let registry = Registry::builtin();
    let groups = [
        "answers",
        "judges",
        "retrieval-augmented generation",
        "conversations",
        "tool calls and agents",
    ];
    let groups = registry
        .groups()
        .filter(|(group, _)| groups.contains(group));
    let names = groups
        .flat_map(|(_, entries)| entries)
        .filter(|entry| entry.create(&Params::default()).is_ok())
        .map(|entry| entry.spec().name.to_owned());
    let mut judges = 0;
    for name in names {
        let (estimate, ledger, before) =
            (LmEstimate::new(), Ledger::new(), server.received().len());
        let result = run(&name, &server, |lm| lm.estimate(estimate.clone())).await;
        assert_eq!(
            (result.rows, server.received().len()),
            (3, before),
            "{name}"
        );
        let estimated = estimate.total();
        if estimated.calls == 0 {
            continue;
        }
        let result = run(&name, &server, |lm| lm.ledger(ledger.clone())).await;
        assert_eq!(result.failed_rows, 0, "{name}: {:?}", result.first_error);
        let received = server.received().split_off(before);
        let repairs = received
            .iter()
            .filter(|call| call.prompt().starts_with("Your previous reply is"))
            .count();
        let (calls, paid) = ((received.len() - repairs) as u64, ledger.total());
        assert_eq!(paid.calls, received.len() as u64);
        assert!(
            repairs > 0 || paid.cost_msats <= estimated.replies_msats,
            "{name}: {paid:?} {estimated:?}"
        );
        assert_eq!(calls, estimated.calls, "{name}: without repairs");
        judges += 1;
    }
    assert_eq!(judges, 28);
}
