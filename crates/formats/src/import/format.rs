//! The formats of other programs, and what their files are converted to.

use crate::results::{ForeignRow, ForeignRun};

/// A file format of a different program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignFormat {
    /// An inspect_ai log (`.eval` or `.json`), or a folder of such logs.
    Inspect,
    /// The samples of an lm-eval task (`samples_TASK_DATE.jsonl`), or a folder of such files.
    LmEval,
    /// OpenTelemetry spans in OTLP's JSON or, with the `otel` feature, also in OTLP's protobuf.
    Otlp,
    /// Trajectories in the Agent Trajectory Interchange Format (ATIF).
    Atif,
    /// promptfoo results: `promptfoo eval --output results.json`.
    Promptfoo,
    /// A deepeval test run, or goldens: `.json`, `.jsonl` or `.csv`.
    Deepeval,
    /// ragas results: `.csv`, `.json` or `.jsonl`.
    Ragas,
    /// Berkeley Function Calling Leaderboard results, with their scores and possible answers.
    Bfcl,
    /// The statistics of a HELM run: `per_instance_stats.json`, with `scenario_state.json`.
    Helm,
    /// SWE-bench predictions, and the report about them.
    Swebench,
    /// The output of the OpenAI batch API.
    OpenaiBatch,
    /// TREC judgements (qrels) and a TREC run.
    Trec,
    /// Speech recognition transcripts: a reference and a hypothesis, with `TEXT (ID)` on each line.
    Trn,
}

impl ForeignFormat {
    /// All formats, each with its name on the command line and a description for messages.
    #[doc(hidden)]
    pub const ALL: [(Self, &str, &str); 13] = [
        (Self::Inspect, "inspect", "A log of inspect_ai"),
        (Self::LmEval, "lm-eval", "Samples of lm-eval"),
        (Self::Otlp, "otlp", "Spans of OpenTelemetry"),
        (Self::Atif, "atif", "Trajectories of ATIF"),
        (Self::Promptfoo, "promptfoo", "Results of promptfoo"),
        (
            Self::Deepeval,
            "deepeval",
            "A test run or goldens of deepeval",
        ),
        (Self::Ragas, "ragas", "Results of ragas"),
        (Self::Bfcl, "bfcl", "Results of BFCL"),
        (Self::Helm, "helm", "A run of HELM"),
        (Self::Swebench, "swebench", "Predictions for SWE-bench"),
        (
            Self::OpenaiBatch,
            "openai-batch",
            "The output of OpenAI's batch API",
        ),
        (Self::Trec, "trec", "Judgements and a run of TREC"),
        (Self::Trn, "trn", "Transcripts of speech recognition"),
    ];

    /// Returns `true` if the rows are spread over several files, such as gold labels and predictions.
    #[doc(hidden)]
    pub const fn is_joined(self) -> bool {
        matches!(self, Self::Bfcl | Self::Swebench | Self::Trec | Self::Trn)
    }
}

/// How to import a log's epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Epochs {
    /// As repeats of one row, whose score is their mean.
    Repeats,
    /// As separate rows, which can be scored again.
    Rows,
}

/// The rows of a file, what it says about their run, and notes on what a reader may not expect.
pub(super) struct Converted {
    pub(super) rows: Vec<ForeignRow>,
    pub(super) run: ForeignRun,
    pub(super) notes: Vec<String>,
}
