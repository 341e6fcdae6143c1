//! Judges of an agent: whether it did the task that it was given, and whether the arguments of its tool calls were right for it.

use crate::core::trajectory::Trajectory;
use crate::judge::share;
use dsrs_metrics::{judge, judge_output};

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
