//! Judges of the outcome of an agent: whether it did the task that it was given.

use crate::core::trajectory::Trajectory;
use dsrs_metrics::judge;

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
