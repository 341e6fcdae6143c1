//! Relevancy of an answer, by the questions that it answers.

use serde_json::{Map, Value};

use crate::contract::{Requirement, Requires, TextOrList};
use crate::judge::{IntoModel, Judge, JudgeError, Judged, Rescored, rescored};
use crate::lm::{Embedder, LmError, LmErrorKind};
use crate::shipped::require;
use dsrs_metrics::{judge, metric};

/// Write three different questions that the answer answers, each as a user would ask it. Judge also whether the answer is
/// noncommittal: evasive, vague or ambiguous, such as "I don't know".
#[judge(
    score = f64::from(u8::from(!noncommittal)),
    range = -1.0..=1.0,
    cost = "100 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct QuestionsOfAnswer {
    #[input(pred, desc = "the answer")]
    answer: TextOrList,
    #[output(desc = "a question that the answer answers")]
    question_1: String,
    #[output(desc = "another one")]
    question_2: String,
    #[output(desc = "a third one")]
    question_3: String,
    #[output(desc = "whether the answer is noncommittal")]
    noncommittal: bool,
}

/// How well the answer fits the question: the mean cosine between the question and three questions that a judge writes
/// for the answer.
///
/// The score is in [-1, 1], and 0 for a noncommittal answer such as "I don't know". It does not say whether the answer
/// is correct. This is `AnswerRelevancy` of ragas, which writes the questions in three calls.
///
/// ```
/// use dsrs_metrics::judge::shipped::AnswerRelevancy;
/// use dsrs_metrics::lm::{ScriptedEmbedder, ScriptedLm};
/// use dsrs_metrics::prelude::*;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> dsrs_metrics::Result<()> {
/// let written = json!({ "question_1": "Where is it?", "question_2": "Which city?", "question_3": "Where is it?", "noncommittal": false });
/// let vectors = ScriptedEmbedder::new().when("Where is it?", [3.0, 4.0]).when("Which city?", [5.0, 0.0]);
/// let metric = AnswerRelevancy::builder().embedder(vectors).with_lm(ScriptedLm::new().otherwise(written)).build();
/// let gold = example! { "question" => "Where is it?" };
/// let score = metric.evaluate(&gold, &prediction! { "answer" => "In Paris." }).await?;
/// assert!((score.value - (1.0 + 0.6 + 1.0) / 3.0).abs() < 1e-12);
/// # Ok(())
/// # }
/// ```
#[metric(
    struct = AnswerRelevancy,
    tier = truth,
    cost = "100 msat",
    missing = 0.0,
    range = -1.0..=1.0
)]
pub async fn answer_relevancy(
    #[gold] question: String,
    #[pred] answer: TextOrList,
    /// The embedding model: `provider:model`, `static:FOLDER`, or the configured one.
    #[param(default = &Embedder::Configured, into)]
    embedder: &Embedder,
    /// The models that write the questions, and how to aggregate their scores.
    #[param(default)]
    panel: judge::Panel,
) -> Judged<f64> {
    let judge = QuestionsOfAnswerJudge { panel };
    let input = QuestionsOfAnswerInput {
        answer: answer.into(),
    };
    rescored(&judge, &input, |written| {
        similarity(embedder, &question, written)
    })
    .await
}

/// Returns the mean cosine between the question and those that a judge wrote; 0 for a noncommittal answer.
async fn similarity(
    embedder: &Embedder,
    question: &str,
    written: Map<String, Value>,
) -> Result<Rescored, JudgeError> {
    if written.get("noncommittal") == Some(&Value::Bool(true)) {
        let details = "the answer is noncommittal".to_owned();
        return Ok(Rescored {
            value: 0.0,
            cost_msats: 0,
            details,
        });
    }
    let names = ["question_1", "question_2", "question_3"];
    let written = names.map(|name| {
        written
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    });
    let [first, second, third] = written;
    let embeddings = judge::embed(embedder, &[question, first, second, third]).await?;
    let cosine = |at: usize| {
        embeddings.cosine(0, at).ok_or_else(|| {
            let reason = "the vector of a question is all zeros, so its cosine is undefined; use another embedding model";
            JudgeError::from(LmError::from(LmErrorKind::InvalidReply(reason.to_owned())))
        })
    };
    let cosines = [cosine(1)?, cosine(2)?, cosine(3)?];
    let line = |(text, cosine): (&str, f64)| format!("{} ({cosine:.4})", Value::from(text));
    let details: Vec<String> = written.into_iter().zip(cosines).map(line).collect();
    Ok(Rescored {
        value: cosines.iter().sum::<f64>() / 3.0,
        cost_msats: embeddings.cost_msats().unwrap_or(0),
        details: details.join("\n"),
    })
}

impl Requires for AnswerRelevancy {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        all.extend(self.panel.invalid_setting(&Self::SPEC));
        let panel = self.panel.clone();
        require(&QuestionsOfAnswerJudge { panel }, Self::SPEC.name, all);
    }

    fn max_cost(&self, declared_msats: u64) -> u64 {
        self.panel.max_cost(
            <QuestionsOfAnswerJudge as Judge>::signature(),
            declared_msats,
        )
    }
}

impl AnswerRelevancy {
    setters! {
        /// Sets the model that writes the questions.
        pub fn with_lm(lm: impl IntoModel) in panel.with_lm;

        /// Sets the smallest passing score.
        pub fn with_threshold(threshold: f64) in panel.threshold;
    }
}

impl AnswerRelevancyBuilder {
    /// Sets the model that writes the questions.
    pub fn with_lm(mut self, lm: impl IntoModel) -> Self {
        self.panel = Some(self.panel.take().unwrap_or_default().with_lm(lm));
        self
    }
}
