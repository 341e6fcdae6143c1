//! Scores by the probabilities of a reply's tokens; in `draws.rs`, by several answers.

mod draws;

use std::sync::Arc;

use dsrs_metrics::contract::{MetricCall, MetricIdentity};
use dsrs_metrics::judge::{Aggregation, Preference};
use dsrs_metrics::lm::{LmReply, LmRequest, Logprobs, ScriptedLm, TokenLogprobs};
use dsrs_metrics::prelude::*;
use dsrs_metrics::runs::EvaluateErrorKind;
use dsrs_metrics::{Evaluate, Scored};
use proptest::prelude::*;
use serde_json::{Value, json};

use self::draws::DrawnJudge;

/// Grade the text from 0 to 9.
#[judge(score = grade, scoring(by = logprobs), reasoning = false, cost = "10 msat")]
struct Graded {
    #[input(pred)]
    text: String,
    #[output(range = 0..=9)]
    grade: u8,
    #[output]
    comment: String,
}

/// Say whether the text is polite.
#[judge(scoring(by = logprobs), threshold = 0.5)]
struct Polite {
    #[input(pred)]
    text: String,
    #[output]
    polite: bool,
}

#[judge_output]
enum Tone {
    Friendly,
    /// neither
    Neutral,
    Rude,
}

/// Judge the tone of the text.
#[judge(score = match tone { Tone::Friendly => 1.0, Tone::Neutral => at_neutral, Tone::Rude => 0.0 }, scoring(by = logprobs), reasoning = false)]
struct ToneScore {
    #[input(pred)]
    text: String,
    #[param(default = 0.5, in_prompt = false)]
    at_neutral: f64,
    #[output]
    tone: Tone,
}

fn pred() -> Prediction {
    prediction! { "text" => "Wait, please." }
}

/// A token with its alternatives, by their probabilities.
fn token(text: &str, top: &[(&str, f64)]) -> TokenLogprobs {
    let own = top
        .iter()
        .find(|(token, _)| *token == text)
        .map_or(1.0, |(_, p)| *p);
    TokenLogprobs::new(
        text,
        own.ln(),
        top.iter().map(|(token, p)| (*token, p.ln())),
    )
}

/// A reply whose tokens are its text.
fn reply(tokens: Vec<TokenLogprobs>) -> LmReply {
    let text: String = tokens.iter().map(|token| &*token.token).collect();
    LmReply::new(text).with_logprobs(tokens)
}

fn replies(reply: &LmReply) -> Arc<ScriptedLm> {
    Arc::new(ScriptedLm::new().otherwise(reply.clone()))
}

/// The reply to `Graded` with these probabilities of its grades.
fn graded(top: &[(&str, f64)]) -> LmReply {
    reply(vec![
        token("{\"grade\":", &[]),
        token(top[0].0, top),
        token(", \"comment\": \"", &[]),
        token("1 of 9", &[("1 of 9", 0.5), ("7", 0.5)]),
        token("\"}", &[]),
    ])
}

async fn scored(judge: &impl Metric) -> Scored {
    judge
        .answer(MetricCall::new(&example! {}, &pred()))
        .await
        .unwrap()
}

async fn error_of(judge: impl Metric) -> String {
    judge
        .evaluate(&example! {}, &pred())
        .await
        .unwrap_err()
        .to_string()
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 1e-12,
        "expected {expected}, found {found}"
    );
}

#[tokio::test]
async fn the_score_is_the_mean_by_the_probabilities_of_the_values() {
    // `é` and `10` are not values; the probabilities of the others have the sum 0.8.
    let top = [("7", 0.5), (" 8", 0.2), ("6", 0.1), ("é", 0.1), ("10", 0.1)];
    let lm = replies(&graded(&top));
    let judge = GradedJudge::default().with_lm(Arc::clone(&lm));
    let score = judge.evaluate(&example! {}, &pred()).await.unwrap();
    assert_close(score.value, (0.5 * 7.0 + 0.2 * 8.0 + 0.1 * 6.0) / 0.8);
    assert_eq!(
        score.details.as_deref(),
        Some("probabilities of grade: 7 0.50, 8 0.20, 6 0.10")
    );
    assert_eq!(lm.requests()[0].logprobs, Some(Logprobs::of("grade")));
    let scored = scored(&judge).await;
    let judge = &scored.metadata().unwrap()["judges"][0];
    assert_eq!(
        judge["answers"],
        json!([{ "grade": 7, "comment": "1 of 9" }])
    );
    assert_close(judge["probabilities"][0]["8"].as_f64().unwrap(), 0.2);
}

#[tokio::test]
async fn a_bool_has_its_probability_and_a_threshold_decides() {
    let reply = reply(vec![
        token(
            "{\"reasoning\": \"`polite` is \\\"polite\\\": false\", ",
            &[],
        ),
        token("\"polite\"", &[]),
        token(":", &[]),
        token(" false", &[(" false", 0.6), (" true", 0.4)]),
        token("}\n", &[]),
    ]);
    let judge = PoliteJudge::default().with_lm(replies(&reply));
    let scored = scored(&judge).await;
    assert_close(scored.score.value, 0.4);
    assert_eq!(scored.passed, Some(false));
    assert_eq!(
        (
            judge.spec().range.map(|it| (it.min, it.max)),
            judge.spec().threshold
        ),
        (Some((0.0, 1.0)), Some(0.5))
    );
}

#[tokio::test]
async fn an_enum_is_scored_value_by_value() {
    let top = [
        ("\"F", 0.25),
        ("\"Rude\"", 0.25),
        ("\"", 0.125),
        (" \"Neutral", 0.25),
    ];
    let reply = reply(vec![
        token("{ \"tone\": ", &[]),
        token("\"F", &top),
        token("riendly", &[("riendly", 1.0)]),
        token("\" }", &[]),
    ]);
    let judge = ToneScoreJudge::default().with_lm(replies(&reply));
    let score = judge.evaluate(&example! {}, &pred()).await.unwrap();
    assert_close(score.value, (0.25 + 0.5 * 0.25) / 0.75);
    let judge = ToneScoreJudge::builder()
        .at_neutral(0.0)
        .with_lm(replies(&reply))
        .build();
    assert_close(
        judge.evaluate(&example! {}, &pred()).await.unwrap().value,
        0.25 / 0.75,
    );
}

/// The quotation mark may be a token of its own.
#[tokio::test]
async fn a_value_of_several_tokens_is_decided_by_the_first_that_differs() {
    let reply = reply(vec![
        token("{\"tone\":", &[]),
        token(" \"", &[(" \"", 0.9), (" [", 0.1)]),
        token("Neutral", &[("Neutral", 0.5), ("Rude", 0.5)]),
        token("\"}", &[]),
    ]);
    let judge = ToneScoreJudge::default().with_lm(replies(&reply));
    let scored = scored(&judge).await;
    assert_close(scored.score.value, 0.25);
    let probabilities = &scored.metadata().unwrap()["judges"][0]["probabilities"][0];
    assert_close(probabilities["Rude"].as_f64().unwrap(), 0.45);
}

#[tokio::test]
async fn only_the_end_of_a_reply_needs_tokens() {
    let text = "<think>7?</think>```json\n{\"comment\": \"\u{1f600}\",\n \"grade\" :\t7.0}\n```";
    let end = vec![
        token("\"grade\" :", &[]),
        token("\t7", &[("\t7", 0.5), ("5", 0.5)]),
        token(".0}\n```", &[]),
    ];
    let judge = GradedJudge::default().with_lm(replies(&LmReply::new(text).with_logprobs(end)));
    assert_close(
        judge.evaluate(&example! {}, &pred()).await.unwrap().value,
        6.0,
    );
}

#[tokio::test]
async fn a_reply_without_probabilities_of_its_values_fails() {
    let instead = "; use a model that returns log probabilities, or write `scoring(by = text)` in `#[judge(..)]`";
    let cases = [
        (
            LmReply::new(r#"{"grade":7,"comment":""}"#),
            "the reply has no log probabilities",
        ),
        (
            LmReply::new(r#"{"grade":7,"comment":""}"#).with_logprobs(vec![token("8", &[])]),
            "the reply's tokens do not match its text",
        ),
        (
            LmReply::new(r#"{"grade":7,"comment":""}"#).with_logprobs(vec![token("\"\"}", &[])]),
            "the reply's tokens begin after `grade`",
        ),
        (
            graded(&[("7", 0.3), ("x", 0.6)]),
            "expected the values of `grade` to have a total probability of at least 0.5, found 0.30",
        ),
        (
            graded(&[("7", f64::NAN), ("8", 0.5)]),
            "expected token probabilities that sum to at most 1, found NaN",
        ),
        (
            graded(&[("7", 2.0)]),
            "expected token probabilities that sum to at most 1, found 2.00",
        ),
        (
            graded(&[("7", 0.9), ("8", 0.6), ("x", 0.1)]),
            "expected token probabilities that sum to at most 1, found 1.60",
        ),
        (
            graded(&[("7", f64::INFINITY)]),
            "expected token probabilities that sum to at most 1, found inf",
        ),
    ];
    for (reply, reason) in cases {
        let judge = GradedJudge::default().with_lm(replies(&reply));
        assert_eq!(
            error_of(judge).await,
            format!("metric `graded`: scripted:lm: {reason}{instead}")
        );
    }
}

#[tokio::test]
async fn an_impossible_token_has_no_weight() {
    let reply = graded(&[("7", 1.0), ("8", 0.0)]);
    let judge = GradedJudge::default().with_lm(replies(&reply));
    assert_close(
        judge.evaluate(&example! {}, &pred()).await.unwrap().value,
        7.0,
    );
}

#[tokio::test]
async fn a_repaired_reply_is_weighed() {
    let first = graded(&[("a", 1.0)]);
    let lm = Arc::new(ScriptedLm::new().replies([first, graded(&[("7", 0.5), ("9", 0.5)])]));
    let judge = GradedJudge::default().with_lm(Arc::clone(&lm));
    assert_close(
        judge.evaluate(&example! {}, &pred()).await.unwrap().value,
        8.0,
    );
    assert_eq!(lm.requests()[1].logprobs, Some(Logprobs::of("grade")));
}

#[tokio::test]
async fn each_judge_of_a_panel_is_weighed() {
    let models = [
        [("7", 0.5), ("9", 0.5)],
        [("1", 0.75), ("5", 0.25)],
        [("3", 1.0), ("4", 0.0)],
    ];
    let models = models.map(|top| replies(&graded(&top)));
    let judge = |aggregation| {
        GradedJudge::builder()
            .models(models.clone())
            .aggregation(aggregation)
            .build()
    };
    for (aggregation, expected) in [
        (Aggregation::Median, 3.0),
        (Aggregation::Average, 13.0 / 3.0),
    ] {
        let score = judge(aggregation)
            .evaluate(&example! {}, &pred())
            .await
            .unwrap();
        assert_close(score.value, expected);
    }
}

/// Which text is better?
#[judge(pairwise(one, two), scoring(by = logprobs), reasoning = false)]
struct Better {
    #[input(pred)]
    one: String,
    #[input(pred)]
    two: String,
    #[output]
    better: Preference,
}

#[tokio::test]
async fn both_orders_of_a_pair_are_weighed() {
    let reply = |top: &[(&str, f64)]| {
        reply(vec![
            token("{\"better\":\"", &[]),
            token(top[0].0, top),
            token("\"}", &[]),
        ])
    };
    let orders = [
        reply(&[("first", 0.7), ("second", 0.2), ("tie", 0.1)]),
        reply(&[("second", 0.6), ("first", 0.2), ("tie", 0.2)]),
    ];
    let judge = BetterJudge::default().with_lm(ScriptedLm::new().replies(orders));
    let pred = prediction! { "one" => "a", "two" => "b" };
    let score = judge.evaluate(&example! {}, &pred).await.unwrap();
    assert_close(score.value, f64::midpoint(0.75, 1.0 - 0.3));
}

/// Judge the last message.
#[judge(turns(of = assistant), scoring(by = logprobs), reasoning = false)]
struct PoliteTurns {
    #[input(pred)]
    conversation: Trajectory,
    /// The message, in a few words.
    #[step(from(conversation))]
    summary: String,
    #[output]
    polite: bool,
}

#[tokio::test]
async fn turns_and_judges_of_several_calls_are_weighed_in_their_last_call() {
    let lm = Arc::new(ScriptedLm::new().otherwise(|request: &LmRequest| {
        if request.logprobs.is_none() {
            return LmReply::new(r#"{"summary": "polite: true"}"#);
        }
        let top: &[_] = match request.messages[1].content.contains("please") {
            true => &[("true", 0.9), ("false", 0.1)],
            false => &[("false", 0.6), ("true", 0.4)],
        };
        reply(vec![
            token("{\"polite\":", &[]),
            token(top[0].0, top),
            token("}", &[]),
        ])
    }));
    let judge = PoliteTurnsJudge::default().with_lm(Arc::clone(&lm));
    let messages = ["Hello", "Wait.", "Why?", "Wait, please."].iter().enumerate().map(|(at, text)| {
        json!({ "role": if at % 2 == 0 { "user" } else { "assistant" }, "content": text })
    });
    let pred = prediction! { "conversation" => messages.collect::<Value>() };
    let score = judge.evaluate(&example! {}, &pred).await.unwrap();
    assert_close(score.value, f64::midpoint(0.4, 0.9));
    assert_eq!(
        lm.requests()
            .iter()
            .filter(|it| it.logprobs.is_some())
            .count(),
        2
    );
}

#[judge_output]
enum Quality {
    Good,
    Great,
}

/// Judge the quality.
#[judge(score = f64::from(u8::from(quality == Quality::Great)), scoring(by = logprobs))]
struct QualityScore {
    #[input(pred)]
    text: String,
    #[output]
    quality: Quality,
}

#[tokio::test]
async fn values_of_an_enum_that_begin_alike_are_an_error_before_the_first_row() {
    let judge = QualityScoreJudge::default().with_lm(ScriptedLm::new());
    let evaluate = Evaluate::builder()
        .devset([example! {}])
        .metric(judge)
        .build()
        .unwrap();
    let error = evaluate
        .run(|_: Example| async { pred() })
        .await
        .unwrap_err();
    assert_eq!(error.kind(), EvaluateErrorKind::NotReady);
    let expected = "`scoring(by = logprobs)` needs values of `quality` that begin differently, because the first token decides: `Good` and `Great` begin alike; rename one";
    assert!(error.to_string().contains(expected), "{error}");
}

/// Grade the text.
#[judge(score = grade, name = "drawn", reasoning = false, scoring(temperature = 1.0), cost = "8 msat")]
struct Written {
    #[input(pred)]
    text: String,
    #[output(range = 0..=9)]
    grade: u8,
}

/// Grade the text.
#[judge(score = grade, name = "drawn", reasoning = false, scoring(temperature = 1.0, by = logprobs), cost = "8 msat")]
struct Weighed {
    #[input(pred)]
    text: String,
    #[output(range = 0..=9)]
    grade: u8,
}

/// The three judges ask the same question at the same temperature.
#[test]
fn the_scoring_is_part_of_the_identity_of_a_judge() {
    fn identity(judge: &impl Metric) -> MetricIdentity {
        MetricIdentity::of::<Example, Prediction>(judge)
    }
    let lm = Arc::new(ScriptedLm::new());
    let identities = [
        identity(&WrittenJudge::default().with_lm(Arc::clone(&lm))),
        identity(&WeighedJudge::default().with_lm(Arc::clone(&lm))),
        identity(&DrawnJudge::default().with_lm(Arc::clone(&lm))),
    ];
    for (one, other) in [(0, 1), (0, 2), (1, 2)] {
        let places = identities[one].differences(&identities[other]);
        assert!(
            places.iter().any(|it| it.place == "`prompts`"),
            "{one} and {other}: {places:?}"
        );
    }
}

proptest! {
    /// Wherever a tokenizer cuts a reply, the score is the mean by the probabilities of the grades.
    #[test]
    fn any_tokens_of_a_reply_have_the_same_score(
        weights in prop::collection::vec(0.0_f64..1.0, 10),
        chosen in 0_usize..10,
        cuts in prop::collection::btree_set(1_usize..40, 0..8),
        space in prop::sample::select(vec!["", " ", "\n  "]),
    ) {
        let total: f64 = weights.iter().sum::<f64>() + 1e-9;
        let (before, after) = (format!("{{\"comment\":\"\",\"grade\":{space}"), "}");
        let text = format!("{before}{chosen}{after}");
        let mut ends: Vec<usize> = cuts.into_iter().filter(|cut| *cut < text.len()).collect();
        ends.push(text.len());
        let mut start = 0;
        let tokens: Vec<_> = ends.iter().map(|&end| {
            let token = &text[start..end];
            let at = before.len();
            let top: Vec<(String, f64)> = if (start..end).contains(&at) {
                let other = |digit: usize| {
                    format!("{}{digit}{}", &text[start..at], &text[at + 1..end])
                };
                (0..10).map(|digit| (other(digit), (weights[digit] / total).ln())).collect()
            } else {
                vec![(token.to_owned(), 0.0)]
            };
            start = end;
            let own = top.iter().find(|(it, _)| it == token).map_or(0.0, |(_, p)| *p);
            TokenLogprobs::new(token, own, top.iter().map(|(it, p)| (&**it, *p)))
        }).collect();
        let judge = GradedJudge::default().with_lm(replies(&reply(tokens)));
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let score = runtime.block_on(judge.evaluate(&example! {}, &pred())).unwrap();
        let mean = |(digit, weight): (usize, &f64)| digit as f64 * weight;
        let expected = weights.iter().enumerate().map(mean).sum::<f64>() / (total - 1e-9);
        prop_assert!((score.value - expected).abs() < 1e-6, "{} and {expected}", score.value);
    }
}
