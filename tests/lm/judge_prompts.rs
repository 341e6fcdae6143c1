//! Instruction, demonstrations and context of a judge are part of the key of its stored replies.

use std::sync::Arc;

use dsrs_metrics::lm::{ScriptedLm, Store, Stored};
use dsrs_metrics::prelude::*;

/// Say whether the answer is polite.
#[judge]
struct Courteous {
    #[input(pred)]
    answer: String,
    #[input(trace)]
    steps: Option<Trace>,
    #[output]
    polite: bool,
}

#[tokio::test]
async fn another_prompt_is_another_call_and_the_same_one_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let reply = r#"{ "reasoning": "", "polite": true }"#;
    let model = Arc::new(ScriptedLm::new().otherwise(reply));
    let lm = Arc::new(Stored::new(Arc::clone(&model), store));
    let judge = || CourteousJudge::default().with_lm(Arc::clone(&lm));
    let demo = |polite: bool| example! { "answer" => "Hello!", "polite" => polite };
    let judges = || {
        [
            judge(),
            judge().with_instruction("Judge the tone."),
            judge().with_context("The customer is a child."),
            judge().with_demos([demo(true)]),
            judge().with_demos([demo(false)]),
            judge().with_demos([demo(true), demo(true)]),
        ]
    };
    let (gold, pred) = (example! {}, prediction! { "answer" => "Please." });
    for (round, judge) in judges().into_iter().chain(judges()).enumerate() {
        judge.evaluate(&gold, &pred).await.unwrap();
        assert_eq!(model.calls(), round.min(5) as u64 + 1, "call {round}");
    }
    let trace = Trace { steps: Vec::new() };
    let call = MetricCall::new(&gold, &pred).with_trace(&trace);
    for _ in 0..2 {
        judge().answer(call).await.unwrap();
        assert_eq!(
            model.calls(),
            7,
            "a trace without steps is not an absent trace"
        );
    }
    let inputs = example! { "answer" => "Please." };
    dsrs_metrics::runs::Module::forward(&judge(), inputs)
        .await
        .unwrap();
    assert_eq!(
        model.calls(),
        7,
        "a module reads the stored reply of the row"
    );
}
