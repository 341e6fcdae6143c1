//! `tool_params_schema`: pointers in the feedback, schemas of the configuration and of the row,
//! invalid schemas.

use dsrs_metrics::contract::{Configure, MetricCall, Params};
use dsrs_metrics::metrics::{ToolParamsSchema, ToolSchemas};
use dsrs_metrics::prelude::*;
use serde_json::{Value, json};

fn metric(schema: &Value) -> ToolParamsSchema {
    ToolParamsSchema::builder()
        .schemas(ToolSchemas::new([("t", schema)]).unwrap())
        .build()
}

#[track_caller]
fn evaluate(metric: &ToolParamsSchema, tool: &str, params: Value) -> (f64, String) {
    let gold = example! {};
    let pred = Prediction::from_iter([("tool", Value::from(tool)), ("params", params)]);
    let scored = metric
        .answer(MetricCall::new(&gold, &pred))
        .ready()
        .unwrap()
        .unwrap();
    (
        scored.score.value,
        scored.feedback().unwrap_or_default().into_owned(),
    )
}

fn edit() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": { "type": "string", "minLength": 1 },
            "lines": { "type": "array", "items": { "type": "integer" } },
        },
        "required": ["path"],
        "additionalProperties": false,
    })
}

#[test]
fn every_error_has_its_pointer() {
    let metric = metric(&edit());
    assert_eq!(
        evaluate(&metric, "t", json!({ "path": "a", "lines": [1, 2.0] })),
        (1.0, String::new())
    );
    let (value, feedback) = evaluate(&metric, "t", json!({ "path": "", "lines": [1, "x"] }));
    assert_eq!(value, 0.0);
    assert_eq!(
        feedback,
        "/lines/1: \"x\" is not of type \"integer\"; /path: \"\" is shorter than 1 character"
    );
    assert_eq!(
        evaluate(&metric, "t", json!({})),
        (
            0.0,
            "the parameters: \"path\" is a required property".to_owned()
        )
    );
}

#[test]
fn parameters_may_be_a_json_string() {
    let metric = metric(&edit());
    assert_eq!(evaluate(&metric, "t", json!("{\"path\": \"a\"}")).0, 1.0);
    assert_eq!(evaluate(&metric, "t", json!("{\"path\": 1}")).0, 0.0);
    assert_eq!(
        evaluate(&metric, "t", json!("{\"path\"")).1,
        "the parameters: \"{\\\"path\\\"\" is not of type \"object\""
    );
    let deep = "[".repeat(100_000);
    assert_eq!(evaluate(&metric, "t", json!(deep)).0, 0.0);
}

#[test]
fn an_unknown_tool_fails() {
    let found = evaluate(&metric(&edit()), "u", json!({}));
    assert_eq!(
        found,
        (0.0, "unknown tool `u`; expected one of `t`".to_owned())
    );
}

#[test]
fn a_row_may_have_its_own_schemas() {
    let gold = example! { "schemas" => json!({ "t": { "type": "integer" } }) };
    let pred = prediction! { "tool" => "t", "params" => 5 };
    assert_eq!(
        ToolParamsSchema::default()
            .score(&gold, &pred)
            .unwrap()
            .value,
        1.0
    );
    assert_eq!(metric(&edit()).score(&gold, &pred).unwrap().value, 1.0);
    let gold = example! { "schemas" => json!({ "t": { "type": "integre" } }) };
    let error = metric(&edit()).score(&gold, &pred).unwrap_err().to_string();
    assert!(
        error.contains("the schema of tool `t` is invalid: /type: "),
        "{error}"
    );
    let error = ToolParamsSchema::default()
        .score(&example! {}, &pred)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `tool_params_schema`: no schemas; set `schemas`, or add `gold.schemas` to the row"
    );
}

#[test]
fn invalid_schemas_are_errors_before_the_first_row() {
    for (schema, part) in [
        (json!({ "type": 5 }), "/type"),
        (
            json!({ "$ref": "https://example.org/none.json" }),
            "https://example.org/none.json",
        ),
        (json!({ "$ref": "#/$defs/none" }), "/$defs/none"),
        (json!({ "pattern": "(" }), "("),
        (json!({ "minLength": -1 }), "-1"),
    ] {
        let error = ToolSchemas::new([("t", &schema)]).unwrap_err();
        assert!(error.reason.contains(part), "{schema}: {error}");
    }
    let mut params = Params::default();
    params.insert("schemas", r#"{"t": {"type": "integre"}}"#);
    let error = ToolParamsSchema::configure(&params)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the schema of tool `t` is invalid"),
        "{error}"
    );
}

#[test]
fn catastrophic_backtracking_fails_its_row_in_time() {
    let schema = json!({ "type": "string", "pattern": "^(?=(a+)+$)(?=(a|aa)+$)(\\w+\\s?)*\\1!$" });
    let metric = metric(&schema);
    let started = std::time::Instant::now();
    let pred = prediction! { "tool" => "t", "params" => json!(format!("{}b", "a".repeat(5000))) };
    let outcome = metric.score(&example! {}, &pred);
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
    match outcome {
        Ok(score) => assert_eq!(score.value, 0.0),
        Err(error) => assert!(error.to_string().contains("takes too long"), "{error}"),
    }
    let linear = json!({ "type": "string", "pattern": "^(a+)+$" });
    assert_eq!(
        evaluate(&self::metric(&linear), "t", json!("a".repeat(5000) + "b")).0,
        0.0
    );
}

#[test]
fn a_recursive_schema_is_followed_to_the_depth_of_the_parameters() {
    let schema = json!({ "type": "array", "items": { "$ref": "#" } });
    let mut deep = json!([]);
    for _ in 0..100 {
        deep = json!([deep]);
    }
    assert_eq!(evaluate(&metric(&schema), "t", deep).0, 1.0);
}

/// 26 definitions; each refers to the next one twice.
fn doubling(applicator: &str) -> Value {
    let next = |at: usize| json!({ "$ref": format!("#/definitions/a{at}") });
    let definitions: serde_json::Map<String, Value> = (0..26)
        .map(|at| {
            (
                format!("a{at}"),
                json!({ applicator: [next(at + 1), next(at + 1)] }),
            )
        })
        .chain([("a26".to_owned(), json!({ "type": "string" }))])
        .collect();
    json!({ "definitions": definitions, "$ref": "#/definitions/a0" })
}

#[test]
fn validation_that_takes_exponential_time_fails_at_its_deadline() {
    let metric = metric(&doubling("oneOf"));
    assert_eq!(
        evaluate(&metric, "t", json!({ "x": 1 })),
        (0.0, "validation took longer than 5 s".to_owned())
    );
}

/// The longest chain of references that is allowed, at each level of the deepest parameters.
#[test]
fn the_deepest_recursion_is_within_the_stack() {
    let mut defs: serde_json::Map<String, Value> = (0..990)
        .map(|at| {
            (
                format!("a{at}"),
                json!({ "allOf": [{ "$ref": format!("#/$defs/a{}", at + 1) }] }),
            )
        })
        .collect();
    defs.insert(
        "a990".to_owned(),
        json!({ "items": { "$ref": "#/$defs/a0" } }),
    );
    let metric = metric(&json!({ "$defs": defs, "$ref": "#/$defs/a0" }));
    let params = (0..120).fold(json!([]), |inner, _| json!([inner]));
    assert_eq!(evaluate(&metric, "t", params), (1.0, String::new()));
    let chain: serde_json::Map<String, Value> = (0..20_000)
        .map(|at| {
            (
                format!("a{at}"),
                json!({ "$ref": format!("#/definitions/a{}", at + 1) }),
            )
        })
        .chain([("a20000".to_owned(), json!({}))])
        .collect();
    let schema = json!({ "definitions": chain, "$ref": "#/definitions/a0" });
    let error = ToolSchemas::new([("t", &schema)]).unwrap_err();
    assert!(
        error.reason.contains("it has more than 1000 references"),
        "{error}"
    );
}

#[test]
fn large_patterns_are_invalid_alone_and_together() {
    let many: serde_json::Map<String, Value> = (0..500)
        .map(|at| (format!(r"\p{{L}}{{0,{at}}}"), json!({})))
        .collect();
    for schema in [
        json!({ "patternProperties": many }),
        json!({ "properties": { "a": { "pattern": r"\p{L}{20000}" } } }),
        json!({ "properties": { "a": { "pattern": r"(\p{L}{1,1000}){1,1000}" } } }),
        json!({ "items": [{ "pattern": "((a{1000}){1000}){1000}" }] }),
        json!({ "pattern": r"(?=(\p{L}{1,1000}){1,10})a" }),
    ] {
        let error = ToolSchemas::new([("t", &schema)]).unwrap_err();
        assert!(
            error.reason.contains("use smaller repetition counts"),
            "{error}"
        );
        assert!(error.reason.len() < 1_000, "{error}");
    }
    let honest =
        json!({ "properties": { "a": { "pattern": r"^[\w-]{1,256}@(?!x)\p{L}{1,128}$" } } });
    assert_eq!(
        evaluate(&metric(&honest), "t", json!({ "a": "b-1@é" })).0,
        1.0
    );
    assert_eq!(
        evaluate(&metric(&honest), "t", json!({ "a": "b-1@xa" })).0,
        0.0
    );
}

#[test]
fn feedback_has_some_kilobytes_whatever_the_values() {
    let schema = json!({ "properties": { "a": { "items": { "type": "string" } } } });
    let metric = metric(&schema);
    let long = "é".repeat(1_000_000);
    for params in [
        json!({ "a": vec![json!(vec![0; 300_000]); 2] }),
        json!({ "a": vec![json!({ &long: 1 }); 20] }),
        json!({ "a": vec![1; 100_000] }),
    ] {
        let (value, feedback) = evaluate(&metric, "t", params);
        assert_eq!(value, 0.0);
        assert!(feedback.len() < 5_000, "{}", feedback.len());
        assert!(feedback.starts_with("/a/0: "), "{feedback}");
    }
    let (_, feedback) = evaluate(&metric, &long, json!({}));
    assert!(feedback.starts_with("unknown tool `éé") && feedback.len() < 1_000);
    assert!(
        feedback.ends_with("é ..`; expected one of `t`"),
        "{feedback}"
    );
}
