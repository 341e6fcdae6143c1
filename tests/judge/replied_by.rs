//! The models that replied to a judge, as their providers report them: in the metadata of a row, in the summary and in the
//! manifest, and compared.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dsrs_metrics::composite::{Composite, component, weighted};
use dsrs_metrics::judge::shipped::CompleteAndGrounded;
use dsrs_metrics::lm::{LanguageModel, LmError, LmErrorKind, LmReply, LmRequest, ScriptedLm};
use dsrs_metrics::metrics::Em;
use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::Pair;
use dsrs_metrics::runs::MetricSummary;
use dsrs_metrics::{Evaluate, Scored, async_trait};
use serde_json::{Value, json};

use super::setup::{BetterOfTwoJudge, PoliteJudge, complete, grounded, polite, rows};

fn from(model: &str, reply: &Value) -> LmReply {
    LmReply::new(reply.to_string()).with_model(model)
}

fn alias() -> ScriptedLm {
    ScriptedLm::new().named("openai:alias")
}

/// The entries of the metadata under `key`, as judge and `replied_by`.
fn entries(scored: &Scored, key: &str) -> Vec<(String, Value)> {
    let entries = scored.metadata().unwrap()[key].as_array().unwrap().iter();
    entries
        .map(|it| {
            (
                it["judge"].as_str().unwrap().to_owned(),
                it["replied_by"].clone(),
            )
        })
        .collect()
}

#[tokio::test]
async fn replies_are_counted_by_reported_model_and_fingerprint_also_those_that_cannot_be_read() {
    let (gold, pred) = rows();
    let lm = alias().replies([
        from("m-2", &json!("unreadable")).with_fingerprint("fp_2"),
        from("m-1", &polite(true)),
    ]);
    let judge = PoliteJudge::default().with_lm(lm);
    let scored = judge.answer(MetricCall::new(&gold, &pred)).await.unwrap();
    let expected = json!([
        { "model": "m-1", "replies": 1 },
        { "model": "m-2", "fingerprint": "fp_2", "replies": 1 },
    ]);
    assert_eq!(
        entries(&scored, "judges"),
        [("openai:alias".to_owned(), expected)]
    );
    let read: Vec<_> = scored.replied_by().into_iter().collect();
    assert_eq!(
        (read[0].model, read[0].fingerprint, read[0].replies),
        ("m-1", None, 1)
    );
    assert_eq!(
        (read[1].model, read[1].fingerprint, read[1].replies),
        ("m-2", Some("fp_2"), 1)
    );
    // Metadata survives the store.
    let stored = serde_json::to_string(&Outcome::Scored(scored.clone())).unwrap();
    let restored: Outcome = serde_json::from_str(&stored).unwrap();
    assert_eq!(restored.scored().unwrap().replied_by(), read);
}

/// A model that reports nothing about itself, or strings that no provider should send.
struct Reporting(&'static str, Option<&'static str>);

#[async_trait]
impl LanguageModel for Reporting {
    fn id(&self) -> &str {
        "own:m"
    }

    async fn complete(&self, _: &LmRequest) -> Result<LmReply, LmError> {
        let reply = from(self.0, &polite(true));
        Ok(match self.1 {
            Some(fingerprint) => reply.with_fingerprint(fingerprint),
            None => reply,
        })
    }
}

#[tokio::test]
async fn a_model_that_reports_nothing_has_no_entry_and_a_hostile_name_is_escaped() {
    let (gold, pred) = rows();
    let replied_by = async |lm: Reporting| {
        let judge = PoliteJudge::default().with_lm(lm);
        let scored = judge.answer(MetricCall::new(&gold, &pred)).await.unwrap();
        scored.metadata().unwrap()["judges"][0]
            .get("replied_by")
            .cloned()
    };
    assert_eq!(replied_by(Reporting("", None)).await, None);
    assert_eq!(replied_by(Reporting(" ", Some("\n"))).await, None);
    assert_eq!(
        replied_by(Reporting("", Some("fp_1"))).await,
        Some(json!([{ "model": "", "fingerprint": "fp_1", "replies": 1 }]))
    );
    let long = "m".repeat(10_000).leak();
    let shown = replied_by(Reporting(long, Some("fp\u{1b}[2J\u{202e}")))
        .await
        .unwrap();
    assert_eq!(shown[0]["model"].as_str().unwrap().chars().count(), 200);
    assert_eq!(shown[0]["fingerprint"], "fp\\u{1b}[2J\\u{202e}");
}

#[tokio::test]
async fn a_judge_of_a_panel_without_a_verdict_has_its_replies_too_and_one_without_a_reply_none() {
    let (gold, pred) = rows();
    let vote = |id: &str| {
        ScriptedLm::new()
            .named(id)
            .otherwise(from("m-1", &polite(true)))
    };
    let refused = from("m-9", &json!("I'm sorry, no."));
    let down = LmErrorKind::Disconnected("reset".into());
    let models = [
        ScriptedLm::new().named("a:refuses").otherwise(refused),
        vote("a:1"),
        ScriptedLm::new()
            .named("a:down")
            .otherwise(LmError::new("a:down", down)),
        vote("a:2"),
        vote("a:3"),
    ];
    let judge = PoliteJudge::builder().models(models).build();
    let scored = judge.answer(MetricCall::new(&gold, &pred)).await.unwrap();
    let one = json!([{ "model": "m-1", "replies": 1 }]);
    let judges = ["a:1", "a:2", "a:3"].map(|id| (id.to_owned(), one.clone()));
    assert_eq!(entries(&scored, "judges"), judges);
    let twice = json!([{ "model": "m-9", "replies": 2 }]);
    let failed = [
        ("a:refuses".to_owned(), twice),
        ("a:down".to_owned(), Value::Null),
    ];
    assert_eq!(entries(&scored, "failed"), failed);
    let all: u64 = scored.replied_by().iter().map(|it| it.replies).sum();
    assert_eq!(all, 5);
}

/// A verdict on the second order is not taken for a verdict of the next judge.
#[tokio::test]
async fn the_orders_of_a_judge_whose_first_order_failed_belong_to_it() {
    let refusal = from("m-1", &json!("I'm sorry, no."));
    let half = ScriptedLm::new().named("a:half").replies([
        refusal.clone(),
        refusal,
        from("m-1", &json!({ "better": "second" })),
    ]);
    let sure = |id: &str| {
        ScriptedLm::new()
            .named(id)
            .otherwise(|request: &LmRequest| {
                let text = &request.messages[1].content;
                let ours_first = text.find("OURS") < text.find("THEIRS");
                json!({ "better": if ours_first { "first" } else { "second" } })
            })
    };
    let judge = BetterOfTwoJudge::builder();
    let judge = judge
        .models([half, sure("a:1"), sure("a:2")])
        .max_concurrent_judges(1)
        .build();
    let (gold, pred) = (
        example! { "ours" => "OURS" },
        prediction! { "theirs" => "THEIRS" },
    );
    let scored = judge.answer(MetricCall::new(&gold, &pred)).await.unwrap();
    assert_eq!(scored.score.value, 1.0, "{:?}", scored.metadata());
    let judges = entries(&scored, "judges")
        .into_iter()
        .map(|(judge, _)| judge);
    assert_eq!(judges.collect::<Vec<_>>(), ["a:1", "a:2"]);
    let [(judge, replied_by)] = &entries(&scored, "failed")[..] else {
        panic!()
    };
    assert_eq!(
        (&**judge, replied_by),
        ("a:half", &json!([{ "model": "m-1", "replies": 3 }]))
    );
}

#[tokio::test]
async fn both_calls_of_a_judge_of_two_halves_and_the_components_of_a_composite_are_read() {
    let (gold, pred) = (
        example! { "question" => "Where?", "response" => "Paris", "answer" => "Paris" },
        prediction! { "response" => "Paris", "context" => "Paris", "answer" => "Paris" },
    );
    let lm = ScriptedLm::new()
        .named("openai:alias")
        .when("retrieved_context", from("m-2", &grounded("", 1.0)))
        .otherwise(from("m-1", &complete("", 1.0)));
    let judge = CompleteAndGrounded::default().with_lm(lm);
    let both = |scored: &Scored| -> Vec<(String, u64)> {
        scored
            .replied_by()
            .iter()
            .map(|it| (it.model.to_owned(), it.replies))
            .collect()
    };
    let expected = [("m-1".to_owned(), 1), ("m-2".to_owned(), 1)];
    let scored = judge.answer(MetricCall::new(&gold, &pred)).await.unwrap();
    assert_eq!(both(&scored), expected);
    let composite = weighted([(component(Em), 0.5), (component(judge), 0.5)]);
    let composite = Composite::builder("all", composite).build().unwrap();
    let scored = composite
        .answer(MetricCall::new(&gold, &pred))
        .await
        .unwrap();
    assert_eq!(both(&scored), expected);
}

#[tokio::test]
async fn the_offline_stand_in_has_no_entry() {
    use dsrs_metrics::judge::shipped::SemanticEquivalence;
    let (gold, pred) = (
        example! { "answer" => "Paris" },
        prediction! { "answer" => "Paris" },
    );
    let judge = SemanticEquivalence::builder().offline().build();
    assert_eq!(
        judge
            .answer(MetricCall::new(&gold, &pred))
            .await
            .unwrap()
            .replied_by(),
        []
    );
}

/// A model that replies to every third row as `m-2`, with two fingerprints.
fn moved() -> ScriptedLm {
    alias().otherwise(|request: &LmRequest| {
        let text = &request.messages[1].content;
        let (_, number) = text.split_once("number ").unwrap();
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        let number: usize = digits.parse().unwrap();
        let reply = from(
            if number.is_multiple_of(3) {
                "m-2"
            } else {
                "m-1"
            },
            &polite(true),
        );
        reply.with_fingerprint(format!("fp_{}", number % 2))
    })
}

fn counts(summary: &MetricSummary) -> Vec<(&str, Option<&str>, u64)> {
    let all = summary.judged_by.iter();
    all.map(|it| (&*it.model, it.fingerprint.as_deref(), it.replies))
        .collect()
}

fn numbered(rows: usize) -> impl Iterator<Item = Pair> {
    (0..rows).map(|number| {
        let pred = prediction! { "answer" => format!("number {number}") };
        Pair::new(
            number.to_string(),
            example! { "answer" => "number 1" },
            pred,
        )
    })
}

#[tokio::test]
async fn the_summary_counts_all_rows_at_any_concurrency_and_its_json_names_the_models() {
    let expected = [
        ("m-1", Some("fp_0"), 20),
        ("m-1", Some("fp_1"), 20),
        ("m-2", Some("fp_0"), 10),
        ("m-2", Some("fp_1"), 10),
    ];
    for concurrency in [1, 3, 64] {
        let judge = PoliteJudge::default().with_lm(moved());
        let evaluate = Evaluate::builder()
            .metric(Em)
            .metric(judge)
            .concurrency(concurrency);
        let result = evaluate.build().unwrap().score(numbered(60)).await.unwrap();
        assert_eq!(counts(result.metric("polite").unwrap()), expected);
        assert_eq!(counts(result.metric("em").unwrap()), []);
        let json = json!(result);
        assert_eq!(json["metrics"]["em"].get("judged_by"), None);
        assert_eq!(
            json["metrics"]["polite"]["judged_by"][0],
            json!({ "judge": "openai:alias", "model": "m-1", "fingerprint": "fp_0", "replies": 20 })
        );
    }
}

#[tokio::test]
async fn with_repeats_the_replies_of_all_repeats_are_counted() {
    let number = Arc::new(AtomicUsize::new(0));
    let lm = alias().otherwise(move |_: &LmRequest| {
        // The second call of each row is answered by another model.
        let call = number.fetch_add(1, Ordering::SeqCst);
        from(
            if call % 3 == 1 { "m-2" } else { "m-1" },
            &polite(call.is_multiple_of(2)),
        )
    });
    let judge = PoliteJudge::default().with_lm(lm);
    let evaluate = Evaluate::builder().metric(judge).repeats(3).concurrency(1);
    let result = evaluate.build().unwrap().score(numbered(4)).await.unwrap();
    let summary = result.metric("polite").unwrap();
    assert_eq!(counts(summary), [("m-1", None, 8), ("m-2", None, 4)]);
    let reduced = result.results[0].outcomes[0].scored().unwrap();
    let read: Vec<_> = reduced
        .replied_by()
        .iter()
        .map(|it| (it.judge, it.model, it.replies))
        .collect();
    assert_eq!(
        read,
        [("openai:alias", "m-1", 2), ("openai:alias", "m-2", 1)]
    );
}

#[tokio::test]
async fn the_manifest_has_the_counts_of_the_summary_and_other_models_are_not_compared() {
    let run = async |lm: ScriptedLm, rows| {
        let judge = PoliteJudge::default().with_lm(lm);
        let evaluate = Evaluate::builder()
            .metric(Em)
            .metric(judge)
            .build()
            .unwrap();
        evaluate.score(numbered(rows)).await.unwrap()
    };
    let a = run(moved(), 12).await;
    let judged_by = &a.manifest.run.judged_by;
    assert_eq!(judged_by.keys().collect::<Vec<_>>(), ["polite"]);
    assert_eq!(judged_by["polite"], a.metric("polite").unwrap().judged_by);
    assert_eq!(
        counts(a.metric("polite").unwrap())[0],
        ("m-1", Some("fp_0"), 4)
    );

    let identity = |b| a.compare(b).unwrap().identity.to_string();
    let b = run(alias().otherwise(from("m-1", &polite(true))), 12).await;
    let sentence = "not compared: polite: openai:alias replied as m-1 and m-2 in A, m-1 in B\n";
    assert_eq!(identity(&b), sentence);
    assert_eq!(identity(&a), "");
    // The reported models of another configured model differ in any case.
    let other = ScriptedLm::new()
        .named("openai:other")
        .otherwise(from("m-3", &polite(true)));
    let judged_by = "not compared: polite: judged by openai:alias in A, openai:other in B\n";
    assert_eq!(identity(&run(other, 12).await), judged_by);
}

/// A provider may report another fingerprint with each reply. Only the first ones are named.
#[tokio::test]
async fn replies_that_the_manifest_does_not_name_are_counted_and_noted() {
    let lm = alias().otherwise(|request: &LmRequest| {
        let (_, number) = request.messages[1].content.split_once("number ").unwrap();
        let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
        from("m-1", &polite(true)).with_fingerprint(format!("fp_{digits}"))
    });
    let evaluate = Evaluate::builder()
        .metric(PoliteJudge::default().with_lm(lm))
        .build()
        .unwrap();
    let result = evaluate.score(numbered(120)).await.unwrap();
    let run = &result.manifest.run;
    assert_eq!(
        (
            run.judged_by["polite"].len(),
            run.judged_by_others["polite"]
        ),
        (100, 20)
    );
    let note = "note: polite: replies from models or fingerprints not named in the manifest: 20 in A, 20 in B\n";
    assert_eq!(result.compare(&result).unwrap().identity.to_string(), note);
}
