//! The parameters of a panel on the command line.

use dsrs_metrics::contract::{Configure as _, Params};
use dsrs_metrics::judge::shipped::LlmJudge;
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::prelude::*;
use serde_json::json;

use super::setup::{Grade5Judge, grade, rows};

#[tokio::test]
async fn a_panel_is_configured_from_text() {
    let configured = |key: &str, value: &str| {
        let mut params = Params::default();
        params.insert(key, value);
        Grade5Judge::configure(&params)
    };
    for models in [
        "openai:gpt-6-luna,default",
        r#"["openai:gpt-6-luna", "default"]"#,
    ] {
        assert_eq!(
            configured("models", models).unwrap().num_judges(),
            2,
            "{models}"
        );
    }
    let (gold, pred) = rows();
    let mut params = Params::default();
    for (key, value) in [
        ("models", "default, default,default"),
        ("aggregation", "average"),
        ("max_concurrent_judges", "1"),
        ("quorum", "2"),
    ] {
        params.insert(key, value);
    }
    let replies = [grade(1), json!("none"), json!("none"), grade(4)];
    let lm = ScriptedLm::new().replies(replies);
    let score = Grade5Judge::configure(&params)
        .unwrap()
        .with_lm(lm)
        .evaluate(&gold, &pred)
        .await;
    assert_eq!(score.unwrap().value, 2.5);
    for (key, value, said) in [
        (
            "aggregation",
            "mean",
            "expected one of `majority`, `median`",
        ),
        ("models", "gpt", "expected `provider:model`, found `gpt`"),
        (
            "models",
            "[]",
            "expected at least one model, found an empty list",
        ),
        ("quorum", "0", "expected an integer of at least 1"),
        (
            "max_concurrent_judges",
            "x",
            "expected an integer of at least 1",
        ),
        (
            "panel",
            "{}",
            "it takes `models`, `aggregation`, `max_concurrent_judges`, `quorum`",
        ),
    ] {
        let error = configured(key, value).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

/// The defaults that `list` shows are valid values.
#[test]
fn the_spec_contains_the_parameters_of_the_panel_with_the_judges_defaults() {
    /// Say whether the answer is short.
    #[judge(panel(models = ["openai:a", default], quorum = 1))]
    struct Short {
        #[input(pred)]
        answer: String,
        #[param(default = 9)]
        words: u32,
        #[output]
        short: bool,
    }
    let said = |spec: dsrs_metrics::contract::MetricSpec<'static>| {
        spec.params
            .iter()
            .map(|param| (param.name, param.default.unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        said(ShortJudge::SPEC),
        [
            ("words", "9"),
            ("models", "openai:a,default"),
            ("aggregation", "majority"),
            ("max_concurrent_judges", "all"),
            ("quorum", "1"),
        ]
    );
    assert_eq!(said(Grade5Judge::SPEC)[1], ("aggregation", "median"));
    let mut params = Params::default();
    params.insert("words", "3");
    params.insert("models", "default");
    let judge = ShortJudge::configure(&params).unwrap();
    assert_eq!((judge.words, judge.num_judges()), (3, 1));
}

#[test]
fn the_general_judge_costs_100_msat_unless_another_cost_is_set() {
    let cost = |judge: &LlmJudge| (judge.spec().cost_msats, judge.cost_estimate());
    assert_eq!(
        cost(&LlmJudge::default()),
        (100, 200),
        "its reply may have to be repaired"
    );
    assert_eq!(cost(&LlmJudge::builder().cost_msats(50).build()), (50, 100));
}
