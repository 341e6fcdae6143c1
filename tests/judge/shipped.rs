//! The shipped judges: their prompts, their scores, and their offline stand-ins.

use std::sync::Arc;

use dsrs_metrics::judge::shipped::{
    AnswerGroundedness, AnswerRelevance, CompleteAndGrounded, DecompositionalSemanticF1,
    GEvalCompleteness, LlmJudge, PairwisePreference, SemanticEquivalence, SemanticF1,
};
use dsrs_metrics::judge::{Models, Panel};
use dsrs_metrics::lm::{LmRequest, ScriptedLm};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{Evaluate, contract::Settings};
use serde_json::json;

use super::setup::{complete, grounded, says, unconfigured, user};

fn rows() -> (Example, Prediction) {
    let gold = example! {
        "question" => "Where is the Louvre?",
        "response" => "The Louvre is in Paris on the Seine",
        "answer" => ["Paris", "Paris, France"],
    };
    let pred = prediction! {
        "response" => "in Paris",
        "answer" => "Paris",
        "context" => ["The Louvre is a museum in Paris.", "It opened in 1793."],
    };
    (gold, pred)
}

#[tokio::test]
async fn semantic_f1_is_the_harmonic_mean_of_recall_and_precision() {
    let (gold, pred) = rows();
    let lm = Arc::new(says(
        json!({ "reasoning": "", "recall": 0.5, "precision": 1.0 }),
    ));
    let judge = SemanticF1::default().with_lm(Arc::clone(&lm));
    assert_eq!(judge.evaluate(&gold, &pred).await.unwrap().value, 2.0 / 3.0);
    assert_eq!(SemanticF1::SPEC.threshold, Some(0.66));
    assert!(user(&lm.requests()[0]).contains("in Paris"));
    let ideas = json!({
        "reasoning": "", "ground_truth_key_ideas": ["a", "b"], "system_response_key_ideas": ["a"],
        "discussion": "a", "recall": 0.0, "precision": 0.0,
    });
    let judge = DecompositionalSemanticF1::default().with_lm(says(ideas));
    assert_eq!(judge.evaluate(&gold, &pred).await.unwrap().value, 0.0);
}

#[tokio::test]
async fn complete_and_grounded_makes_two_calls_with_separate_inputs() {
    let (gold, pred) = rows();
    let lm = ScriptedLm::new()
        .cost(7)
        .when("retrieved_context", grounded("g", 1.0))
        .otherwise(complete("c", 0.5));
    let lm = Arc::new(lm);
    let judge = CompleteAndGrounded::default().with_lm(Arc::clone(&lm));
    let scored = judge.answer(MetricCall::new(&gold, &pred)).await.unwrap();
    assert_eq!(
        (scored.score.value, scored.score.cost_msats),
        (2.0 / 3.0, 14)
    );
    assert_eq!(scored.passed, Some(true));
    assert_eq!(
        scored.score.details.as_deref(),
        Some("completeness 0.5: c\ngroundedness 1: g")
    );
    let requests = lm.requests();
    let sees = |request: &LmRequest, text: &str| user(request).contains(text);
    assert!(sees(&requests[0], "on the Seine") && !sees(&requests[0], "museum"));
    assert!(!sees(&requests[1], "on the Seine") && sees(&requests[1], "museum"));
    let asks = |request: &LmRequest, fields: &[&str]| {
        let system = &request.messages[0].content;
        let places: Vec<_> = fields
            .iter()
            .map(|field| system.rfind(&format!("`{field}`")))
            .collect();
        assert!(
            places.iter().all(Option::is_some) && places.is_sorted(),
            "{places:?} in {system}"
        );
    };
    asks(
        &requests[0],
        &[
            "reasoning",
            "ground_truth_key_ideas",
            "system_response_key_ideas",
            "discussion",
            "completeness",
        ],
    );
    asks(
        &requests[1],
        &[
            "reasoning",
            "system_response_claims",
            "discussion",
            "groundedness",
        ],
    );
    let half = ScriptedLm::new()
        .when("retrieved_context", "no idea")
        .otherwise(complete("c", 0.5));
    let error = CompleteAndGrounded::default()
        .with_lm(half)
        .evaluate(&gold, &pred)
        .await;
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("returned no verdict")
    );
}

#[tokio::test]
async fn the_confidence_of_two_questions_is_the_smaller_one() {
    let (gold, pred) = rows();
    let model = |completeness: f64| {
        ScriptedLm::new()
            .when("retrieved_context", grounded("g", 1.0))
            .otherwise(complete("c", completeness))
    };
    let panel = Panel::new().models([model(0.25), model(0.75)]);
    let score = CompleteAndGrounded { panel }
        .evaluate(&gold, &pred)
        .await
        .unwrap();
    assert_eq!((score.value, score.confidence), (2.0 / 3.0, 0.75));
}

#[tokio::test]
async fn the_general_judge_receives_its_role_and_criteria() {
    let (gold, pred) = rows();
    let reply = json!({ "reasoning": "", "score": 0.75, "feedback": "Say more." });
    let lm = Arc::new(says(reply));
    let judge = LlmJudge::builder()
        .system_prompt("You are an expert code reviewer.")
        .criteria(["Correctness".to_owned(), "Code quality".to_owned()])
        .with_lm(Arc::clone(&lm))
        .build();
    let critique = judge.feedback_metric(&gold, &pred).await.unwrap();
    assert_eq!(
        (critique.score, critique.feedback.as_str()),
        (0.75, "Say more.")
    );
    let requests = lm.requests();
    let system = &requests[0].messages[0].content;
    assert!(system.contains("You are an expert code reviewer.") && system.contains("Code quality"));
    let unlabelled = prediction! { "answer" => "Paris" };
    assert_eq!(
        judge
            .evaluate(&example! {}, &unlabelled)
            .await
            .unwrap()
            .value,
        0.75
    );
}

#[tokio::test]
async fn relevance_groundedness_and_equivalence_are_yes_or_no() {
    let (gold, pred) = rows();
    let yes = |field: &str| says(json!({ "reasoning": "", field: true }));
    let relevance = AnswerRelevance::default().with_lm(yes("relevant"));
    assert_eq!(relevance.evaluate(&gold, &pred).await.unwrap().value, 1.0);
    let grounded = AnswerGroundedness::default().with_lm(yes("grounded"));
    assert_eq!(grounded.evaluate(&gold, &pred).await.unwrap().value, 1.0);
    let same = SemanticEquivalence::default().with_lm(yes("equivalent"));
    assert_eq!(same.evaluate(&gold, &pred).await.unwrap().value, 1.0);
    let text = prediction! { "answer" => "Paris", "context" => "one text" };
    assert_eq!(grounded.evaluate(&gold, &text).await.unwrap().value, 1.0);
}

#[tokio::test]
async fn a_g_eval_grade_is_normalized_by_its_scale() {
    let (gold, pred) = rows();
    for (grade, value) in [(1, 0.0), (2, 0.25), (3, 0.5), (4, 0.75), (5, 1.0)] {
        let judge =
            GEvalCompleteness::default().with_lm(says(json!({ "reasoning": "", "score": grade })));
        assert_eq!(
            judge.evaluate(&gold, &pred).await.unwrap().value,
            value,
            "{grade}"
        );
    }
}

#[tokio::test]
async fn the_shipped_pairwise_judge_asks_both_orders() {
    let (gold, pred) = rows();
    let lm = Arc::new(says(json!({ "reasoning": "", "preferred": "first" })));
    let judge = PairwisePreference::default().with_lm(Arc::clone(&lm));
    let score = judge.evaluate(&gold, &pred).await.unwrap();
    assert_eq!((score.value, score.confidence, lm.calls()), (0.5, 0.5, 2));
}

#[tokio::test]
async fn a_judge_with_position_bias_passes_nothing() {
    let (gold, pred) = rows();
    let says = |orders: [&str; 2]| {
        let replies = orders.map(|preferred| json!({ "reasoning": "", "preferred": preferred }));
        PairwisePreference::default().with_lm(ScriptedLm::new().replies(replies))
    };
    for (orders, value, passed) in [
        (["first", "first"], 0.5, false),
        (["second", "second"], 0.5, false),
        (["tie", "tie"], 0.5, false),
        (["first", "tie"], 0.75, true),
        (["first", "second"], 1.0, true),
        (["second", "first"], 0.0, false),
    ] {
        let judge = says(orders);
        let scored = Metric::answer(&judge, MetricCall::new(&gold, &pred))
            .await
            .unwrap();
        assert_eq!(
            (scored.score.value, scored.passed),
            (value, Some(passed)),
            "{orders:?}"
        );
    }
}

#[tokio::test]
async fn offline_the_shipped_judges_answer_from_token_overlap_and_say_so() {
    let (gold, pred) = rows();
    async fn offline(metric: impl Metric, gold: &Example, pred: &Prediction) -> f64 {
        let answer = || metric.answer(MetricCall::new(gold, pred)).into_future();
        let error = unconfigured(answer()).await.unwrap_err().to_string();
        assert!(
            error.contains("`: no language model is configured; "),
            "{error}"
        );
        let settings = Settings::new().with(Models::offline());
        let scored = settings.scope(answer()).await.unwrap();
        let details = scored.score.details.as_deref().unwrap();
        assert!(details.contains("judge: offline-lexical. "), "{details}");
        assert_eq!(scored.score.cost_msats, 0);
        assert!(scored.is_judged_offline());
        scored.score.value
    }
    // Truth without its article: louvre is in paris on seine. Response: in paris.
    let recall = 2.0 / 6.0;
    assert_eq!(
        offline(SemanticF1::default(), &gold, &pred).await,
        2.0 * recall / (1.0 + recall)
    );
    let ideas = DecompositionalSemanticF1::default();
    assert_eq!(
        offline(ideas, &gold, &pred).await,
        2.0 * recall / (1.0 + recall)
    );
    let both = CompleteAndGrounded::default();
    assert_eq!(
        offline(both, &gold, &pred).await,
        2.0 * recall / (1.0 + recall)
    );
    assert_eq!(offline(AnswerRelevance::default(), &gold, &pred).await, 0.0);
    assert_eq!(
        offline(AnswerGroundedness::default(), &gold, &pred).await,
        1.0
    );
    assert_eq!(
        offline(GEvalCompleteness::default(), &gold, &pred).await,
        0.25
    );
    assert_eq!(
        offline(PairwisePreference::default(), &gold, &pred).await,
        0.0
    );
    assert_eq!(
        offline(SemanticEquivalence::default(), &gold, &pred).await,
        1.0
    );
    assert_eq!(offline(LlmJudge::default(), &gold, &pred).await, 1.0);
}

/// The judges that compare with a reference response, which may be a list as for string metrics. Their models log the
/// prompts.
fn judges_of_references() -> Vec<(Box<dyn Metric>, Arc<ScriptedLm>)> {
    let f1 = json!({ "reasoning": "", "recall": 1.0, "precision": 1.0 });
    let ideas = json!({
        "reasoning": "", "ground_truth_key_ideas": [], "system_response_key_ideas": [],
        "discussion": "", "recall": 1.0, "precision": 1.0,
    });
    let both = ScriptedLm::new()
        .when("retrieved_context", grounded("", 1.0))
        .otherwise(complete("", 1.0));
    let [f1, ideas, both, steps, same, grade] = [
        says(f1),
        says(ideas),
        both,
        says(json!({ "reasoning": "", "score": 5 })),
        says(json!({ "reasoning": "", "equivalent": true })),
        says(json!({ "reasoning": "", "score": 1.0, "feedback": "" })),
    ]
    .map(Arc::new);
    vec![
        (Box::new(SemanticF1::default().with_lm(Arc::clone(&f1))), f1),
        (
            Box::new(DecompositionalSemanticF1::default().with_lm(Arc::clone(&ideas))),
            ideas,
        ),
        (
            Box::new(CompleteAndGrounded::default().with_lm(Arc::clone(&both))),
            both,
        ),
        (
            Box::new(GEvalCompleteness::default().with_lm(Arc::clone(&steps))),
            steps,
        ),
        (
            Box::new(SemanticEquivalence::default().with_lm(Arc::clone(&same))),
            same,
        ),
        (
            Box::new(LlmJudge::default().with_lm(Arc::clone(&grade))),
            grade,
        ),
    ]
}

#[tokio::test]
async fn judges_accept_a_list_of_references() {
    let (_, pred) = rows();
    let gold = |references: serde_json::Value| {
        let question = "Where is the Louvre?";
        example! { "question" => question, "response" => references, "answer" => references }
    };
    let prompts = async |references: serde_json::Value| {
        let mut prompts = Vec::new();
        for (judge, lm) in judges_of_references() {
            let scored = judge.evaluate(&gold(references.clone()), &pred).await;
            assert_eq!(scored.unwrap().value, 1.0, "{}", judge.name());
            prompts.extend(lm.requests().iter().map(|request| user(request).to_owned()));
        }
        prompts
    };
    let several = prompts(json!(["By the Seine", "Near Châtelet"])).await;
    let ungrounded: Vec<_> = several
        .iter()
        .filter(|prompt| !prompt.contains("retrieved_context"))
        .collect();
    assert_eq!(ungrounded.len(), 6);
    for prompt in ungrounded {
        assert!(
            prompt.contains("By the Seine") && prompt.contains("Near Châtelet"),
            "{prompt}"
        );
    }
    for prompt in prompts(json!(["By the Seine"])).await {
        assert!(
            !prompt.contains("[\n  \"By the Seine"),
            "one reference is a string: {prompt}"
        );
    }
}

#[tokio::test]
async fn an_empty_list_of_references_is_an_error_without_a_call() {
    let (_, pred) = rows();
    let gold = example! { "question" => "Where?", "response" => json!([]), "answer" => json!([]) };
    for (judge, lm) in judges_of_references() {
        let error = judge.evaluate(&gold, &pred).await.unwrap_err().to_string();
        let reason = "expected at least one reference answer, found an empty list";
        assert!(error.contains(reason), "{}: {error}", judge.name());
        assert_eq!(lm.requests().len(), 0);
    }
}

#[tokio::test]
async fn offline_the_closest_reference_counts() {
    let pred = prediction! { "response" => "in Paris", "context" => "in Paris" };
    let value = async |references: serde_json::Value| {
        let gold = example! { "question" => "Where?", "response" => references };
        let judge = SemanticF1::builder().offline().build();
        let both = judge.evaluate(&gold, &pred).await.unwrap().value;
        let judge = GEvalCompleteness::default().offline();
        (both, judge.evaluate(&gold, &pred).await.unwrap().value)
    };
    assert_eq!(
        value(json!(["Rome", "in Paris", "Paris on the Seine"])).await,
        (1.0, 1.0)
    );
    assert_eq!(value(json!(["Rome"])).await, value(json!("Rome")).await);
}

#[tokio::test]
async fn the_headline_says_that_no_model_judged() {
    let (gold, pred) = rows();
    let judge = SemanticF1::builder().offline().build();
    let evaluate = Evaluate::builder()
        .devset([gold])
        .inputs(["question"])
        .metric(judge);
    let answer = move |_: Example| {
        let pred = pred.clone();
        async move { Ok::<_, String>(pred) }
    };
    let result = evaluate.run(answer).await.unwrap();
    let headline = result.to_string();
    assert_eq!(
        headline,
        "semantic_f1  0.5000 [not enough rows] (mean of 1/1, 0 failed; judge: offline-lexical)"
    );
}
