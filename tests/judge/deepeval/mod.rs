//! The judges against deepeval, whose scores from the same verdicts are in `tests/parity/deepeval_vectors.jsonl.gz`. deepeval's
//! definition is computed with all of its quirks, which must be the committed score, and without any, which must be the library's.

mod definitions;
mod geval;

use std::collections::BTreeMap;
use std::sync::Arc;

use dsrs_metrics::Outcome;
use dsrs_metrics::judge::shipped::{
    ArgumentCorrectness, ContextPrecision, ContextRecall, ConversationCompleteness,
    ConversationalFaithfulness, Faithfulness, KnowledgeRetention, RoleAdherence, TaskCompletion,
    TopicAdherence, TopicScore, TurnRelevancy,
};
use dsrs_metrics::judge::{Prompt, share};
use dsrs_metrics::lm::{LanguageModel, LmRequest, ScriptedLm};
use dsrs_metrics::prelude::*;
use dsrs_metrics_tests::{SEVERAL, explain, vectors};
use serde::Deserialize;
use serde_json::{Value, json};

use self::definitions::{REASONS, deepeval};
use super::setup::{items, lm, named};

const VECTORS: &[u8] = include_bytes!("../../parity/deepeval_vectors.jsonl.gz");

/// The verdicts of a model, as in `tests/parity/make_deepeval_vectors.py`.
#[derive(Debug, Deserialize)]
struct Vector {
    turns: Vec<Turn>,
    listed: Vec<usize>,
    intentions: String,
    reference: String,
    context_statements: Vec<String>,
    claims: (usize, String),
    contexts: (usize, String),
    statements: (usize, String),
    calls: (usize, String),
    topics: Vec<(bool, bool)>,
    completion: f64,
    scores: BTreeMap<String, f64>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Turn {
    User(String),
    Reply(Reply),
}

#[derive(Debug, Deserialize)]
struct Reply {
    has_text: bool,
    retained: char,
    adheres: bool,
    relevant: char,
    claims: String,
}

/// A score, or why there is none.
#[derive(Debug)]
enum Found {
    Score(f64),
    Abstained,
    Failed,
}

impl Found {
    fn is_close(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Score(one), Self::Score(other)) => (one - other).abs() <= 1e-9,
            (one, other) => std::mem::discriminant(one) == std::mem::discriminant(other),
        }
    }
}

#[judge_output]
#[derive(Debug)]
struct Relevance {
    /// why, in one sentence
    reason: String,
    /// whether the statement is relevant
    relevant: bool,
}

/// Judge for each statement whether it is relevant to the question, or supports a relevant one.
#[judge(score = share(verdicts, |it| it.relevant), range = 0.0..=1.0, reasoning = false)]
struct RelevantStatements {
    #[input(gold)]
    question: String,
    #[input(pred)]
    answer: String,
    /// Break the answer down into statements.
    #[step(from(answer))]
    statements: Vec<String>,
    #[output(each = statements, empty = abstain)]
    verdicts: Vec<Relevance>,
}

/// Judge for each statement whether it is relevant to the question.
#[judge(score = share(verdicts, |it| it.relevant), range = 0.0..=1.0, reasoning = false)]
struct RelevantContexts {
    #[input(gold)]
    question: String,
    #[input(pred = "context")]
    contexts: Vec<String>,
    /// List the statements of the contexts.
    #[step(from(contexts))]
    statements: Vec<String>,
    #[output(each = statements, empty = abstain)]
    verdicts: Vec<Relevance>,
}

/// The value of a verdict in a judge's reply.
fn word(verdict: char) -> Value {
    match verdict {
        '?' => json!("maybe"),
        verdict => json!(verdict == 'y'),
    }
}

/// The reply with these verdicts on items.
fn verdicts(letters: &str, field: &str) -> Value {
    let letters: Vec<char> = letters.chars().collect();
    json!({ "verdicts": items(&letters, |verdict| json!({ "reason": "", field: word(*verdict) })) })
}

/// The reply with the contexts that support each item: the first one, or none.
fn support(letters: &str) -> Value {
    let letters: Vec<char> = letters.chars().collect();
    let contexts = |verdict: &char| match verdict {
        'y' => json!([1]),
        '?' => json!("maybe"),
        _ => json!([]),
    };
    json!({ "verdicts": items(&letters, |verdict| json!({ "reason": "", "contexts": contexts(verdict) })) })
}

fn conversation(vector: &Vector) -> Value {
    let message = |(at, turn): (usize, &Turn)| match turn {
        Turn::User(_) => json!({ "role": "user", "content": format!("message {at}") }),
        Turn::Reply(reply) if reply.has_text => {
            json!({ "role": "assistant", "content": format!("message {at}") })
        }
        Turn::Reply(_) => {
            let call = json!({ "id": at.to_string(), "name": "search", "args": {} });
            json!({ "role": "assistant", "content": "", "tool_calls": [call] })
        }
    };
    vector.turns.iter().enumerate().map(message).collect()
}

/// A model whose reply is one of the message to judge, which is the last one that a prompt shows.
fn of_turn(
    vector: &Arc<Vector>,
    reply: impl Fn(&LmRequest, &Reply) -> Value + Send + Sync + 'static,
) -> ScriptedLm {
    let vector = Arc::clone(vector);
    ScriptedLm::new().otherwise(move |request: &LmRequest| {
        let inputs = Prompt::parse(&request.messages[1].content).unwrap();
        let shown = inputs
            .iter()
            .find(|input| input.name == "conversation")
            .unwrap();
        let last = shown.content.unwrap().lines().last().unwrap();
        let (_, at) = last
            .trim_end_matches('"')
            .rsplit_once("\"message ")
            .unwrap();
        match &vector.turns[at.parse::<usize>().unwrap()] {
            Turn::User(_) => panic!("a message of the user is judged: {last}"),
            Turn::Reply(judged) => reply(request, judged),
        }
    })
}

async fn found(
    metric: impl Metric<Example, Prediction>,
    (gold, pred): &(Example, Prediction),
) -> Found {
    let error = match metric.evaluate(gold, pred).await {
        Ok(score) => return Found::Score(score.value),
        Err(error) => error,
    };
    let text = error.to_string();
    match Outcome::from(error) {
        Outcome::Abstained => Found::Abstained,
        _ => {
            assert!(text.contains("returned no verdict"), "{text}");
            Found::Failed
        }
    }
}

/// The scores of the judges of conversations.
async fn of_conversation(vector: &Arc<Vector>) -> Vec<(&'static str, Found)> {
    let gold = example! { "role" => "a guide", "topics" => ["travel"] };
    let rows = &(gold, prediction! { "conversation" => conversation(vector) });
    let retained = of_turn(
        vector,
        |_, reply| json!({ "reasoning": "", "retained": word(reply.retained) }),
    );
    let adheres = of_turn(
        vector,
        |_, reply| json!({ "reasoning": "", "adheres": reply.adheres }),
    );
    let relevant = of_turn(
        vector,
        |_, reply| json!({ "reasoning": "", "relevant": word(reply.relevant) }),
    );
    let faithful = of_turn(vector, |request, reply| {
        match request.purpose.ends_with("step claims") {
            true => json!({ "claims": vec!["A claim."; reply.claims.len()] }),
            false => verdicts(&reply.claims, "supported"),
        }
    });
    let intentions = [(
        "intentions",
        json!(vec!["An intention."; vector.intentions.len()]),
    )];
    let complete = lm(intentions, verdicts(&vector.intentions, "fulfilled"));
    let topic = |(answered, allowed): &(bool, bool)| json!({ "reason": "", "answered": answered, "allowed": allowed });
    let topics = lm(
        [("topics", named(&vector.topics))],
        json!({ "verdicts": items(&vector.topics, topic) }),
    );
    let topics = TopicAdherence::builder()
        .headline(TopicScore::Accuracy)
        .with_lm(topics)
        .build();
    vec![
        (
            "knowledge_retention",
            found(KnowledgeRetention::default().with_lm(retained), rows).await,
        ),
        (
            "role_adherence",
            found(RoleAdherence::default().with_lm(adheres), rows).await,
        ),
        (
            "turn_relevancy",
            found(TurnRelevancy::default().with_lm(relevant), rows).await,
        ),
        (
            "conversational_faithfulness",
            found(
                ConversationalFaithfulness::default().with_lm(faithful),
                rows,
            )
            .await,
        ),
        (
            "conversation_completeness",
            found(ConversationCompleteness::default().with_lm(complete), rows).await,
        ),
        ("topic_adherence", found(topics, rows).await),
    ]
}

/// The scores of the other judges.
async fn of_answer(vector: &Vector) -> Vec<(&'static str, Found)> {
    let calls = vec![json!({ "name": "search", "args": { "city": "Rome" } }); vector.calls.0];
    let gold =
        example! { "question" => "Where?", "answer" => "In Paris.", "task" => "Find a room." };
    let pred = |contexts: usize| prediction! { "answer" => "In Lyon.", "context" => vec!["A context."; contexts], "trajectory" => calls.clone() };
    let rows = &(gold, pred(1));
    let in_contexts = &(rows.0.clone(), pred(vector.contexts.0));
    let statements = |count: usize| [("statements", json!(vec!["A statement."; count]))];
    let completion = json!({ "reasoning": "", "completion": vector.completion });
    let completed = lm([("outcome", json!("A room."))], completion);
    let correct = lm([], verdicts(&vector.calls.1, "correct"));
    let supported: Arc<dyn LanguageModel> =
        lm(statements(vector.claims.0), support(&vector.claims.1));
    let useful = lm([], verdicts(&vector.contexts.1, "useful"));
    let recalled = lm(
        statements(vector.reference.len()),
        support(&vector.reference),
    );
    let all = vector.context_statements.concat();
    let of_contexts = lm(statements(all.len()), verdicts(&all, "relevant"));
    // A borderline statement supports a relevant one.
    let relevant = verdicts(&vector.statements.1.replace('b', "y"), "relevant");
    let relevant = lm(statements(vector.statements.0), relevant);
    let faithful = || Faithfulness::default().with_lm(Arc::clone(&supported));
    vec![
        (
            "task_completion",
            found(TaskCompletion::default().with_lm(completed), rows).await,
        ),
        (
            "argument_correctness",
            found(ArgumentCorrectness::default().with_lm(correct), rows).await,
        ),
        ("faithfulness", found(faithful(), rows).await),
        ("faithfulness_strict", found(faithful(), rows).await),
        (
            "context_precision",
            found(ContextPrecision::default().with_lm(useful), in_contexts).await,
        ),
        (
            "context_recall",
            found(ContextRecall::default().with_lm(recalled), rows).await,
        ),
        (
            "context_relevancy",
            found(RelevantContextsJudge::default().with_lm(of_contexts), rows).await,
        ),
        (
            "answer_relevancy",
            found(RelevantStatementsJudge::default().with_lm(relevant), rows).await,
        ),
    ]
}

#[tokio::test]
async fn every_score_is_deepevals_but_for_the_documented_differences() {
    let mut counts = BTreeMap::<&str, BTreeMap<&str, usize>>::new();
    for vector in vectors::<Vector>(VECTORS).map(Arc::new) {
        let mut scores = of_conversation(&vector).await;
        scores.extend(of_answer(&vector).await);
        assert_eq!(scores.len(), vector.scores.len());
        for (name, ours) in scores {
            let theirs = |quirks| deepeval(name, &vector, quirks);
            let committed = Found::Score(vector.scores[name]);
            let computed = theirs([true; REASONS.len()]);
            assert!(
                computed.is_close(&committed),
                "{name}: {computed:?} {committed:?} {vector:?}"
            );
            explain(
                counts.entry(name).or_default(),
                REASONS,
                &ours,
                theirs,
                Found::is_close,
            );
        }
    }
    let [
        nothing,
        word,
        number,
        borderline,
        facts,
        listed,
        interactions,
        again,
        text,
        grade,
    ] = REASONS;
    let expected: [(&str, &[(&str, usize)]); 14] = [
        (
            "answer_relevancy",
            &[(word, 22), (number, 30), (nothing, 77)],
        ),
        (
            "argument_correctness",
            &[(word, 30), (number, 31), (nothing, 92)],
        ),
        ("context_precision", &[(word, 24), (number, 25)]),
        ("context_recall", &[(word, 30), (nothing, 80)]),
        ("context_relevancy", &[(word, 28), (nothing, 57)]),
        ("conversation_completeness", &[(word, 25), (nothing, 88)]),
        (
            "conversational_faithfulness",
            &[
                (borderline, 52),
                (again, 15),
                (interactions, 6),
                (nothing, 79),
                (SEVERAL, 231),
            ],
        ),
        (
            "faithfulness",
            &[(borderline, 166), (word, 32), (number, 22), (nothing, 75)],
        ),
        (
            "faithfulness_strict",
            &[(word, 32), (number, 22), (nothing, 75)],
        ),
        (
            "knowledge_retention",
            &[
                (text, 57),
                (facts, 69),
                (word, 20),
                (nothing, 34),
                (SEVERAL, 48),
            ],
        ),
        (
            "role_adherence",
            &[(listed, 16), (text, 112), (nothing, 29), (SEVERAL, 15)],
        ),
        ("task_completion", &[(grade, 50)]),
        ("topic_adherence", &[(nothing, 86)]),
        (
            "turn_relevancy",
            &[
                (text, 28),
                (interactions, 73),
                (word, 20),
                (nothing, 31),
                (SEVERAL, 65),
            ],
        ),
    ];
    let expected = expected.map(|(name, counts)| (name, counts.iter().copied().collect()));
    assert_eq!(counts, BTreeMap::from(expected), "of 500 each");
}
