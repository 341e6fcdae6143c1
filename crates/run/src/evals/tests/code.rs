//! Evals with baselines whose scores come from a different version of a metric's code.

use super::{NEW, Package, Update, message, no_worse, rows, wrong_on};
use crate::contract::{Example, Metric, Prediction};
use crate::evals::{Condition, Eval};
use crate::lm::{LmRequest, ScriptedLm};

mod first {
    #[dsrs_metrics::metric]
    pub(super) fn same(#[gold] answer: u64, #[pred("answer")] found: u64) -> bool {
        answer == found
    }
}

mod lax {
    #[dsrs_metrics::metric]
    pub(super) fn same(#[gold] answer: u64, #[pred("answer")] found: u64) -> bool {
        answer == found || found == 9
    }
}

mod raised {
    #[dsrs_metrics::metric(version = "2")]
    pub(super) fn same(#[gold] answer: u64, #[pred("answer")] found: u64) -> bool {
        answer == found || found == 9
    }
}

/// Say whether the answer is a digit.
#[dsrs_metrics::judge]
struct Digit {
    #[input(pred)]
    answer: u64,
    #[output]
    digit: bool,
}

const GATE: &str = "no_worse(same, by = 0.02)";

/// An eval of 40 rows with a baseline.
fn eval(
    package: &Package,
    update: Update,
    metric: impl Metric<Example, Prediction> + 'static,
) -> Eval {
    let eval = package
        .without_metric("capitals", "demo", update)
        .metric(metric);
    let eval = eval
        .devset(rows(40))
        .inputs(&["n"], &[])
        .baseline(None)
        .baseline_rows();
    eval.gate(GATE, no_worse())
}

/// Returns the message of an eval with a failing gate, which makes it show the other gates.
fn shown(eval: Eval) -> String {
    let eval = eval.gate("latency <= 0", Condition::Latency(0.0));
    message(|| eval.run(wrong_on(&[0, 3, 6])))
}

fn gate_line(message: &str) -> &str {
    message
        .lines()
        .find(|line| line.contains("no_worse") && line.starts_with("  "))
        .unwrap()
        .trim()
}

#[test]
fn a_gate_says_that_the_code_of_its_metric_changed() {
    let package = Package::new("code");
    assert_eq!(
        message(|| eval(&package, Update::Always, first::Same).run(wrong_on(&[0, 3, 6]))),
        "passed"
    );
    let same = shown(eval(&package, NEW, first::Same));
    assert!(!same.contains("the code of"), "{same}");

    let other = shown(eval(&package, NEW, lax::Same));
    let sentence =
        "; the code of `same` changed since the baseline; bump its version if its meaning changed";
    assert!(gate_line(&other).ends_with(sentence), "{other}");
    assert!(
        other.contains("to accept these results as the baseline"),
        "{other}"
    );

    // A gate on the run alone adds no note.
    let alone = gate_line(&other);
    assert_eq!(
        other.matches("the code of").count(),
        alone.matches("the code of").count()
    );

    let strict = message(|| {
        eval(&package, NEW, lax::Same)
            .strict()
            .run(wrong_on(&[0, 3, 6]));
    });
    assert_eq!(
        strict.lines().next().unwrap(),
        "eval `capitals` failed, because `strict` is set and a gate is undecided: no_worse(same, by = 0.02) undecided: not compared: same: the code of `same` changed since the baseline; bump its version if its meaning changed; write `baseline_rows, rescore` to score the old predictions with this code if it calls no model, or accept a new baseline (0 of 1 gates passed)"
    );

    let raised = shown(eval(&package, NEW, raised::Same));
    let expected = "not compared: same: `version` is \"1\" in the baseline, \"2\" now";
    assert!(gate_line(&raised).ends_with(expected), "{raised}");
}

/// The figures equal those from two runs by the same code, regardless of how the metrics differ.
#[test]
fn the_old_predictions_are_scored_again() {
    let package = Package::new("rescore");
    assert_eq!(
        message(|| eval(&package, Update::Always, first::Same).run(wrong_on(&[0, 3, 6]))),
        "passed"
    );
    let before = std::fs::read(package.path("evals/capitals.baseline.jsonl")).unwrap();

    let line = "baseline rescored with the new code: `same`";
    for message in [
        shown(eval(&package, NEW, lax::Same).strict().rescore()),
        shown(eval(&package, NEW, raised::Same).strict().rescore()),
    ] {
        assert!(message.lines().any(|it| it == line), "{message}");
        assert!(
            !message.contains("the code of") && !message.contains("not compared"),
            "{message}"
        );
        // All scores from the new code are the same in both.
        assert!(gate_line(&message).contains("no row changed"), "{message}");
    }
    let after = std::fs::read(package.path("evals/capitals.baseline.jsonl")).unwrap();
    assert_eq!(before, after, "rescoring writes nothing");
}

#[test]
fn a_judge_keeps_its_scores_and_the_message_says_so() {
    let package = Package::new("rescore_judge");
    let judged = |update, metric: fn(Eval) -> Eval| {
        let lm = ScriptedLm::new().named("p:m");
        let lm = lm.otherwise(|_: &LmRequest| r#"{"reasoning": "", "digit": true}"#);
        let judge = DigitJudge::default().with_lm(lm);
        let eval = package
            .without_metric("capitals", "demo", update)
            .metric(judge);
        metric(eval)
            .devset(rows(40))
            .inputs(&["n"], &[])
            .baseline(None)
            .baseline_rows()
    };
    let first = judged(Update::Always, |eval| eval.metric(first::Same));
    let first = first.gate("latency <= 60", Condition::Latency(60.0));
    assert_eq!(message(|| first.run(wrong_on(&[0, 3, 6]))), "passed");
    let second = shown(
        judged(NEW, |eval| eval.metric(lax::Same))
            .rescore()
            .gate(GATE, no_worse()),
    );
    let kept = "baseline not rescored: digit calls a model, so it keeps its scores";
    assert!(second.lines().any(|it| it == kept), "{second}");
    assert!(
        second.contains("baseline rescored with the new code: `same`"),
        "{second}"
    );
}

#[test]
fn a_baseline_without_predictions_cannot_be_rescored() {
    let package = Package::new("rescore_nothing");
    let mut plain = eval(&package, Update::Always, first::Same);
    plain.settings.baseline_has_rows = false;
    assert_eq!(message(|| plain.run(wrong_on(&[]))), "passed");
    assert_eq!(
        message(|| eval(&package, NEW, lax::Same).rescore().run(wrong_on(&[]))),
        "eval `capitals`: the baseline cannot be rescored: it has no predictions; accept a new baseline, or remove `rescore`\n"
    );
}

/// The hash of the test binary changes with each build.
#[test]
fn a_baseline_has_the_code_of_metrics_and_not_the_program() {
    let package = Package::new("code_of_baseline");
    assert_eq!(
        message(|| eval(&package, Update::Always, first::Same).run(wrong_on(&[]))),
        "passed"
    );
    let content = std::fs::read_to_string(package.path("evals/capitals.baseline.jsonl")).unwrap();
    let header: serde_json::Value = serde_json::from_str(content.lines().next().unwrap()).unwrap();
    let code = format!("{:016x}", first::Same::SPEC.code.unwrap());
    assert_eq!(header["run"]["metrics"]["same"]["code"], *code);
    assert!(!content.contains("program\""), "{content}");
}
