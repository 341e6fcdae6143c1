//! Judges that score the turns of a conversation.

use std::sync::Arc;

use dsrs_metrics::judge::Prompt;
use dsrs_metrics::judge::shipped::{
    ArgumentCorrectness, ConversationCompleteness, ConversationalFaithfulness, GoalAccuracy,
    KnowledgeRetention, TaskCompletion, TopicAdherence, TopicScore,
};
use dsrs_metrics::lm::{LmRequest, ScriptedLm};
use dsrs_metrics::prelude::*;
use dsrs_metrics::rows::Pair;
use dsrs_metrics::stats::Uncertainty;
use dsrs_metrics::trajectory::{Message, Role};
use dsrs_metrics::{Evaluate, Outcome};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Judge whether the last message is polite.
#[judge(turns(of = assistant, window = 2), reasoning = false, cost = "10 msat")]
struct Polite {
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}

/// Judge whether the last message is polite.
#[judge(turns(of = assistant, window = 2, reduce = min, max = 3), reasoning = false)]
struct AlwaysPolite {
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}

/// Judge whether the last message is polite.
#[judge(reasoning = false)]
struct PoliteEnd {
    #[input(pred)]
    conversation: Trajectory,
    #[output]
    polite: bool,
}

fn lines(request: &LmRequest) -> Vec<String> {
    let inputs = Prompt::parse(&request.messages[1].content).unwrap();
    inputs[0]
        .content
        .unwrap_or_default()
        .lines()
        .map(str::to_owned)
        .collect()
}

/// A model that finds each message with "please" polite.
fn lm() -> Arc<ScriptedLm> {
    Arc::new(ScriptedLm::new().otherwise(|request: &LmRequest| {
        json!({ "polite": lines(request).last().unwrap().contains("please") })
    }))
}

fn conversation(texts: &[&str]) -> Prediction {
    let messages = texts.iter().enumerate().map(|(index, text)| {
        json!({ "role": if index % 2 == 0 { "user" } else { "assistant" }, "content": text })
    });
    prediction! { "conversation" => messages.collect::<Value>() }
}

#[tokio::test]
async fn each_turn_is_judged_with_the_messages_before_it() {
    let lm = lm();
    let judge = PoliteJudge::default().with_lm(Arc::clone(&lm));
    let pred = conversation(&[
        "Hello",
        "Sit down, please.",
        "Why?",
        "Because.",
        "Ah",
        "Wait, please.",
    ]);
    let score = judge.evaluate(&example! {}, &pred).await.unwrap();
    assert_eq!((score.value, score.cost_msats), (2.0 / 3.0, 30));
    assert_eq!(
        score.details.as_deref(),
        Some("message 2 (1)\nmessage 4 (0)\nmessage 6 (1)")
    );
    let mut shown: Vec<_> = lm.requests().iter().map(lines).collect();
    shown.sort_by_key(|lines| lines.last().cloned());
    let expected = [
        vec![
            "message 1, user: \"Hello\"",
            "message 2, assistant: \"Sit down, please.\"",
        ],
        vec![
            "message 1, assistant: \"Sit down, please.\"",
            "message 2, user: \"Why?\"",
            "message 3, assistant: \"Because.\"",
        ],
        vec![
            "message 1, assistant: \"Because.\"",
            "message 2, user: \"Ah\"",
            "message 3, assistant: \"Wait, please.\"",
        ],
    ];
    assert_eq!(shown, expected, "two messages before each turn");
    assert_eq!(
        PoliteJudge::SPEC.range.map(|range| (range.min, range.max)),
        Some((0.0, 1.0))
    );
}

#[tokio::test]
async fn the_reduction_is_the_declared_one() {
    let judge = AlwaysPoliteJudge::default().with_lm(lm());
    let min = async |texts: &[&str]| {
        judge
            .evaluate(&example! {}, &conversation(texts))
            .await
            .unwrap()
            .value
    };
    assert_eq!(min(&["a", "please", "b", "please"]).await, 1.0);
    assert_eq!(min(&["a", "please", "b", "no"]).await, 0.0);
    let long = conversation(&["a", "b", "c", "d", "e", "f", "g", "h"]);
    let error = judge
        .evaluate(&example! {}, &long)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the conversation has more than 3 turns; shorten it"),
        "{error}"
    );
}

#[tokio::test]
async fn a_conversation_without_turns_abstains_and_a_failed_turn_fails_the_row() {
    let judge = PoliteJudge::default().with_lm(lm());
    let silent = prediction! { "conversation" => json!([
        { "role": "user", "content": "Hello" },
        { "role": "assistant", "content": " ", "tool_calls": [{ "id": "a", "name": "search", "args": {} }] },
    ]) };
    let error = judge.evaluate(&example! {}, &silent).await.unwrap_err();
    assert_eq!(
        Outcome::from(error),
        Outcome::Abstained,
        "a message without text is no turn"
    );

    let broken = ScriptedLm::new().otherwise(|request: &LmRequest| {
        match lines(request).last().unwrap().contains("please") {
            true => json!({ "polite": true }),
            false => json!({ "polite": "maybe" }),
        }
    });
    let judge = PoliteJudge::default().with_lm(broken);
    let error = judge
        .evaluate(&example! {}, &conversation(&["a", "please", "b", "no"]))
        .await;
    let error = error.unwrap_err();
    assert!(error.to_string().contains("message 4: "), "{error}");
    assert_eq!(
        error.cost_msats(),
        30,
        "the paid turn, and the turn that was repaired"
    );

    let unknown = prediction! { "conversation" => json!([{ "role": "robot", "content": "beep" }]) };
    let error = judge
        .evaluate(&example! {}, &unknown)
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("message 1: unknown role `robot`"), "{error}");
}

fn texts() -> impl Strategy<Value = Vec<Vec<bool>>> {
    let turns =
        (1..=4_usize).prop_flat_map(|turns| proptest::collection::vec(any::<bool>(), turns));
    proptest::collection::vec(turns, 2..=5)
}

/// The conversation with these polite and other replies.
fn replies(polite: &[bool]) -> Vec<Message> {
    polite
        .iter()
        .flat_map(|polite| {
            let reply = if *polite { "please" } else { "no" };
            [
                Message::new(Role::User, "go on"),
                Message::new(Role::Assistant, reply),
            ]
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The score of a conversation is the mean over the rows of its turns; the interval of a run is that of conversations: with as
    /// many turns in each, the clustered interval of the flattened rows.
    #[test]
    fn turns_are_the_flattened_rows(rows in texts(), turns in 1..=3_usize) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            for row in &rows {
                let messages = replies(row);
                let pred = prediction! { "conversation" => json!(messages) };
                let judge = PoliteJudge::default().with_lm(lm());
                let found = judge.evaluate(&example! {}, &pred).await.unwrap().value;
                let flat = PoliteEndJudge::default().with_lm(lm());
                let mut sum = 0.0;
                for end in (1..messages.len()).step_by(2) {
                    let window = &messages[end.saturating_sub(2)..=end];
                    let pred = prediction! { "conversation" => json!(window) };
                    sum += flat.evaluate(&example! {}, &pred).await.unwrap().value;
                }
                assert_eq!(found, sum / row.len() as f64);
            }
            let same: Vec<Vec<bool>> = rows.iter().map(|row| {
                row.iter().copied().cycle().take(turns).collect()
            }).collect();
            let whole = same.clone().into_iter().enumerate().map(|(id, row)| {
                Pair::new(id.to_string(), example! {}, prediction! { "conversation" => json!(replies(&row)) })
            });
            let flat = same.clone().into_iter().enumerate().flat_map(|(id, row)| {
                let messages = replies(&row);
                (1..messages.len()).step_by(2).map(move |end| {
                    let pred = prediction! { "conversation" => json!(messages[..=end]) };
                    Pair::new(format!("{id}.{end}"), example! { "dialogue" => id }, pred)
                })
            });
            let judge = PoliteJudge::default().with_lm(lm());
            let whole = Evaluate::builder().metric(judge).build().unwrap().score(whole).await.unwrap();
            let judge = PoliteEndJudge::default().with_lm(lm());
            let evaluate = Evaluate::builder().metric(judge).statistics(|statistics| statistics.group("gold.dialogue")).build().unwrap();
            let flat = evaluate.score(flat.collect::<Vec<_>>()).await.unwrap();
            assert!((whole.score.unwrap() - flat.score.unwrap()).abs() < 1e-12);
            let stderr = |uncertainty: Uncertainty| match uncertainty {
                Uncertainty::Known { stderr, .. } => stderr,
                Uncertainty::WithoutStderr { .. } => 0.0,
                other => panic!("{other:?}"),
            };
            let [of_rows, of_groups] = [&whole, &flat].map(|it| stderr(it.metrics[0].uncertainty));
            assert!((of_rows - of_groups).abs() < 1e-12, "{of_rows} {of_groups}");
        });
    }
}

/// A model with a list for the step, and a reply for the last call.
fn steps(step: &'static str, value: Value, last: Value) -> ScriptedLm {
    ScriptedLm::new().otherwise(move |request: &LmRequest| {
        match request.purpose.ends_with(&format!("step {step}")) {
            true => json!({ step: value.clone() }),
            false => last.clone(),
        }
    })
}

#[tokio::test]
async fn the_shipped_judges_of_conversations_are_their_formulas() {
    let gold = example! { "topics" => ["travel"], "task" => "Book a room.", "goal" => "A room is booked." };
    let pred = conversation(&[
        "A room in Rome?",
        "It costs 40 euros.",
        "Thanks",
        "You are welcome.",
    ]);
    let trajectory = pred.get("conversation").unwrap().clone();
    let pred = prediction! { "conversation" => trajectory.clone(), "trajectory" => trajectory };

    let kept = ScriptedLm::new().otherwise(json!({ "reasoning": "r", "retained": true }));
    let score = KnowledgeRetention::default()
        .with_lm(kept)
        .evaluate(&gold, &pred)
        .await
        .unwrap();
    assert_eq!((score.value, score.cost_msats), (1.0, 200));
    assert_eq!(
        score.details.as_deref(),
        Some("message 2 (1): r\nmessage 4 (1): r")
    );

    let fulfilled =
        |item: u32, fulfilled: bool| json!({ "item": item, "reason": "", "fulfilled": fulfilled });
    let lm = steps(
        "intentions",
        json!(["A price.", "A booking."]),
        json!({ "verdicts": [fulfilled(1, true), fulfilled(2, false)] }),
    );
    let judge = ConversationCompleteness::default().with_lm(lm);
    assert_eq!(judge.evaluate(&gold, &pred).await.unwrap().value, 0.5);

    // The first reply has a claim, the second one none: it does not count.
    let lm = ScriptedLm::new().otherwise(|request: &LmRequest| {
        let is_last = request.messages[1].content.contains("welcome");
        match (request.purpose.ends_with("step claims"), is_last) {
            (true, true) => json!({ "claims": [] }),
            (true, false) => json!({ "claims": ["A room costs 40 euros."] }),
            _ => json!({ "verdicts": [{ "item": 1, "reason": "", "supported": false }] }),
        }
    });
    let judge = ConversationalFaithfulness::default().with_lm(lm);
    let score = judge.evaluate(&gold, &pred).await.unwrap();
    let details = score.details.unwrap();
    assert_eq!(score.value, 0.0);
    assert!(
        details.ends_with("message 4: nothing to judge"),
        "{details}"
    );

    let topic = |item: u32, answered: bool, allowed: bool| json!({ "item": item, "reason": "", "answered": answered, "allowed": allowed });
    let verdicts = [
        (true, true),
        (true, false),
        (false, true),
        (true, true),
        (false, false),
    ];
    let verdicts: Value = (1..)
        .zip(verdicts)
        .map(|(item, (answered, allowed))| topic(item, answered, allowed))
        .collect();
    let topics = [
        (TopicScore::Precision, 2.0 / 3.0),
        (TopicScore::Recall, 2.0 / 3.0),
        (TopicScore::F1, 2.0 / 3.0),
        (TopicScore::Accuracy, 3.0 / 5.0),
    ];
    for (headline, expected) in topics {
        let lm = steps(
            "topics",
            json!(["a", "b", "c", "d", "e"]),
            json!({ "verdicts": verdicts }),
        );
        let judge = TopicAdherence::builder()
            .headline(headline)
            .with_lm(lm)
            .build();
        assert_eq!(
            judge.evaluate(&gold, &pred).await.unwrap().value,
            expected,
            "{headline:?}"
        );
    }

    let outcome = json!("The price is known.");
    let lm = steps(
        "outcome",
        outcome.clone(),
        json!({ "reasoning": "no booking", "completion": 0.25 }),
    );
    let score = TaskCompletion::default()
        .with_lm(lm)
        .evaluate(&gold, &pred)
        .await
        .unwrap();
    assert_eq!(
        (score.value, score.details.as_deref()),
        (0.25, Some("no booking"))
    );
    let lm = steps(
        "outcome",
        outcome,
        json!({ "reasoning": "", "achieved": true }),
    );
    let score = GoalAccuracy::default()
        .with_lm(lm)
        .evaluate(&gold, &pred)
        .await
        .unwrap();
    assert_eq!(score.value, 1.0);
}

#[tokio::test]
async fn the_arguments_of_each_call_are_judged() {
    let calls =
        json!([{ "name": "search", "args": { "city": "Rome" } }, { "name": "book", "args": {} }]);
    let (gold, pred) = (
        example! { "task" => "Book a room in Rome." },
        prediction! { "trajectory" => calls },
    );
    let verdict =
        |item: u32, correct: bool| json!({ "item": item, "reason": "", "correct": correct });
    let reply = json!({ "verdicts": [verdict(1, true), verdict(2, false)] });
    let lm = Arc::new(ScriptedLm::new().otherwise(reply));
    let judge = ArgumentCorrectness::default().with_lm(Arc::clone(&lm));
    assert_eq!(judge.evaluate(&gold, &pred).await.unwrap().value, 0.5);
    let requests = lm.requests();
    let inputs = Prompt::parse(&requests[0].messages[1].content).unwrap();
    let expected = "1: \"search\" with {\"city\":\"Rome\"}\n2: \"book\" with {}";
    assert_eq!(inputs[1].content, Some(expected));

    let none = prediction! { "trajectory" => json!([{ "role": "assistant", "content": "Done." }]) };
    let error = judge.evaluate(&gold, &none).await.unwrap_err();
    assert_eq!(Outcome::from(error), Outcome::Abstained);
}

#[tokio::test]
async fn a_conversation_of_a_hundred_thousand_messages_is_judged_or_has_too_many_turns() {
    let message = |role: &str, text: &str| json!({ "role": role, "content": text });
    let long = |turns: usize| {
        let mut messages = vec![message("user", "go on"); 100_000];
        messages.extend(vec![message("assistant", "please"); turns]);
        prediction! { "conversation" => messages }
    };
    let shown = Arc::new(ScriptedLm::new().otherwise(json!({ "retained": true, "reasoning": "" })));
    let judge = KnowledgeRetention::default().with_lm(Arc::clone(&shown));
    assert_eq!(
        judge.evaluate(&example! {}, &long(2)).await.unwrap().value,
        1.0
    );
    let lines = lines(&shown.requests()[0]);
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("[.. ") && line.contains(" steps ")),
        "{lines:?}"
    );
    assert_eq!(
        lines.last().unwrap(),
        "message 100001, assistant: \"please\""
    );
    let error = judge
        .evaluate(&example! {}, &long(101))
        .await
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("the conversation has more than 100 turns"),
        "{error}"
    );
    assert_eq!(shown.calls(), 2, "no call for a row with too many turns");
}
