//! The formats of other programs, and what a file of one becomes.

use crate::results::{ForeignRow, ForeignRun};

/// A format of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignFormat {
    /// A log of inspect_ai, `.eval` or `.json`, or a folder of them.
    Inspect,
    /// The samples of a task of lm-eval, `samples_TASK_DATE.jsonl`, or a folder of them.
    LmEval,
    /// Spans of OpenTelemetry, in OTLP's JSON; with the `otel` feature, also in its protobuf.
    Otlp,
    /// Trajectories of the Agent Trajectory Interchange Format.
    Atif,
    /// The results of promptfoo: `promptfoo eval --output results.json`.
    Promptfoo,
    /// A test run of deepeval, or goldens: `.json`, `.jsonl` or `.csv`.
    Deepeval,
    /// The results of ragas: `.csv`, `.json` or `.jsonl`.
    Ragas,
    /// Results of the Berkeley Function Calling Leaderboard, with their scores and possible answers.
    Bfcl,
    /// The statistics of a run of HELM: `per_instance_stats.json`, with `scenario_state.json`.
    Helm,
    /// Predictions for SWE-bench, and the report about them.
    Swebench,
    /// The output of OpenAI's batch API.
    OpenaiBatch,
    /// Judgements (qrels) and a run of TREC.
    Trec,
    /// Transcripts of speech recognition: a reference and a hypothesis, `TEXT (ID)` in each line.
    Trn,
}

impl ForeignFormat {
    /// All formats, each with its name on the command line and a noun.
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

    /// Returns `true` if several files together contain the rows, such as gold labels and predictions.
    #[doc(hidden)]
    pub const fn is_joined(self) -> bool {
        matches!(self, Self::Bfcl | Self::Swebench | Self::Trec | Self::Trn)
    }
}

/// How to import a log's epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Epochs {
    /// Repeats of one row, whose score is their mean.
    Repeats,
    /// Separate rows, to be scored again.
    Rows,
}

/// The rows of a file, what it says about their run, and notes on what a reader may not expect.
pub(super) struct Converted {
    pub(super) rows: Vec<ForeignRow>,
    pub(super) run: ForeignRun,
    pub(super) notes: Vec<String>,
}
