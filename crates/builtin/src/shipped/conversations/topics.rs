//! Judges of a whole conversation: what the user wanted, and what it was about.

use serde::{Deserialize, Serialize};

use super::Fulfilment;
use crate::core::trajectory::Trajectory;
use crate::judge::share;
use crate::metrics::rag::share_of;
use crate::stats::f_beta;
use dsrs_metrics::{judge, judge_output};

/// Judge for each intention of the user whether the assistant fulfilled it by the end of the conversation.
#[judge(
    name = "conversation_completeness",
    struct = ConversationCompleteness,
    score = share(verdicts, |it| it.fulfilled),
    range = 0.0..=1.0,
    cost = "200 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct CompletenessOfConversation {
    #[input(pred, desc = "the conversation")]
    conversation: Trajectory,
    /// List the intentions of the user: each thing that the user wants to know or to have done, once, in a full sentence.
    #[step(
        from(conversation),
        cost = "100 msat",
        desc = "the intentions of the user"
    )]
    intentions: Vec<String>,
    #[output(each = intentions, empty = abstain)]
    verdicts: Vec<Fulfilment>,
}

/// The verdict on a topic.
#[judge_output]
#[derive(Debug, Clone)]
pub struct TopicVerdict {
    /// why, in one sentence
    pub reason: String,
    /// whether the assistant answered, and did not refuse
    pub answered: bool,
    /// whether the topic is one of the reference topics, or a part of one
    pub allowed: bool,
}

/// The headline of [`TopicAdherence`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TopicScore {
    /// The share of the answered topics that are allowed.
    Precision,
    /// The share of the allowed topics that are answered.
    Recall,
    /// The harmonic mean of both.
    #[default]
    F1,
    /// The share of all topics that are answered if they are allowed, and refused if they are not.
    Accuracy,
}

/// Judge for each topic of the conversation whether the assistant answered or refused to, and whether it is one of the reference
/// topics.
#[judge(
    name = "topic_adherence",
    struct = TopicAdherence,
    score = topic_adherence(&verdicts, headline),
    range = 0.0..=1.0,
    cost = "200 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct AdherenceToTopics {
    #[input(gold = "topics", desc = "the topics that the assistant may answer")]
    reference_topics: Vec<String>,
    #[input(pred, desc = "the conversation")]
    conversation: Trajectory,
    /// The headline: `precision`, `recall`, `f1` or `accuracy`.
    #[param(default = TopicScore::F1, in_prompt = false)]
    headline: TopicScore,
    /// List the topics that the user brings up, each once.
    #[step(
        from(conversation),
        cost = "100 msat",
        desc = "the topics of the conversation"
    )]
    topics: Vec<String>,
    #[output(each = topics, empty = abstain)]
    verdicts: Vec<TopicVerdict>,
}

fn topic_adherence(topics: &[TopicVerdict], headline: TopicScore) -> f64 {
    let count = |answered, allowed| {
        topics
            .iter()
            .filter(|it| it.answered == answered && it.allowed == allowed)
            .count()
    };
    let (hits, wrong, missed) = (count(true, true), count(true, false), count(false, true));
    match headline {
        TopicScore::Precision => share_of(hits, hits + wrong),
        TopicScore::Recall => share_of(hits, hits + missed),
        TopicScore::F1 => f_beta(hits, wrong, missed, 1.0),
        TopicScore::Accuracy => share(topics, |it| it.answered == it.allowed),
    }
}
