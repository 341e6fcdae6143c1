//! The expansion of `#[judge]`: spec, inputs, outputs, scores of every form, rows of every kind.

use std::sync::Arc;

use dsrs_metrics::judge::{JsonSchema, Judge as _, Overflow};
use dsrs_metrics::lm::{Role, ScriptedLm};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate, Outcome,
    contract::{ScoreKind, ScoreRange},
    rows::Pair,
};
use serde_json::json;

use super::setup::{
    Grade5Judge, PoliteJudge, SemanticRecallPrecision, SemanticRecallPrecisionInput,
    SemanticRecallPrecisionJudge, SemanticRecallPrecisionOutput, grade, polite, recall_precision,
    rows, says, user,
};

#[test]
fn the_spec_is_a_constant() {
    const SPEC: MetricSpec<'static> = SemanticRecallPrecisionJudge::SPEC;
    assert_eq!(
        (SPEC.name, SPEC.version),
        ("semantic_recall_precision", "2")
    );
    assert_eq!(
        (SPEC.tier, SPEC.kind),
        (MetricTier::Truth, ScoreKind::Number)
    );
    assert_eq!(
        (SPEC.cost_msats, SPEC.threshold, SPEC.is_async),
        (100, Some(0.66), true)
    );
    let required: Vec<_> = SPEC.required_fields().collect();
    assert_eq!(
        required,
        ["gold.question", "gold.response", "pred.response"]
    );
    assert!(SPEC.doc.starts_with("Compare a system's response"));
    assert_eq!(
        Grade5Judge::SPEC.range,
        Some(ScoreRange { min: 1.0, max: 5.0 })
    );
    assert_eq!(PoliteJudge::SPEC.kind, ScoreKind::Bool);
    assert!(!SPEC.strict_mode());
    assert_eq!(SPEC.is_success(0.66), Some(true));
    assert_eq!(SemanticRecallPrecisionJudge::default().num_judges(), 1);
}

/// Grade the answer.
#[judge(score = rescale(grade, 1..=5), reasoning = false)]
struct Rescaled {
    #[input(pred)]
    answer: String,
    #[output]
    grade: f64,
}

/// The names of the outputs are those of the expression.
macro_rules! scored {
    ($name:ident: ($a:ident, $b:ident, $stars:ident, $good:ident, $tone:ident, $other:ident) $score:expr) => {
        /// Grade the answer.
        #[judge(score = $score, reasoning = false)]
        struct $name {
            #[input(pred)]
            answer: String,
            #[output(range = 0.0..=1.0)]
            $a: f64,
            #[output(range = 0.25..=1.0)]
            $b: f64,
            #[output(range = 1..=5)]
            $stars: u8,
            #[output]
            $good: bool,
            #[output(labels = ["friendly", "neutral", "rude"])]
            $tone: String,
            #[output]
            $other: f64,
        }
    };
}
scored!(ByMean: (a, b, stars, good, tone, other) (a + b) / 2.0);
scored!(ByHarmonicMean: (a, b, stars, good, tone, other) harmonic_mean(a, b));
scored!(ByStars: (a, b, stars, good, tone, other) f64::from(stars - 1) / 4.0);
scored!(ByDifference: (a, b, stars, good, tone, other) a - 2.0 * b);
scored!(ByVerdict: (a, b, stars, good, tone, other) f64::from(u8::from(good)) * a);
scored!(ByTone: (a, b, stars, good, tone, other) match &*tone { "friendly" => 1.0, "neutral" => 0.5, _ => 0.0 });
scored!(ByBranch: (a, b, stars, good, tone, other) if good { a } else { -1.0 });
scored!(ByLimit: (a, b, stars, good, tone, other) other.clamp(0.0, 2.0).max(0.5));
scored!(ByOther: (a, b, stars, good, tone, other) a + other);
scored!(ByQuotient: (a, b, stars, good, tone, other) b / a);
scored!(ByShadowed: (a, b, stars, good, tone, other) match other { a => a });

#[tokio::test]
async fn a_score_has_the_range_of_its_expression() {
    let range = |min, max| Some(ScoreRange { min, max });
    for (spec, expected) in [
        (RescaledJudge::SPEC, range(0.0, 1.0)),
        (ByMeanJudge::SPEC, range(0.125, 1.0)),
        (ByHarmonicMeanJudge::SPEC, range(0.0, 1.0)),
        (ByStarsJudge::SPEC, range(0.0, 1.0)),
        (ByDifferenceJudge::SPEC, range(-2.0, 0.5)),
        (ByVerdictJudge::SPEC, range(0.0, 1.0)),
        (ByToneJudge::SPEC, range(0.0, 1.0)),
        (ByBranchJudge::SPEC, range(-1.0, 1.0)),
        (ByLimitJudge::SPEC, range(0.5, 2.0)),
        (ByOtherJudge::SPEC, None),
        (ByQuotientJudge::SPEC, None),
        (ByShadowedJudge::SPEC, None),
    ] {
        assert_eq!(spec.range, expected, "{}", spec.name);
    }
    let judge = RescaledJudge::default().with_lm(ScriptedLm::new().otherwise(r#"{ "grade": 6 }"#));
    let error = judge
        .evaluate(&example! {}, &prediction! { "answer" => "a" })
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `rescaled`: scripted:lm: expected a score in 0.0..=1.0 from the answer, found 1.25"
    );
}

#[test]
fn the_struct_is_kept_and_input_and_output_types_are_generated() {
    let whole = SemanticRecallPrecision {
        question: "q".into(),
        ground_truth: "t".into(),
        system_response: "r".into(),
        recall: 1.0,
        precision: 0.5,
    };
    let input = SemanticRecallPrecisionInput {
        question: whole.question.into(),
        ground_truth: whole.ground_truth.into(),
        system_response: whole.system_response.into(),
    };
    let output = SemanticRecallPrecisionOutput {
        reasoning: String::new(),
        recall: whole.recall,
        precision: whole.precision,
    };
    assert_eq!(input.question.get(), "q");
    assert_eq!(
        SemanticRecallPrecisionJudge::default().score_output(output, &Overflow::default()),
        2.0 / 3.0
    );
}

#[tokio::test]
async fn a_judge_makes_one_call_and_its_score_has_reasoning_and_cost() {
    let lm = Arc::new(says(recall_precision(0.5, 1.0)));
    let judge = SemanticRecallPrecisionJudge::builder()
        .with_lm(Arc::clone(&lm))
        .build();
    let (gold, pred) = rows();
    let scored = judge.answer(MetricCall::new(&gold, &pred)).await.unwrap();
    assert_eq!(scored.score.value, 2.0 / 3.0);
    assert_eq!(scored.score.confidence, 1.0);
    assert_eq!(scored.score.details.as_deref(), Some("because"));
    assert_eq!((scored.score.cost_msats, scored.passed), (7, Some(true)));
    let answer = &scored.metadata().unwrap()["judges"][0];
    assert_eq!(answer["judge"], "scripted:lm");
    assert_eq!(answer["answers"][0]["recall"], 0.5);

    let [request] = &lm.requests()[..] else {
        panic!("asked {} times", lm.calls())
    };
    assert_eq!(request.purpose, "judge semantic_recall_precision version 2");
    assert_eq!(request.messages.len(), 2);
    let system = &request.messages[0];
    assert_eq!(system.role, Role::System);
    assert!(
        system
            .content
            .starts_with("Compare a system's response to the ground truth")
    );
    assert!(system.content.contains("- `ground_truth`: the truth"));
    assert!(
        system
            .content
            .contains("- `recall` (number from 0 to 1): fraction of the ground truth")
    );
    assert!(
        !system.content.contains("Paris"),
        "rows stand in the user message alone"
    );
    assert!(user(request).contains("Paris, on the Seine"));
    let schema = &request.schema.as_ref().unwrap().schema;
    let fields: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(fields.len(), 3);
    assert_eq!(
        schema["required"],
        json!(["reasoning", "recall", "precision"])
    );
    let recall = &schema["properties"]["recall"];
    assert_eq!(
        (&recall["minimum"], &recall["maximum"]),
        (&json!(0.0), &json!(1.0))
    );
}

#[tokio::test]
async fn a_judge_calls_at_temperature_0_with_a_fixed_seed() {
    let lm = Arc::new(says(polite(true)));
    let judge = PoliteJudge::default().with_lm(Arc::clone(&lm));
    let (gold, pred) = rows();
    for _ in 0..2 {
        judge.evaluate(&gold, &pred).await.unwrap();
    }
    let requests = lm.requests();
    assert_eq!(requests[0], requests[1], "equal rows are equal requests");
    assert_eq!(requests[0].sampling.temperature, Some(0.0));
    assert_eq!(requests[0].sampling.seed, Some(42));
}

#[tokio::test]
async fn a_verdict_is_given_to_an_optimizer_and_a_score_to_anyone_else() {
    let judge = Grade5Judge::default().with_lm(says(grade(3)));
    let (gold, pred) = rows();
    let trace = Trace::default();
    let call = MetricCall::new(&gold, &pred);
    let Grade::Score(score) = judge.grade(call).await.unwrap() else {
        panic!("no score")
    };
    assert_eq!(score.value, 3.0);
    assert_eq!(
        judge.grade(call.with_trace(&trace)).await.unwrap(),
        Grade::Verdict(false)
    );
    let test: &dyn AcceptanceTest = &judge;
    assert!(!test.accepts(&gold, &pred, &trace).await.unwrap());
}

#[derive(Record)]
struct Question {
    question: String,
    response: String,
}

#[derive(Record)]
struct Response {
    response: String,
}

#[tokio::test]
async fn typed_rows_are_judged_too() {
    let judge = SemanticRecallPrecisionJudge::default().with_lm(says(recall_precision(1.0, 1.0)));
    let gold = Question {
        question: "q".into(),
        response: "r".into(),
    };
    let score = judge
        .evaluate(
            &gold,
            &Response {
                response: "r".into(),
            },
        )
        .await
        .unwrap();
    assert_eq!(score.value, 1.0);
}

#[tokio::test]
async fn a_row_without_a_field_is_not_judged() {
    let lm = Arc::new(says(polite(true)));
    let judge = PoliteJudge::default().with_lm(Arc::clone(&lm));
    let error = judge
        .evaluate(&example! {}, &prediction! {})
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "metric `polite`: no field `pred.answer`; found no fields"
    );
    assert_eq!(lm.calls(), 0);
    assert!(!Metric::can_evaluate(&judge, &example! {}, &prediction! {}));
}

#[judge_output]
#[serde(rename_all = "snake_case")]
enum Tone {
    Friendly,
    Rude,
}

#[judge_output]
struct Finding {
    quote: String,
    severity: u8,
}

/// Judge the tone of an answer.
#[judge(
    score = tone == Tone::Friendly && findings.iter().all(|finding| finding.quote.is_empty() || finding.severity <= limit),
    reasoning = false,
    name = "tone_check",
    struct = ToneCheck,
    scoring(max_tokens = 300, temperature = 0.5),
)]
struct ToneOfAnswer {
    #[input(pred, default = "nothing")]
    answer: String,
    #[input(gold)]
    hint: Option<String>,
    #[input(pred = "sources", default)]
    passages: Vec<String>,
    /// The worst that is tolerated.
    #[param(default = 2)]
    limit: u8,
    #[output]
    tone: Tone,
    #[output(desc = "what stands out")]
    findings: Vec<Finding>,
    #[output(labels = ["short", "long"])]
    length: String,
    #[output]
    remark: Option<String>,
}

fn tone(tone: &str, severity: u8) -> serde_json::Value {
    json!({ "tone": tone, "findings": [{ "quote": "x", "severity": severity }], "length": "short" })
}

#[tokio::test]
async fn outputs_are_enums_lists_nested_types_labels_and_options() {
    let lm = Arc::new(says(tone("friendly", 3)));
    let strict = ToneCheck::default().with_lm(Arc::clone(&lm));
    let lenient = ToneCheck::builder()
        .limit(3)
        .with_lm(Arc::clone(&lm))
        .build();
    let (gold, pred) = (example! {}, prediction! { "sources" => ["a", "b"] });
    assert_eq!(strict.evaluate(&gold, &pred).await.unwrap().value, 0.0);
    assert_eq!(lenient.evaluate(&gold, &pred).await.unwrap().value, 1.0);

    let requests = lm.requests();
    let request = &requests[0];
    assert_eq!(request.sampling.max_tokens, Some(300));
    assert_eq!(request.sampling.temperature, Some(0.5));
    let properties = &request.schema.as_ref().unwrap().schema["properties"];
    assert!(properties.get("reasoning").is_none());
    assert_eq!(properties["tone"]["enum"], json!(["friendly", "rude"]));
    assert_eq!(properties["length"]["enum"], json!(["short", "long"]));
    let finding = &properties["findings"]["items"];
    assert_eq!(finding["additionalProperties"], false);
    assert_eq!(finding["required"], json!(["quote", "severity"]));
    assert!(request.messages[0].content.contains("`limit`:\n2"));
    assert!(
        user(request).contains("is absent]]"),
        "an absent input is marked as absent"
    );
    assert!(
        user(request).contains("\nnothing\n"),
        "a default stands where the row has nothing"
    );
    assert!(user(request).contains("[\n  \"a\",\n  \"b\"\n]"));
}

#[derive(Debug, Clone, serde::Deserialize, JsonSchema)]
#[schemars(crate = "dsrs_metrics::judge::schemars")]
struct Step {
    holds: bool,
    parts: Vec<Step>,
}

/// Check the proof.
#[judge(score = proof.holds && proof.parts.iter().all(|part| part.holds))]
struct Proof {
    #[input(pred)]
    answer: String,
    #[output]
    proof: Step,
}

#[test]
fn a_recursive_type_has_its_own_definition() {
    let schema = ProofJudge::signature().schema();
    let step = &schema["$defs"]["proof_Step"];
    for whole in [&schema["properties"]["proof"], step] {
        assert_eq!(whole["required"], json!(["holds", "parts"]));
        assert_eq!(
            whole["properties"]["parts"]["items"],
            json!({ "$ref": "#/$defs/proof_Step" })
        );
    }
    assert_eq!(step["additionalProperties"], false, "closed like any other");
}

/// Prefer the better answer.
#[judge(lower_is_better, threshold = 0.2, range = 0.0..=1.0, score = 1.0 - quality, strict)]
struct Badness {
    #[input(pred)]
    answer: String,
    #[output(range = 0.0..=1.0)]
    quality: f64,
}

#[tokio::test]
async fn strict_and_lower_is_better_work_as_for_any_metric() {
    let judge = BadnessJudge::default().with_lm(says(json!({ "reasoning": "", "quality": 0.9 })));
    let (gold, pred) = rows();
    assert_eq!(judge.evaluate(&gold, &pred).await.unwrap().value, 1.0);
    assert!(BadnessJudge::SPEC.strict_mode() && BadnessJudge::SPEC.higher_is_better());
}

#[tokio::test]
async fn feedback_is_for_optimizers_and_reasoning_for_people() {
    /// Grade and criticise.
    #[judge]
    struct Critic {
        #[input(pred)]
        answer: String,
        #[output]
        reasoning: String,
        #[output(range = 0.0..=10.0)]
        score: f64,
        #[output]
        feedback: String,
    }
    let reply = json!({ "reasoning": "thought", "score": 8.5, "feedback": "be brief" });
    let lm = Arc::new(says(reply));
    let judge = CriticJudge::default().with_lm(Arc::clone(&lm));
    let (gold, pred) = rows();
    let scored = judge.answer(MetricCall::new(&gold, &pred)).await.unwrap();
    assert_eq!(scored.score.details.as_deref(), Some("thought"));
    assert_eq!(scored.feedback().unwrap(), "be brief");
    let requests = lm.requests();
    let schema = &requests[0].schema.as_ref().unwrap().schema;
    assert_eq!(
        schema["required"],
        json!(["reasoning", "score", "feedback"]),
        "reasoning comes first"
    );
    let critique = judge.feedback_metric(&gold, &pred).await.unwrap();
    assert_eq!(
        (critique.score, critique.feedback.as_str()),
        (8.5, "be brief")
    );
}

#[tokio::test]
async fn each_repeat_of_a_row_is_a_request_of_its_own() {
    let lm = Arc::new(ScriptedLm::new().remember(8).otherwise(polite(true)));
    let judge = PoliteJudge::default().with_lm(Arc::clone(&lm));
    let evaluate = Evaluate::builder()
        .metric(judge)
        .repeats(3)
        .build()
        .unwrap();
    let row = Pair::new("a", example! {}, prediction! { "answer" => "good" });
    let result = evaluate.score([row]).await.unwrap();
    assert_eq!(result.metrics[0].repeats.as_ref().unwrap().evaluations, 3);
    let draws: Vec<_> = lm.requests().iter().map(|request| request.draw).collect();
    assert_eq!(draws, [0, 1024, 2048]);
}

#[tokio::test]
async fn a_judge_is_a_metric_of_the_harness() {
    let lm = ScriptedLm::new()
        .cost(7)
        .when("good", polite(true))
        .when("bad", polite(false))
        .otherwise("I have no idea");
    let asks = |answer: &str| example! { "ask" => answer }.with_inputs(["ask"]);
    let evaluate = Evaluate::builder()
        .devset(["good", "bad", "odd", "good one"].map(asks))
        .metric(PoliteJudge::default().with_lm(lm))
        .concurrency(3)
        .build()
        .unwrap();
    let program = |inputs: Example| async move {
        Ok::<_, String>(prediction! { "answer" => inputs.get("ask").cloned().unwrap() })
    };
    let result = evaluate.run(program).await.unwrap();
    assert_eq!(
        result.to_string(),
        "polite  50.00% [15.00, 85.00] (2/4, 1 failed counted as 0; 66.67% of the 3 scored)"
    );
    let outcomes: Vec<&Outcome> = result.results.iter().map(|row| &row.outcomes[0]).collect();
    assert_eq!(
        outcomes
            .iter()
            .map(|outcome| outcome.value())
            .collect::<Vec<_>>(),
        [Some(1.0), Some(0.0), None, Some(1.0)]
    );
    assert_eq!(outcomes[2].name(), "metric_failed");
    assert!(
        outcomes[2]
            .error()
            .unwrap()
            .contains("returned no verdict after one repair")
    );
    let polite = &result.metrics[0];
    assert_eq!(
        (polite.scored, polite.failed, polite.cost_msats),
        (3, 1, 5 * 7)
    );
}

/// Whether the answer is short.
#[metric]
fn brief(#[pred] answer: &str) -> bool {
    answer.len() < 20
}

/// Brief and polite.
#[metric(gate(proxy(brief) >= 1.0, truth(polite_judge)))]
struct BriefAndPolite;

#[tokio::test]
async fn a_judge_is_a_component_like_any_other() {
    use dsrs_metrics::contract::Settings;
    use dsrs_metrics::judge::Models;

    assert_eq!(BriefAndPolite::SPEC.tier, MetricTier::Truth);
    assert_eq!(BriefAndPolite::SPEC.cost_msats, 10);
    let lm = Arc::new(says(polite(true)));
    let settings = Settings::new().with(Models::new(Arc::clone(&lm)));
    let (gold, pred) = rows();
    let metric = BriefAndPolite;
    let long = prediction! { "answer" => "An answer that goes on and on and on." };
    let judged = async {
        let outcome = Outcome::from(metric.answer(MetricCall::new(&gold, &long)).await);
        (metric.evaluate(&gold, &pred).await.unwrap(), outcome)
    };
    let (score, outcome) = settings.scope(judged).await;
    assert_eq!((score.value, score.cost_msats), (1.0, 7));
    assert_eq!((outcome.name(), lm.calls()), ("gated", 1));
}
