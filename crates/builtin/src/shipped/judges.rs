//! Judges of one answer: correct, complete, relevant, grounded, preferred.

use super::lexical;
use crate::contract::{References, TextOrList};
use crate::judge::configured::PANEL;
use crate::judge::{Preference, rescale};
use crate::stats::harmonic_mean;
use dsrs_metrics::judge;

/// Compare a system's response to the ground truth to compute its recall and precision. Compare the meaning, not the
/// wording. In your reasoning, enumerate the key ideas in each response, and whether they are present in the other
/// response.
#[judge(
    name = "semantic_f1",
    struct = SemanticF1,
    score = harmonic_mean(precision, recall),
    range = 0.0..=1.0,
    threshold = 0.66,
    cost = "100 msat",
    missing = 0.0,
    offline = lexical::recall_and_precision
)]
pub struct SemanticRecallPrecision {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(
        gold = "response",
        desc = "a correct and complete response; if there are several, each is acceptable"
    )]
    ground_truth: References,
    #[input(pred = "response", desc = "the response to judge")]
    system_response: String,
    #[output(range = 0.0..=1.0, desc = "fraction (out of 1.0) of the ground truth covered by the system response")]
    recall: f64,
    #[output(range = 0.0..=1.0, desc = "fraction (out of 1.0) of the system response covered by the ground truth")]
    precision: f64,
}

/// Compare a system's response to the ground truth to compute the recall and precision of key ideas. First enumerate
/// the key ideas in each response, discuss their overlap, and then report recall and precision.
#[judge(
    name = "decompositional_semantic_f1",
    struct = DecompositionalSemanticF1,
    score = harmonic_mean(precision, recall),
    range = 0.0..=1.0,
    threshold = 0.66,
    cost = "150 msat",
    missing = 0.0,
    offline = lexical::recall_and_precision
)]
pub struct DecompositionalRecallPrecision {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(
        gold = "response",
        desc = "a correct and complete response; if there are several, each is acceptable"
    )]
    ground_truth: References,
    #[input(pred = "response", desc = "the response to judge")]
    system_response: String,
    #[output(desc = "enumeration of the key ideas in the ground truth")]
    ground_truth_key_ideas: Vec<String>,
    #[output(desc = "enumeration of the key ideas in the system response")]
    system_response_key_ideas: Vec<String>,
    #[output(desc = "discussion of the overlap between the ground truth and the system response")]
    discussion: String,
    #[output(range = 0.0..=1.0, desc = "fraction (out of 1.0) of the ground truth covered by the system response")]
    recall: f64,
    #[output(range = 0.0..=1.0, desc = "fraction (out of 1.0) of the system response covered by the ground truth")]
    precision: f64,
}

/// `#[judge]` generates as many panel parameters as [`PANEL`] has. This judge has no others.
const _: () = assert!(AnswerRelevance::SPEC.params.len() == PANEL.len());

/// Judge if an answer is relevant to the question: does it directly address what the question asks? Do not consider
/// whether the answer is correct. An empty answer is not relevant.
#[judge(
    name = "answer_relevance",
    struct = AnswerRelevance,
    cost = "100 msat",
    missing = false,
    empty = false,
    offline = lexical::relevant
)]
pub struct RelevanceOfAnswer {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(pred, desc = "the answer to judge")]
    answer: String,
    #[output(desc = "whether the answer addresses the question")]
    relevant: bool,
}

/// Judge if an answer is grounded in the retrieved context: does the context support every claim of the answer? A
/// claim that is not in the context is not supported, even if it is true. An empty answer, or an answer without
/// context, is not grounded.
#[judge(
    name = "answer_groundedness",
    struct = AnswerGroundedness,
    cost = "100 msat",
    missing = false,
    empty = false,
    offline = lexical::grounded
)]
pub struct GroundednessOfAnswer {
    #[input(pred, desc = "the retrieved context")]
    context: TextOrList,
    #[input(pred, desc = "the answer to judge")]
    answer: String,
    #[output(desc = "whether the context supports the answer")]
    grounded: bool,
}

/// Judge if two answers are semantically equivalent. Differences in wording, order, formatting or irrelevant detail
/// do not matter; a different fact, number, name or negation does.
#[judge(
    name = "semantic_equivalence",
    struct = SemanticEquivalence,
    cost = "50 msat",
    missing = false,
    offline = lexical::equivalent
)]
pub struct EquivalenceOfAnswers {
    #[input(
        gold = "answer",
        desc = "the expected answer; if there are several, each is acceptable"
    )]
    expected: References,
    #[input(pred = "answer", desc = "the actual answer")]
    actual: TextOrList,
    #[output(desc = "whether the two answers have the same meaning")]
    equivalent: bool,
}

/// Evaluate the completeness of a generated response, compared with the expected response. Follow the evaluation
/// steps one by one and write down the result of each. Then assign a score from 1 to 5: 1 if the response covers
/// none of the expected content, 2 a small part, 3 about half, 4 all except details, 5 all of it.
///
/// The metric's value is the score normalized to [0, 1], `(score - 1) / 4`: 1 becomes 0, 3 becomes 0.5, 5 becomes 1.
#[judge(
    name = "geval_completeness",
    struct = GEvalCompleteness,
    score = rescale(f64::from(score), 1.0..=5.0),
    range = 0.0..=1.0,
    threshold = 0.5,
    cost = "100 msat",
    missing = 0.0,
    offline = lexical::completeness_of_five
)]
pub struct CompletenessOfResponse {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(
        gold = "response",
        desc = "the expected response; if there are several, each is acceptable"
    )]
    expected_response: References,
    #[input(pred = "response", desc = "the response to evaluate")]
    generated_response: String,
    /// The evaluation steps.
    #[param(default = steps())]
    steps: Vec<String>,
    #[output(range = 1..=5, desc = "the score")]
    score: u8,
}

fn steps() -> Vec<String> {
    [
        "List the facts and instructions in the expected response.",
        "For each of them, check whether the generated response contains it, or note that it is missing.",
        "Assess how important each missing item is for answering the question.",
        "Do not penalize additional content in the generated response.",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Evaluate an answer by each of the criteria, in the role that the system prompt describes. If there is a question,
/// the answer should address it. If there is a reference answer, it is correct.
#[judge(
    name = "llm_judge",
    struct = LlmJudge,
    cost = "100 msat",
    threshold = 0.5,
    missing = 0.0,
    offline = lexical::grade
)]
pub struct GradeByCriteria {
    #[input(gold, desc = "the question")]
    question: Option<String>,
    #[input(
        gold = "answer",
        desc = "the correct answer; if there are several, each is acceptable"
    )]
    reference: Option<References>,
    #[input(pred, desc = "the answer to evaluate")]
    answer: String,
    /// The role of the judge.
    #[param(default = "You are a careful and impartial expert.")]
    system_prompt: String,
    /// The evaluation criteria.
    #[param(default = ["Correctness", "Completeness", "Clarity"].map(str::to_owned).to_vec())]
    criteria: Vec<String>,
    #[output(range = 0.0..=1.0, desc = "from 0 (meets no criterion) to 1 (fully meets all criteria)")]
    score: f64,
    #[output(desc = "what to change for a better score, in one or two sentences")]
    feedback: String,
}

/// Compare two responses to the same question by the criteria and decide which is better, or that neither is. Do not
/// let the order of the responses or their length influence your decision.
///
/// The score is 1 if the prediction is better than the gold response, 0 if it is worse and 0.5 if neither is. Both
/// orders are judged; if the verdicts contradict each other, the result is a tie with a confidence of 0.5.
// The threshold is above 0.5, the score of a judge that always prefers the first response.
#[judge(
    name = "pairwise_preference",
    struct = PairwisePreference,
    pairwise(response_1, response_2),
    cost = "200 msat",
    threshold = 0.75,
    missing = 0.0,
    offline = lexical::preference
)]
pub struct PreferenceOfResponses {
    #[input(gold, desc = "the question")]
    question: String,
    #[input(pred = "response", desc = "the first response")]
    response_1: String,
    #[input(gold = "response", desc = "the second response")]
    response_2: String,
    /// The evaluation criteria.
    #[param(default = ["Correctness", "Completeness", "Clarity"].map(str::to_owned).to_vec())]
    criteria: Vec<String>,
    #[output(desc = "the better response")]
    preferred: Preference,
}
