//! Judges that score each reply of an assistant, with the messages before it.

use super::super::rag::ClaimVerdict;
use crate::core::trajectory::Trajectory;
use crate::judge::share;
use dsrs_metrics::judge;

/// Judge whether the last message keeps what was said before. It does not if it asks for something that the user already stated, or
/// contradicts or ignores a fact that the user stated earlier.
#[judge(
    name = "knowledge_retention",
    struct = KnowledgeRetention,
    turns = assistant,
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
    turns = assistant,
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
    turns = assistant,
    window = 10,
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
    turns = assistant,
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
