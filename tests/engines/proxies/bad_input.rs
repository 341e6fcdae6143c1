//! Values and strings nested 100,000 levels deep, patterns too large to compile, unknown drafts,
//! missing fields: each gives a score or an error with a reason, and never ends the process.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use dsrs_metrics::contract::{Configure, Params};
use dsrs_metrics::metrics::{
    AnswerExactMatch, Diff, DiffStrictness, Format, JsonFieldAccuracy, Keyword, Length, Syntax,
    ToolParamsSchema, ToolSchemas, WasRepeated, same_value,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::syntax::Language;
use serde_json::{Value, json};

use super::evaluate;

const DEEP: usize = 100_000;

/// Nested lists or objects. Dropping such a value recursively would overflow the stack.
struct Nested(Value);

impl Nested {
    fn lists() -> Self {
        Self((0..DEEP).fold(json!(1), |inner, _| Value::Array(vec![inner])))
    }

    fn objects() -> Self {
        let object = |inner| Value::Object([("a".to_owned(), inner)].into_iter().collect());
        Self((0..DEEP).fold(json!(1), |inner, _| object(inner)))
    }
}

/// Drops a value of any depth without recursion.
fn dismantle(mut value: Value) {
    loop {
        value = match value {
            Value::Array(mut items) if !items.is_empty() => items.swap_remove(0),
            Value::Object(mut fields) if !fields.is_empty() => fields.remove("a").unwrap(),
            _ => return,
        };
    }
}

/// Adds a deep field to the row while the metric is evaluated.
fn with_deep<T>(
    row: &mut Prediction,
    field: &str,
    value: Value,
    evaluate: impl Fn(&Prediction) -> T,
) -> T {
    row.data.insert(field, value);
    // The value is dismantled after a panic too, so that a failure is not reported as a stack
    // overflow.
    let result = catch_unwind(AssertUnwindSafe(|| evaluate(row)));
    dismantle(row.data.remove(field).unwrap());
    result.unwrap_or_else(|panic| resume_unwind(panic))
}

fn error_of<M: Metric>(metric: &M, gold: &Example, pred: &Prediction) -> String {
    let scored = metric.answer(MetricCall::new(gold, pred)).ready().unwrap();
    scored.expect_err("no score").to_string()
}

#[test]
fn a_value_too_deep_to_serialize_is_an_error_of_each_proxy() {
    let length = Length::builder().max_chars(10).build();
    let keyword = Keyword::builder().required(["a"]).build();
    let metrics: [&dyn Metric; 5] = [
        &Format::default(),
        &keyword,
        &length,
        &Syntax::default(),
        &Diff::default(),
    ];
    let gold = example! { "answer" => "1" };
    for metric in metrics {
        for make in [Nested::lists, Nested::objects] {
            let error = with_deep(&mut prediction! {}, "answer", make().0, |pred| {
                assert!(!metric.can_evaluate(&gold, pred) || metric.name() == "diff");
                error_of(&metric, &gold, pred)
            });
            assert_eq!(
                error,
                format!(
                    "metric `{}`: field `pred.answer`: expected a string, or a value that can be written as JSON, found a value nested more than 128 levels deep",
                    metric.name()
                )
            );
        }
    }
    let whole = Format::builder().field("*").build();
    let error = with_deep(&mut prediction! {}, "answer", Nested::lists().0, |pred| {
        error_of(&whole, &gold, pred)
    });
    assert!(
        error.contains("`pred.*`") && error.contains("128 levels"),
        "{error}"
    );
}

#[test]
fn a_value_too_deep_to_traverse_is_an_error() {
    let schemas = ToolSchemas::new([("t", &json!({ "type": "array" }))]).unwrap();
    let tool = ToolParamsSchema::builder().schemas(schemas).build();
    let error = with_deep(
        &mut prediction! { "tool" => "t" },
        "params",
        Nested::lists().0,
        |pred| error_of(&tool, &example! {}, pred),
    );
    let deep = "a value nested more than 128 levels deep";
    assert_eq!(
        error,
        format!("metric `tool_params_schema`: field `pred.params` contains {deep}")
    );

    let gold = example! { "answer" => json!({ "a": 1 }) };
    let error = with_deep(&mut prediction! {}, "answer", Nested::objects().0, |pred| {
        error_of(&JsonFieldAccuracy::default(), &gold, pred)
    });
    assert_eq!(
        error,
        format!("metric `json_field_accuracy`: field `pred.answer` contains {deep}")
    );

    let error = with_deep(&mut prediction! {}, "answer", Nested::lists().0, |pred| {
        error_of(&AnswerExactMatch::default(), &gold, pred)
    });
    assert!(
        error.starts_with("metric `answer_exact_match`: field `"),
        "{error}"
    );

    let schema = Nested::objects().0;
    assert_eq!(
        ToolSchemas::new([("t", &schema)]).unwrap_err().to_string(),
        format!("the schema of tool `t` is invalid: {deep}")
    );
    dismantle(schema);
}

#[test]
fn values_of_any_depth_are_compared() {
    for make in [Nested::lists, Nested::objects] {
        let (one, other) = (make().0, make().0);
        assert!(same_value(&one, &other));
        let gold = example! { "execution_history" => [json!({ "tool": "t", "params": [[]] })] };
        let score = with_deep(&mut prediction! { "tool" => "t" }, "params", one, |pred| {
            WasRepeated.score(&gold, pred).unwrap().value
        });
        assert_eq!(score, 1.0);
        let mut history = Prediction::default();
        let call: Value = [
            ("tool".to_owned(), json!("t")),
            ("params".to_owned(), other),
        ]
        .into_iter()
        .collect();
        history
            .data
            .insert("execution_history", Value::Array(vec![call]));
        let gold = Example::from(history.data);
        let error = WasRepeated
            .score(&gold, &prediction! { "tool" => "t" })
            .unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("nested more than 128 levels deep)"),
            "{error}"
        );
        let mut data = gold.data;
        let Some(Value::Array(mut calls)) = data.remove("execution_history") else {
            unreachable!()
        };
        dismantle(calls[0]["params"].take());
        calls.clear();
    }
}

fn brackets() -> [String; 4] {
    [
        "[".repeat(DEEP),
        "(".repeat(DEEP) + &")".repeat(DEEP),
        "{\"a\":".repeat(DEEP) + "1" + &"}".repeat(DEEP),
        "[".repeat(DEEP) + &"]".repeat(DEEP),
    ]
}

#[test]
fn strings_of_any_depth_are_scored_in_time() {
    let started = Instant::now();
    let keyword = Keyword::builder().required(["["]).whole_words(true).build();
    let length = Length::builder()
        .max_tokens(1000)
        .max_words(10)
        .max_chars(1000)
        .build();
    let valid_json = Format::builder().require_valid_json(true).build();
    for (text, json, balanced) in brackets()
        .iter()
        .zip([0.0, 0.0, 1.0, 1.0])
        .zip([0.0, 1.0, 1.0, 1.0])
        .map(|((a, b), c)| (a, b, c))
    {
        assert_eq!(evaluate(&valid_json, text).0, json);
        assert_eq!(evaluate(&Syntax::default(), text).0, balanced);
        assert_eq!(
            evaluate(&keyword, text).0,
            f64::from(u8::from(text.starts_with('[')))
        );
        assert!(
            evaluate(&length, text).0 <= 0.01,
            "{:?}",
            evaluate(&length, text)
        );
        let gold = example! { "answer" => &text[1..] };
        let pred = prediction! { "answer" => text };
        assert_eq!(Diff::default().score(&gold, &pred).unwrap().value, 0.0);
        let fields = JsonFieldAccuracy::default();
        let score = fields
            .score(&example! { "answer" => json!({ "a": 1 }) }, &pred)
            .unwrap();
        assert_eq!(
            score.value, 0.0,
            "deeper than the parser's limit, so no field is correct"
        );
        let schemas = ToolSchemas::new([("t", &json!({ "type": "array" }))]).unwrap();
        let tool = ToolParamsSchema::builder().schemas(schemas).build();
        let call = prediction! { "tool" => "t", "params" => text };
        assert_eq!(
            tool.score(&example! {}, &call).unwrap().value,
            0.0,
            "a string, not a list"
        );
    }
    assert!(
        started.elapsed() < Duration::from_secs(60),
        "{:?}",
        started.elapsed()
    );
}

/// A parser reads a string of any depth, or times out.
#[track_caller]
fn reads_or_times_out(language: Language) {
    let metric = Syntax::builder().language(language).build();
    for text in &brackets() {
        let started = Instant::now();
        let pred = prediction! { "answer" => text };
        match metric.score(&example! {}, &pred) {
            Ok(score) => assert!([0.0, 1.0].contains(&score.value)),
            Err(error) => assert!(error.to_string().contains("timed out"), "{error}"),
        }
        let elapsed = started.elapsed();
        assert!(
            elapsed < Duration::from_secs(60),
            "{language:?} {elapsed:?}"
        );
    }
    let trees = Diff::builder()
        .strictness(DiffStrictness::AstEquivalent)
        .language(language)
        .build();
    let gold = example! { "answer" => &brackets()[3] };
    let score = trees.score(&gold, &prediction! { "answer" => "[[]]" });
    assert!(
        score.map_or(true, |score| score.value == 0.0),
        "{language:?}"
    );
}

/// A test for each language, because a parser may take seconds.
macro_rules! parsers_handle_code_of_any_depth {
    ($($language:ident $test:ident)+) => {
        $(#[test]
        fn $test() {
            reads_or_times_out(Language::$language);
        })+
    };
}

parsers_handle_code_of_any_depth! {
    Rust rust_of_any_depth
    Python python_of_any_depth
    JavaScript javascript_of_any_depth
    TypeScript typescript_of_any_depth
    Json json_of_any_depth
    Sql sql_of_any_depth
    Bash bash_of_any_depth
}

#[test]
fn a_pattern_too_large_to_compile_is_an_error_before_the_first_row() {
    for pattern in [
        "((a{100}){100}){1000}",
        "(?=(a{10000}){1000})b",
        "(\\p{L}{1000}){1000}",
    ] {
        let schema = json!({ "type": "string", "pattern": pattern });
        let error = ToolSchemas::new([("t", &schema)]).unwrap_err().to_string();
        assert!(
            error.starts_with("the schema of tool `t` is invalid: its patterns"),
            "{error}"
        );
    }
    // Large, but not too large.
    let schema = json!({ "type": "string", "pattern": "^(?=(a{100}){100})b" });
    let metric = ToolParamsSchema::builder().schemas(ToolSchemas::new([("t", &schema)]).unwrap());
    let call = prediction! { "tool" => "t", "params" => json!("a".repeat(1000)) };
    assert_eq!(
        metric.build().score(&example! {}, &call).unwrap().value,
        0.0
    );
}

#[test]
fn unknown_drafts_and_languages_are_named() {
    for (schema, part) in [
        (
            json!({ "$schema": "http://json-schema.org/draft-03/schema#" }),
            "draft-03",
        ),
        (
            json!({ "$schema": "https://example.org/my" }),
            "https://example.org/my",
        ),
    ] {
        let error = ToolSchemas::new([("t", &schema)]).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let mut params = Params::default();
    params.insert("language", "cobol");
    assert_eq!(
        Syntax::configure(&params).unwrap_err().to_string(),
        "metric `syntax`: parameter `language`: expected one of `rs`, `rust`, `py`, `python`, `javascript`, `js`, `ts`, `typescript`, \
         `json`, `sql`, `bash`, `sh`, `shell`, found `cobol`"
    );
}

#[test]
fn missing_fields_score_0_and_are_named() {
    let pred = prediction! { "other" => "x" };
    let keyword = Keyword::builder().required(["a"]).field("code").build();
    let syntax = Syntax::builder().field("code").build();
    let metrics: [&dyn Metric; 3] = [&keyword, &syntax, &Format::builder().field("code").build()];
    let scored = |metric: &dyn Metric, gold: &Example| {
        let scored = metric
            .answer(MetricCall::new(gold, &pred))
            .ready()
            .unwrap()
            .unwrap();
        (scored.score.value, scored.missing_fields().concat())
    };
    for metric in metrics {
        assert!(metric.can_evaluate(&example! {}, &pred));
        assert_eq!(
            scored(metric, &example! {}),
            (0.0, "code".to_owned()),
            "{}",
            metric.name()
        );
    }
    let gold = example! { "answer" => 1 };
    assert_eq!(
        scored(&JsonFieldAccuracy::default(), &gold),
        (0.0, "answer".to_owned())
    );
    // A configuration without schemas stays an error.
    assert_eq!(
        error_of(&ToolParamsSchema::default(), &example! {}, &pred),
        "metric `tool_params_schema`: no schemas; set `schemas`, or add `gold.schemas` to the row"
    );
}
