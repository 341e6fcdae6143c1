//! `tool_params_schema`: pointers in the feedback, schemas of the configuration and of the row,
//! invalid schemas.

use dsrs_metrics::metrics::{ToolParamsSchema, ToolSchemas};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Configure, MetricCall, Params};
use serde_json::{Value, json};

fn metric(schema: &Value) -> ToolParamsSchema {
    ToolParamsSchema::builder().schemas(ToolSchemas::new([("t", schema)]).unwrap()).build()
}

#[track_caller]
fn evaluate(metric: &ToolParamsSchema, tool: &str, params: Value) -> (f64, String) {
    let gold = example! {};
    let pred = Prediction::from_iter([("tool", Value::from(tool)), ("params", params)]);
    let scored = metric.answer(MetricCall::new(&gold, &pred)).ready().unwrap().unwrap();
    (scored.score.value, scored.feedback().unwrap_or_default().into_owned())
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
        (0.0, "the parameters: \"path\" is a required property".to_owned())
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
    assert_eq!(found, (0.0, "unknown tool `u`; expected one of `t`".to_owned()));
}

#[test]
fn a_row_may_have_its_own_schemas() {
    let gold = example! { "schemas" => json!({ "t": { "type": "integer" } }) };
    let pred = prediction! { "tool" => "t", "params" => 5 };
    assert_eq!(ToolParamsSchema::default().score(&gold, &pred).unwrap().value, 1.0);
    assert_eq!(metric(&edit()).score(&gold, &pred).unwrap().value, 1.0);
    let gold = example! { "schemas" => json!({ "t": { "type": "integre" } }) };
    let error = metric(&edit()).score(&gold, &pred).unwrap_err().to_string();
    assert!(error.contains("the schema of tool `t` is invalid: /type: "), "{error}");
    let error = ToolParamsSchema::default().score(&example! {}, &pred).unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `tool_params_schema`: no schemas; set `schemas`, or add `gold.schemas` to the row"
    );
}

#[test]
fn invalid_schemas_are_errors_before_the_first_row() {
    for (schema, part) in [
        (json!({ "type": 5 }), "/type"),
        (json!({ "$ref": "https://example.org/none.json" }), "https://example.org/none.json"),
        (json!({ "$ref": "#/$defs/none" }), "/$defs/none"),
        (json!({ "pattern": "(" }), "("),
        (json!({ "minLength": -1 }), "-1"),
    ] {
        let error = ToolSchemas::new([("t", &schema)]).unwrap_err();
        assert!(error.reason.contains(part), "{schema}: {error}");
    }
    let mut params = Params::default();
    params.insert("schemas", r#"{"t": {"type": "integre"}}"#);
    let error = ToolParamsSchema::configure(&params).unwrap_err().to_string();
    assert!(error.contains("the schema of tool `t` is invalid"), "{error}");
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
    assert_eq!(evaluate(&self::metric(&linear), "t", json!("a".repeat(5000) + "b")).0, 0.0);
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
