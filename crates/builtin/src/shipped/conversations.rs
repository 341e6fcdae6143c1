//! Judges of conversations and of what agents did, based on deepeval 4.3 and ragas 0.4. Their formulas are on the
//! guide's `conversations` and `agents` pages.
//!
//! They read `pred.conversation` or `pred.trajectory` in any form of [`Trajectory`](crate::contract::trajectory::Trajectory).

use serde::{Deserialize, Serialize};

use super::rag::ClaimVerdict;
use crate::contract::trajectory::Trajectory;
use crate::judge::share;
use crate::metrics::rag::share_of;
use crate::stats::f_beta;
use dsrs_metrics::{judge, judge_output};

/// The verdict on an intention or a claim.
#[judge_output]
#[derive(Debug, Clone)]
pub struct Fulfilment {
    /// why, in one sentence
    pub reason: String,
    /// whether it is fulfilled
    pub fulfilled: bool,
}

/// Judge whether the last message keeps what was said before. It does not if it asks for something that the user already stated, or
/// contradicts or ignores a fact that the user stated earlier.
#[judge(
    name = "knowledge_retention",
    struct = KnowledgeRetention,
    turns(of = assistant),
    cost = "100 msat",
    missing = 0.0
)]
pub struct RetentionOfKnowledge {
    #[input(pred, desc = "the conversation up to the message to judge")]
    conversation: Trajectory,
    #[output(desc = "whether the last message keeps what was said before")]
    retained: bool,
}

/// Judge whether the last message is one that an assistant with the given role would write: its knowledge, its limits, its tone.
#[judge(
    name = "role_adherence",
    struct = RoleAdherence,
    turns(of = assistant),
    cost = "100 msat",
    missing = 0.0
)]
pub struct AdherenceToRole {
    #[input(gold, desc = "the role of the assistant")]
    role: String,
    #[input(pred, desc = "the conversation up to the message to judge")]
    conversation: Trajectory,
    #[output(desc = "whether the last message adheres to the role")]
    adheres: bool,
}

/// Judge whether the last message is a relevant reply at this point of the conversation. A greeting in reply to a greeting is
/// relevant; a correct statement that does not answer the user is not relevant.
#[judge(
    name = "turn_relevancy",
    struct = TurnRelevancy,
    turns(of = assistant, window = 10),
    cost = "100 msat",
    missing = 0.0
)]
pub struct RelevancyOfTurn {
    #[input(pred, desc = "the conversation up to the message to judge")]
    conversation: Trajectory,
    #[output(desc = "whether the last message is relevant")]
    relevant: bool,
}

/// Judge for each claim of the last message whether the messages before it support it: a result of a tool, or what the user or
/// the assistant said earlier. A claim that is true but follows from no earlier message is not supported.
#[judge(
    name = "conversational_faithfulness",
    struct = ConversationalFaithfulness,
    turns(of = assistant),
    score = share(verdicts, |it| it.supported),
    range = 0.0..=1.0,
    cost = "200 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct FaithfulnessOfTurn {
    #[input(pred, desc = "the conversation up to the message to judge")]
    conversation: Trajectory,
    /// Break the last message down into claims. Each claim is one fact, in a full sentence that is understandable alone: write names
    /// in place of pronouns. Leave out what states no fact, such as greetings, questions and offers.
    #[step(
        from(conversation),
        cost = "100 msat",
        desc = "the claims of the last message"
    )]
    claims: Vec<String>,
    #[output(each = claims, empty = abstain)]
    verdicts: Vec<ClaimVerdict>,
}

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

/// The score that [`TopicAdherence`] reports.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TopicScore {
    /// The fraction of answered topics that are allowed.
    Precision,
    /// The fraction of allowed topics that are answered.
    Recall,
    /// The harmonic mean of precision and recall.
    #[default]
    F1,
    /// The fraction of topics that are handled correctly.
    ///
    /// An allowed topic must be answered, and any other topic must be refused.
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

/// Judge to what extent the outcome completes the task. Judge what was achieved, not how: the number of steps, failed attempts and
/// the wording do not matter. What the agent only claims to have done does not count.
#[judge(
    name = "task_completion",
    struct = TaskCompletion,
    score = completion,
    range = 0.0..=1.0,
    cost = "200 msat",
    missing = 0.0
)]
pub struct CompletionOfTask {
    #[input(gold, desc = "the task")]
    task: String,
    #[input(pred, desc = "the messages and tool calls of the agent")]
    trajectory: Trajectory,
    /// Describe what the agent achieved, from the results of its tools and its last message. State what is done, what failed, and
    /// what is only claimed.
    #[step(from(trajectory), cost = "100 msat", desc = "the outcome")]
    outcome: String,
    #[output(range = 0.0..=1.0, desc = "from 0 (nothing of the task is done) to 1 (all of it is done)")]
    completion: f64,
}

/// Judge whether the outcome is the desired one. Details that the desired outcome does not mention do not matter.
#[judge(
    name = "goal_accuracy",
    struct = GoalAccuracy,
    cost = "200 msat",
    missing = false
)]
pub struct AccuracyOfGoal {
    #[input(gold, desc = "the desired outcome")]
    goal: String,
    #[input(pred, desc = "the messages and tool calls of the agent")]
    trajectory: Trajectory,
    /// Describe the state at the end: what the agent achieved, from the results of its tools and its last message.
    #[step(from(trajectory), cost = "100 msat", desc = "the outcome")]
    outcome: String,
    #[output(desc = "whether the outcome is the desired one")]
    achieved: bool,
}

/// The verdict on the arguments of a tool call.
#[judge_output]
#[derive(Debug, Clone)]
pub struct ArgumentVerdict {
    /// why, in one sentence
    pub reason: String,
    /// whether the arguments are right
    pub correct: bool,
}

/// Judge for each tool call whether its arguments are right for the task: whether each value follows from the task or from what an
/// earlier call can have returned, and none that matters is missing. Do not judge whether the right tool was called.
#[judge(
    name = "argument_correctness",
    struct = ArgumentCorrectness,
    score = share(verdicts, |it| it.correct),
    range = 0.0..=1.0,
    cost = "100 msat",
    missing = 0.0,
    reasoning = false
)]
pub struct CorrectnessOfArguments {
    #[input(gold, desc = "the task")]
    task: String,
    #[input(pred, desc = "the tool calls of the agent, in order")]
    trajectory: Trajectory,
    #[output(each = trajectory, empty = abstain)]
    verdicts: Vec<ArgumentVerdict>,
}
