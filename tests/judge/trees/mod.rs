//! Decision trees: the paths, the nodes that are asked and what they cost, nodes without an answer, panels, pairs, and the declared
//! cost; in `identity.rs`, which trees are different metrics.

mod identity;

use dsrs_metrics::contract::{MetricErrorKind, ScoreRange, Settings};
use dsrs_metrics::judge::{Models, Prompt};
use dsrs_metrics::lm::{LmError, LmErrorKind, LmRequest, ScriptedLm};
use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::Pair;
use dsrs_metrics::{Evaluate, Scored};
use futures_util::FutureExt as _;
use proptest::prelude::*;
use serde_json::json;

use super::setup::user;

/// A model that answers with the word after its name and `=` in the first input of the row.
fn model(id: &'static str) -> ScriptedLm {
    let name = id.strip_prefix("x:").unwrap();
    ScriptedLm::new()
        .named(id)
        .cost(7)
        .otherwise(move |request: &LmRequest| reply(request, name))
}

fn reply(request: &LmRequest, name: &str) -> Result<serde_json::Value, LmError> {
    let inputs = Prompt::parse(user(request)).unwrap();
    let content = inputs[0].content.unwrap_or_default();
    let mut words = content.split(' ').filter_map(|word| word.split_once('='));
    let word = words
        .find(|(key, _)| *key == name)
        .map_or("", |(_, word)| word);
    let answer = match word {
        "fail" => {
            let limit = std::time::Duration::from_secs(1);
            return Err(LmError::new("x:down", LmErrorKind::Timeout { limit }));
        }
        "yes" | "no" => json!(word == "yes"),
        word => json!(word),
    };
    let output = if name == "has" { "good" } else { "order" };
    Ok(json!({ "reasoning": "because", output: answer }))
}

/// Say whether the summary has headings.
#[judge(cost = "10 msat", panel(models = [model("x:has")]))]
struct HasHeadings {
    #[input(pred)]
    summary: String,
    #[output]
    good: bool,
}

#[judge_output]
#[derive(Debug)]
enum Order {
    Correct,
    Partly,
    #[serde(rename = "wrong_order")]
    Wrong,
}

/// Say whether the headings are in order.
#[judge(score = order == Order::Correct, cost = "20 msat", panel(models = [model("x:order")]))]
struct HeadingOrder {
    #[input(pred)]
    summary: String,
    #[output]
    order: Order,
}

/// Say whether the headings are in order.
#[judge(
    score = match order { Order::Correct => 1.0, Order::Partly => 0.5, Order::Wrong => 0.0 },
    range = 0.0..=1.0,
    panel(quorum = 2, models = [model("x:a"), model("x:b"), model("x:c")]),
)]
struct OrderByThree {
    #[input(pred)]
    summary: String,
    #[output]
    order: Order,
    #[output]
    feedback: Option<String>,
}

/// Say which of two summaries has the better order.
#[judge(
    score = match order { Order::Correct => 1.0, Order::Partly => 0.5, Order::Wrong => 0.0 },
    range = 0.0..=1.0,
    pairwise(ours, theirs),
    panel(models = [model("x:first")]),
)]
struct OrderOfPair {
    #[input(pred = "summary")]
    ours: String,
    #[input(gold = "summary")]
    theirs: String,
    #[output]
    order: Order,
}

/// Whether the summary is short; abstains without a length.
#[metric]
fn brief(#[pred] length: Option<u32>) -> Option<bool> {
    length.map(|length| length < 100)
}

/// How much of the summary is covered.
#[metric(range = -1.0..=2.0)]
fn covered(#[pred] covered: Option<f64>) -> Option<f64> {
    covered
}

/// Headings first, then their order.
#[metric(tree(has_headings_judge {
    no => -0.25,
    yes => heading_order_judge { Correct => 1.0, Partly => (HALF), Wrong => 0.0 },
}))]
struct Structure;

const HALF: f64 = 0.5;

#[metric(tree(brief {
    yes => has_headings_judge { yes | no => covered },
    no => heading_order_judge { Partly | Wrong => 0.0, Correct => weighted(covered = 0.5, brief = 0.5) },
}), threshold = 0.75)]
struct Detailed;

#[metric(tree(order_by_three_judge { Correct => 1.0, Partly => 0.5, Wrong => 0.0 }))]
struct Voted;

#[metric(tree(order_of_pair_judge { Correct => 1.0, Partly => 0.5, Wrong => 0.0 }))]
struct Paired;

#[metric(weighted(structure = 0.5, tree(brief { yes => 1.0, no => 0.0 }) = 0.5))]
struct Blended;

#[metric(tree(has_headings_judge { no => 0.0, yes => covered }), on_missing = zero)]
struct OrWorst;

async fn scored(metric: &impl Metric, pred: &Prediction) -> dsrs_metrics::Result<Scored> {
    metric
        .answer(MetricCall::new(
            &example! { "summary" => "first=Wrong" },
            pred,
        ))
        .await
}

fn pred(summary: &str) -> Prediction {
    prediction! { "summary" => summary }
}

/// The value, the cost, the path and the components that were asked.
async fn path(metric: &impl Metric, pred: Prediction) -> (f64, u64, String, Vec<String>) {
    let scored = scored(metric, &pred).await.unwrap();
    let asked = scored.components().map(|it| it.name.to_owned()).collect();
    let details = scored.score.details.clone().unwrap_or_default();
    (scored.score.value, scored.score.cost_msats, details, asked)
}

#[tokio::test]
async fn each_path_asks_and_pays_its_nodes_alone() {
    let no = ["has_headings".to_owned()];
    let (value, cost, details, asked) = path(&Structure, pred("has=no order=Correct")).await;
    assert_eq!(
        (value, cost, &*details, &*asked),
        (-0.25, 7, "has_headings: no", &no[..])
    );
    for (word, value, answer) in [
        ("Correct", 1.0, "Correct"),
        ("Partly", 0.5, "Partly"),
        ("wrong_order", 0.0, "Wrong"),
    ] {
        let found = path(&Structure, pred(&format!("has=yes order={word}"))).await;
        let asked = ["has_headings", "heading_order"]
            .map(str::to_owned)
            .to_vec();
        let details = format!("has_headings: yes, heading_order: {answer}");
        assert_eq!(found, (value, 14, details, asked));
    }
}

#[tokio::test]
async fn a_branch_may_be_a_metric_or_a_combination() {
    let row = |length: u32, summary: &str| {
        prediction! { "summary" => summary, "length" => length, "covered" => 0.75 }
    };
    let (value, cost, details, _) = path(&Detailed, row(5, "has=no")).await;
    assert_eq!(
        (value, cost, &*details),
        (0.75, 7, "brief: yes, has_headings: no")
    );
    let (value, cost, details, asked) = path(&Detailed, row(200, "order=Correct")).await;
    assert_eq!(
        (value, cost, &*details),
        (0.375, 7, "brief: no, heading_order: Correct")
    );
    assert_eq!(
        asked,
        ["brief", "covered", "heading_order"],
        "in the order of the expression"
    );
    let (value, _, details, asked) = path(&Detailed, row(200, "order=Partly")).await;
    assert_eq!(
        (value, &*details),
        (0.0, "brief: no, heading_order: Partly")
    );
    assert_eq!(asked, ["brief", "heading_order"]);
    let passed = scored(&Detailed, &row(5, "has=yes")).await.unwrap().passed;
    assert_eq!(passed, Some(true));
}

#[test]
fn the_spec_has_the_dearest_path_and_the_range_of_all_ends() {
    let of = |spec: MetricSpec<'static>| (spec.cost_msats, spec.range.map(|it| (it.min, it.max)));
    assert_eq!(of(Structure::SPEC), (30, Some((-0.25, 1.0))));
    assert_eq!(
        of(Detailed::SPEC),
        (20, Some((-1.0, 2.0))),
        "10 and 20 msat are on two paths"
    );
    assert_eq!(of(Blended::SPEC), (30, Some((-0.125, 1.0))));
    assert_eq!(
        (Structure::SPEC.tier, Structure::SPEC.is_async),
        (MetricTier::Truth, true)
    );
    assert_eq!(Structure::SPEC.threshold, None);
    // One repair of each judge.
    assert_eq!(Structure.cost_estimate(), 60);
    assert_eq!(Detailed.cost_estimate(), 40);
    let fields: Vec<_> = Structure::SPEC.required_fields().collect();
    assert_eq!(fields, ["pred.summary"]);
}

#[tokio::test]
async fn a_node_without_a_score_fails_the_row_with_its_name() {
    let error = scored(&Structure, &pred("has=yes order=fail"))
        .await
        .unwrap_err();
    let MetricErrorKind::MissingComponent { component, .. } = error.kind() else {
        panic!("{error}");
    };
    assert_eq!(component, "heading_order");
    assert!(error.cost_msats() >= 7, "the first node is paid");
    let error = scored(&Structure, &pred("has=fail order=Correct"))
        .await
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("metric `structure`: its component `has_headings` has no score: "),
        "{error}"
    );
}

#[tokio::test]
async fn an_abstaining_node_or_end_makes_the_tree_abstain() {
    let error = scored(&Detailed, &pred("has=yes")).await.unwrap_err();
    assert_eq!(error.kind(), &MetricErrorKind::Abstained);
    let row = prediction! { "summary" => "has=yes", "length" => 5 };
    let outcome = Outcome::from(scored(&Detailed, &row).await);
    assert_eq!(outcome, Outcome::Abstained);
}

#[tokio::test]
async fn on_missing_replaces_an_end_and_never_an_answer() {
    assert_eq!(
        path(&OrWorst, pred("has=yes")).await.0,
        -1.0,
        "the worst score of `covered`"
    );
    assert!(scored(&OrWorst, &pred("has=fail")).await.is_err());
}

#[tokio::test]
async fn a_panel_answers_with_the_answer_of_more_than_half() {
    let voted = |row: &'static str| async move { path(&Voted, pred(row)).await };
    let (value, cost, details, _) = voted("a=Partly b=Correct c=Partly").await;
    assert_eq!(
        (value, cost, &*details),
        (0.5, 21, "order_by_three: Partly")
    );
    assert_eq!(voted("a=Correct b=Correct c=fail").await.0, 1.0);
    for (row, votes) in [
        (
            "a=Partly b=Correct c=fail",
            "2 judges: 1 `Partly`, 1 `Correct`",
        ),
        (
            "a=Partly b=Correct c=wrong_order",
            "3 judges: 1 `Partly`, 1 `Correct`, 1 `Wrong`",
        ),
    ] {
        let error = scored(&Voted, &pred(row)).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "metric `voted`: its component `order_by_three` has no score: no answer has a majority among {votes}; use an odd number of judges, or more judges"
            )
        );
        assert!(error.cost_msats() >= 14);
    }
}

#[tokio::test]
async fn both_orders_of_a_pair_must_have_one_answer() {
    let gold = |word: &str| example! { "summary" => format!("first={word}") };
    let evaluate = |ours: &'static str, theirs: &'static str| async move {
        Paired
            .evaluate(&gold(theirs), &pred(&format!("first={ours}")))
            .await
    };
    assert_eq!(evaluate("Partly", "Partly").await.unwrap().value, 0.5);
    let error = evaluate("Correct", "wrong_order").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `paired`: its component `order_of_pair` has no score: its answers differ between the two orders of the pair: `Correct` and `Wrong`"
    );
}

#[tokio::test]
async fn a_tree_is_a_component_of_other_composites() {
    let row = prediction! { "summary" => "has=yes order=Partly", "length" => 5 };
    let (value, cost, details, asked) = path(&Blended, row).await;
    assert_eq!((value, cost, &*details), (0.75, 14, "brief: yes"));
    assert_eq!(asked, ["structure", "brief"]);
}

fn partly(_: &[Option<&str>]) -> serde_json::Map<String, serde_json::Value> {
    serde_json::Map::from_iter([("order".to_owned(), json!("Partly"))])
}

/// Say whether the headings are in order.
#[judge(score = order == Order::Correct, offline = partly, empty = false)]
struct LexicalOrder {
    #[input(pred)]
    summary: String,
    #[output]
    order: Order,
}

#[metric(tree(lexical_order_judge { Correct => 1.0, Partly => 0.5, Wrong => 0.0 }))]
struct Lexical;

#[tokio::test]
async fn the_offline_stand_in_answers_and_an_empty_row_does_not() {
    let offline = Settings::new().with(Models::offline());
    let scored = offline.scope(async {
        (
            scored(&Lexical, &pred("a")).await,
            scored(&Lexical, &pred(" ")).await,
        )
    });
    let (answered, empty) = scored.await;
    let answered = answered.unwrap();
    assert_eq!(
        (answered.score.value, answered.is_judged_offline()),
        (0.5, true)
    );
    assert_eq!(
        empty.unwrap_err().to_string(),
        "metric `lexical`: its component `lexical_order` has no score: it was scored without an answer, but the tree branches on the answer"
    );
}

/// Say whether the summary is complete.
#[judge(cost = "10 msat")]
struct Complete {
    #[input(pred)]
    summary: String,
    #[output]
    complete: bool,
}

#[metric(tree(complete_judge { yes => 1.0, no => 0.0 }))]
struct IfComplete;

#[tokio::test]
async fn a_judge_beside_its_tree_is_called_once() {
    let lm = std::sync::Arc::new(
        ScriptedLm::new()
            .remember(8)
            .otherwise(json!({ "reasoning": "", "complete": true })),
    );
    let result = Settings::new()
        .with(Models::new(std::sync::Arc::clone(&lm)))
        .scope(async {
            let rows = ["a", "b"].map(|id| Pair::new(id, example! {}, pred(id)));
            let evaluate = Evaluate::builder()
                .metric(CompleteJudge::default())
                .metric(IfComplete);
            evaluate.build().unwrap().score(rows).await
        });
    let result = result.await.unwrap();
    assert_eq!(
        result.metrics.iter().map(|it| it.mean).collect::<Vec<_>>(),
        [Some(1.0); 2]
    );
    assert_eq!(lm.requests().len(), 2, "once a row");
}

#[test]
fn an_estimate_needs_the_models_of_all_nodes() {
    let mut requirements = Vec::new();
    Metric::<Example, Prediction>::requirements(&Structure, &mut requirements);
    let ids = requirements
        .iter()
        .filter_map(|it| it.lm())
        .map(|lm| lm.id().to_owned());
    assert_eq!(ids.collect::<Vec<_>>(), ["x:has", "x:order"]);
}

/// The tree of [`Detailed`] with plain matches: its value, and how many calls are paid.
fn detailed(brief: bool, order: &str, covered: f64) -> (f64, u64) {
    match brief {
        true => (covered, 7),
        false => match order {
            "Correct" => (0.5 * covered, 7),
            _ => (0.0, 7),
        },
    }
}

/// The tree of [`Structure`] with plain matches.
fn structure(has: bool, order: &str) -> (f64, u64) {
    match has {
        false => (-0.25, 7),
        true => match order {
            "Correct" => (1.0, 14),
            "Partly" => (0.5, 14),
            _ => (0.0, 14),
        },
    }
}

proptest! {
    #[test]
    fn a_tree_has_the_values_of_nested_matches(
        (short, has) in (any::<bool>(), any::<bool>()),
        order in prop_oneof![Just("Correct"), Just("Partly"), Just("wrong_order")],
        covered in -1.0..=2.0,
    ) {
        let row = prediction! {
            "summary" => format!("has={} order={order}", if has { "yes" } else { "no" }),
            "length" => if short { 5 } else { 500 },
            "covered" => covered,
        };
        let found = |scored: Scored| (scored.score.value, scored.score.cost_msats);
        let own = scored(&Structure, &row).now_or_never().unwrap().unwrap();
        prop_assert_eq!(found(own), structure(has, order));
        let own = scored(&Detailed, &row).now_or_never().unwrap().unwrap();
        prop_assert_eq!(found(own), detailed(short, order, covered));
    }
}

/// The range of a tree whose ends are one metric is the range of this metric.
#[test]
fn a_tree_may_end_in_one_metric() {
    assert_eq!(
        OrWorst::SPEC.range,
        Some(ScoreRange {
            min: -1.0,
            max: 2.0
        })
    );
}
