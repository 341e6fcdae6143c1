//! The formats of other programs, and what their files are converted to.

use crate::results::{ForeignRow, ForeignRun};

/// Another program's file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignFormat {
    /// An inspect_ai log (`.eval` or `.json`), or a folder of such logs.
    Inspect,
    /// The samples of an lm-eval task (`samples_TASK_DATE.jsonl`), or a folder of such files.
    LmEval,
    /// OpenTelemetry spans as OTLP JSON or, with the `otel` feature, as OTLP protobuf.
    Otlp,
    /// Trajectories in the Agent Trajectory Interchange Format (ATIF).
    Atif,
    /// promptfoo results, written by `promptfoo eval --output results.json`.
    Promptfoo,
    /// A deepeval test run or goldens, as `.json`, `.jsonl` or `.csv`.
    Deepeval,
    /// ragas results, as `.csv`, `.json` or `.jsonl`.
    Ragas,
    /// Berkeley Function Calling Leaderboard results, with their scores and possible answers.
    Bfcl,
    /// A HELM run's statistics: `per_instance_stats.json`, together with `scenario_state.json`.
    Helm,
    /// SWE-bench predictions and the report on them.
    Swebench,
    /// Output from the OpenAI batch API.
    OpenaiBatch,
    /// TREC relevance judgements (qrels) and a TREC run.
    Trec,
    /// Speech recognition transcripts: a reference and a hypothesis, with `TEXT (ID)` on each line.
    Trn,
}

impl ForeignFormat {
    /// All formats, each with its command-line name and a description for messages.
    #[doc(hidden)]
    pub const ALL: [(Self, &str, &str); 13] = [
        (Self::Inspect, "inspect", "A log from inspect_ai"),
        (Self::LmEval, "lm-eval", "Samples from lm-eval"),
        (Self::Otlp, "otlp", "Spans from OpenTelemetry"),
        (Self::Atif, "atif", "Trajectories in ATIF"),
        (Self::Promptfoo, "promptfoo", "Results from promptfoo"),
        (
            Self::Deepeval,
            "deepeval",
            "A test run or goldens from deepeval",
        ),
        (Self::Ragas, "ragas", "Results from ragas"),
        (Self::Bfcl, "bfcl", "Results from BFCL"),
        (Self::Helm, "helm", "A run from HELM"),
        (Self::Swebench, "swebench", "Predictions for SWE-bench"),
        (
            Self::OpenaiBatch,
            "openai-batch",
            "The output of OpenAI's batch API",
        ),
        (Self::Trec, "trec", "Judgements and a run from TREC"),
        (Self::Trn, "trn", "Transcripts of speech recognition"),
    ];

    /// Returns `true` if the rows are spread over several files, such as one for gold labels and one for predictions.
    #[doc(hidden)]
    pub const fn is_joined(self) -> bool {
        matches!(self, Self::Bfcl | Self::Swebench | Self::Trec | Self::Trn)
    }
}

/// Determines how to import a log's epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Epochs {
    /// Imports each epoch as a repeat of its row. The row's score is the mean of its repeats.
    Repeats,
    /// Imports each epoch as a separate row, which can be scored again.
    Rows,
}

/// The rows of a file, what it says about their run, and notes on what a reader may not expect.
pub(super) struct Converted {
    pub(super) rows: Vec<ForeignRow>,
    pub(super) run: ForeignRun,
    pub(super) notes: Vec<String>,
}
