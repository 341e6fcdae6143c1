//! The name of a judge: the name of its struct with the suffix `Judge`, which is not added twice.

use dsrs_metrics::judge::shipped::LlmJudge;
use dsrs_metrics::lm::ScriptedLm;
use dsrs_metrics::prelude::*;
use serde_json::json;

/// Judge whether the answer is relevant to the question.
#[judge(cost = "3 msat")]
pub(crate) struct AnswerRelevanceJudge {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(pred, desc = "the answer to evaluate")]
    answer: String,
    #[output(range = 0.0..=1.0, desc = "the relevance")]
    score: f64,
}

/// A derive on the struct still compiles.
#[judge(struct = ToneJudge)]
#[derive(Debug, Clone)]
struct ToneJudge {
    #[input(pred)]
    answer: String,
    #[output]
    polite: bool,
}

/// The suffix counts, not the word.
#[judge]
struct Judgement {
    #[input(pred)]
    answer: String,
    #[output]
    good: bool,
}

#[metric(min(answer_relevance_judge))]
struct Least;

#[tokio::test]
async fn a_struct_that_is_named_judge_is_the_metric() {
    let spec = AnswerRelevanceJudge::SPEC;
    assert_eq!((spec.name, spec.cost_msats), ("answer_relevance_judge", 3));
    let lm = ScriptedLm::new().otherwise(json!({ "reasoning": "", "score": 0.75 }));
    let judge = AnswerRelevanceJudge::builder().with_lm(lm).build();
    let (gold, pred) = (
        example! { "question" => "q" },
        prediction! { "answer" => "a" },
    );
    assert_eq!(judge.evaluate(&gold, &pred).await.unwrap().value, 0.75);
    let input = AnswerRelevanceJudgeInput {
        question: "q".to_owned().into(),
        answer: "a".to_owned().into(),
    };
    assert_eq!(input.answer.get(), "a");
    let output = AnswerRelevanceJudgeOutput {
        reasoning: String::new(),
        score: 0.5,
    };
    assert_eq!(output.score, 0.5);
    assert_eq!(Least::SPEC.cost_msats, 3);
    assert_eq!(
        (ToneJudge::SPEC.name, JudgementJudge::SPEC.name),
        ("tone_judge", "judgement")
    );
    assert_eq!(
        format!(
            "{:?}",
            Judgement {
                answer: String::new(),
                good: true
            }
            .good
        ),
        "true"
    );
}

#[test]
fn a_list_of_strings_is_set_from_string_literals() {
    let criteria = |judge: LlmJudge| judge.criteria;
    let literal = LlmJudge::builder()
        .system_prompt("You are an expert code reviewer...")
        .criteria(vec!["Correctness", "Completeness", "Code quality"])
        .build();
    assert_eq!(
        criteria(literal),
        ["Correctness", "Completeness", "Code quality"]
    );
    assert_eq!(criteria(LlmJudge::builder().criteria(["a"]).build()), ["a"]);
    assert_eq!(
        criteria(LlmJudge::builder().criteria(vec!["b".to_owned()]).build()),
        ["b"]
    );
}
