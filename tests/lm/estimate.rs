//! `LmEstimate`: the calls of a run and the most that they can cost, without a call. `estimate_command.rs` tests `--estimate`.
//!
//! Each token of a reply costs 1 msat, and a prompt nothing, so that amounts are numbers of tokens.

use std::path::Path;

use dsrs_metrics::composite::{Composite, component, gate, weighted};
use dsrs_metrics::contract::Settings;
use dsrs_metrics::judge::{Models, Preference};
use dsrs_metrics::lm::{CallEstimate, Lm, LmBuilder, LmEstimate, Price, Prices, Store};
use dsrs_metrics::metrics::Em;
use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::Pair;
use dsrs_metrics::{Evaluate, lm::RetryPolicy};

use crate::plain;
use crate::server::{Answer, Received, Server};

const MODEL: &str = "openai:m";

fn free_prompts() -> Prices {
    Prices::empty().with(
        MODEL,
        Price {
            input: 0.0,
            output: 1.0,
            cached_input: None,
        },
    )
}

/// Say whether the answer is polite.
#[judge(scoring(max_tokens = 100), reasoning = false)]
struct Polite {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// A judge has the tier `truth`, so a judge that is a proxy is called by a function.
#[metric(tier = proxy, range = 0.0..=1.0, cost = "1 msat")]
async fn filter(#[pred] answer: &str) -> dsrs_metrics::Result<f64> {
    let pred = prediction! { "answer" => answer };
    Ok(PoliteJudge::default()
        .evaluate(&example! {}, &pred)
        .await?
        .value)
}

/// Grade the answer.
#[judge(scoring(max_tokens = 10), reasoning = false, range = 0.0..=1.0, cost = "9 msat")]
struct Grade {
    #[input(pred)]
    answer: String,
    #[output]
    score: f64,
}

/// Say which is better.
#[judge(pairwise(ours, theirs), scoring(max_tokens = 10), reasoning = false)]
struct Better {
    #[input(gold = "answer")]
    ours: String,
    #[input(pred = "answer")]
    theirs: String,
    #[output]
    better: Preference,
}

fn rows(answers: &[&str]) -> Vec<Pair> {
    let row = |(id, answer): (usize, &&str)| {
        Pair::new(
            id.to_string(),
            example! { "answer" => "yes" },
            prediction! { "answer" => *answer },
        )
    };
    answers.iter().enumerate().map(row).collect()
}

/// A model of the server, with a store in this folder.
fn model(server: &Server, dir: &Path) -> LmBuilder {
    let lm = plain(MODEL, &server.url("/v1")).prices(free_prompts());
    lm.store(dir)
}

/// Evaluates the rows with this model.
async fn evaluate(metric: impl Metric + 'static, repeats: Option<u32>, answers: &[&str], lm: Lm) {
    let builder = Evaluate::builder().metric(metric);
    let builder = match repeats {
        Some(repeats) => builder.repeats(repeats),
        None => builder,
    };
    let evaluate = builder.build().unwrap();
    let run = async { evaluate.score(rows(answers)).await };
    let result = Settings::new()
        .with(Models::new(lm))
        .scope(run)
        .await
        .unwrap();
    assert_eq!(result.rows, answers.len() as u64);
}

/// The estimate of the rows, without the probe of the model.
async fn estimated(
    metric: impl Metric + 'static,
    repeats: Option<u32>,
    answers: &[&str],
    lm: LmBuilder,
) -> CallEstimate {
    let estimate = LmEstimate::new();
    evaluate(
        metric,
        repeats,
        answers,
        lm.estimate(estimate.clone()).build().unwrap(),
    )
    .await;
    let mut total = estimate.total();
    let by_purpose = estimate.by_purpose();
    let probe = &by_purpose[&("probe".to_owned(), MODEL.to_owned())];
    assert_eq!(
        (probe.calls, probe.replies_msats),
        (1, 32),
        "a probe has 32 tokens"
    );
    (total.calls, total.replies_msats) = (total.calls - 1, total.replies_msats - 32);
    total
}

/// The numbers of calls and of stored replies.
fn calls(total: &CallEstimate) -> (u64, u64) {
    (total.calls, total.cached_calls)
}

/// Answers all of these judges.
fn any_verdict(received: &Received) -> Answer {
    let name = received.body["response_format"]["json_schema"]["name"]
        .as_str()
        .unwrap_or_default();
    let is_low = received.prompt().contains("rude");
    Answer::chat(match name {
        "polite" if is_low => r#"{"polite": false}"#,
        "polite" => r#"{"polite": true}"#,
        "better" => r#"{"better": "tie"}"#,
        _ if is_low => r#"{"score": 0.1}"#,
        _ => r#"{"score": 0.9}"#,
    })
}

#[tokio::test]
async fn a_run_of_one_judge_has_its_calls_and_makes_none() {
    let (server, dir) = (
        Server::start(any_verdict).await,
        tempfile::tempdir().unwrap(),
    );
    let model = || model(&server, dir.path()).retry(RetryPolicy::default());
    let judge = PoliteJudge::default;
    let answers = ["a", "b", "c"];
    let before = estimated(judge(), None, &answers, model()).await;
    assert_eq!((calls(&before), before.replies_msats), ((3, 0), 300));
    assert_eq!(server.received().len(), 0);
    assert!(
        std::fs::read_dir(dir.path()).unwrap().next().is_none(),
        "no store is created"
    );

    evaluate(judge(), None, &answers[..2], model().build().unwrap()).await;
    assert_eq!(server.received().len(), 3, "one probe");
    let file = dir.path().join(Store::FILE);
    let content = std::fs::read(&file).unwrap();
    let after = estimated(judge(), None, &answers, model()).await;
    assert_eq!((calls(&after), after.replies_msats), ((1, 2), 100));
    let refreshed = model().refresh(true);
    assert_eq!(estimated(judge(), None, &answers, refreshed).await, before);
    assert_eq!(server.received().len(), 3);
    assert_eq!(
        std::fs::read(&file).unwrap(),
        content,
        "not even the order of use changes"
    );
}

#[tokio::test]
async fn panels_both_orders_and_repeats_are_counted() {
    let (server, dir) = (
        Server::start(any_verdict).await,
        tempfile::tempdir().unwrap(),
    );
    let model = || model(&server, dir.path());
    let panel = || PoliteJudge::builder().models(["default"; 3]).build();
    let three = estimated(panel(), Some(2), &["a", "b"], model()).await;
    assert_eq!(
        (calls(&three), three.replies_msats),
        ((12, 0), 1200),
        "without retries"
    );
    let both = estimated(BetterJudge::default(), None, &["a", "b"], model()).await;
    assert_eq!((calls(&both), both.replies_msats), ((4, 0), 40));
    // Of a panel that is partly in the store, the other judges are still called.
    evaluate(
        PoliteJudge::default(),
        None,
        &["a", "b"],
        model().build().unwrap(),
    )
    .await;
    let rest = estimated(panel(), None, &["a", "b"], model()).await;
    assert_eq!((calls(&rest), rest.replies_msats), ((4, 2), 400));
}

#[tokio::test]
async fn equal_calls_are_counted_since_a_reply_without_an_answer_is_not_stored() {
    let (server, dir) = (
        Server::start(any_verdict).await,
        tempfile::tempdir().unwrap(),
    );
    let model = || model(&server, dir.path());
    let judge = PoliteJudge::default;
    let equal = estimated(judge(), None, &["a", "a", "a", "b"], model()).await;
    assert_eq!((calls(&equal), equal.replies_msats), ((4, 0), 400));
    let off = model().no_store();
    assert_eq!(
        calls(&estimated(judge(), None, &["a", "a"], off).await),
        (2, 0)
    );
}

/// A judge behind another judge: if its reply is not known, the gate may open.
#[tokio::test]
async fn behind_a_gate_whatever_may_be_called_is_counted() {
    let (server, dir) = (
        Server::start(any_verdict).await,
        tempfile::tempdir().unwrap(),
    );
    let model = || model(&server, dir.path());
    let graded = || {
        let (proxy, truth) = (component(Filter), component(GradeJudge::default()));
        Composite::builder("graded", gate([proxy], 0.5, [truth]))
            .build()
            .unwrap()
    };
    let answers = ["kind", "rude"];
    let unknown = estimated(graded(), None, &answers, model()).await;
    assert_eq!((calls(&unknown), unknown.replies_msats), ((4, 0), 220));
    evaluate(
        PoliteJudge::default(),
        None,
        &answers,
        model().build().unwrap(),
    )
    .await;
    let known = estimated(graded(), None, &answers, model()).await;
    assert_eq!(
        (calls(&known), known.replies_msats),
        ((1, 2), 10),
        "the gate rejects `rude`"
    );
    evaluate(graded(), None, &answers, model().build().unwrap()).await;
    let all = estimated(graded(), None, &answers, model()).await;
    assert_eq!((calls(&all), all.replies_msats), ((0, 3), 0));
    // A composite in a composite, and a component that scores at once.
    let nested = || {
        let parts = weighted([(component(Em), 0.5), (component(graded()), 0.5)]);
        Composite::builder("nested", parts).build().unwrap()
    };
    let without = model().no_store();
    assert_eq!(
        calls(&estimated(nested(), None, &answers, without).await),
        (4, 0)
    );
}

/// A polite answer is graded, and any other one is compared in both orders.
#[metric(tree(polite_judge { yes => grade_judge, no => better_judge }))]
struct Branched;

#[tokio::test]
async fn all_branches_of_a_tree_are_counted_even_if_the_answer_of_its_node_is_known() {
    let (server, dir) = (
        Server::start(any_verdict).await,
        tempfile::tempdir().unwrap(),
    );
    let model = || model(&server, dir.path());
    let answers = ["kind", "rude"];
    let unknown = estimated(Branched, None, &answers, model()).await;
    assert_eq!((calls(&unknown), unknown.replies_msats), ((8, 0), 260));
    evaluate(
        PoliteJudge::default(),
        None,
        &answers,
        model().build().unwrap(),
    )
    .await;
    let known = estimated(Branched, None, &answers, model()).await;
    assert_eq!(
        (calls(&known), known.replies_msats),
        ((6, 2), 60),
        "1 grade and 2 orders for each row"
    );
}

/// A function that makes a score of the error of a call.
#[metric(tier = proxy, range = 0.0..=1.0, cost = "1 msat")]
async fn lenient(#[pred] answer: &str) -> f64 {
    let pred = prediction! { "answer" => answer };
    PoliteJudge::default()
        .evaluate(&example! {}, &pred)
        .await
        .map_or(0.0, |score| score.value)
}

#[tokio::test]
async fn a_call_without_a_reply_is_no_score_whatever_a_function_makes_of_its_error() {
    let (server, dir) = (
        Server::start(any_verdict).await,
        tempfile::tempdir().unwrap(),
    );
    let estimate = LmEstimate::new();
    let lm = model(&server, dir.path())
        .no_store()
        .estimate(estimate.clone());
    let lm = lm.build().unwrap();
    let graded = gate(
        [component(Lenient)],
        0.5,
        [component(GradeJudge::default())],
    );
    let graded = Composite::builder("graded", graded).build().unwrap();
    // The proxy is also a metric of its own, which is evaluated once per row.
    let evaluate = Evaluate::builder()
        .metric(Lenient)
        .metric(graded)
        .build()
        .unwrap();
    let run = async { evaluate.score(rows(&["a", "b"])).await };
    let result = Settings::new()
        .with(Models::new(lm))
        .scope(run)
        .await
        .unwrap();
    assert_eq!(result.failed_rows, 2);
    assert_eq!(estimate.total().calls, 1 + 2 + 2);
}
