//! The formats of other programs.

/// A format of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignFormat {
    /// A log of inspect_ai: `.eval` or `.json`.
    Inspect,
    /// The samples of a task of lm-eval: `samples_TASK_DATE.jsonl`.
    LmEval,
    /// Spans of OpenTelemetry, in OTLP's JSON; with the feature `otel`, in its protobuf too.
    Otlp,
    /// Trajectories of the Agent Trajectory Interchange Format.
    Atif,
}

impl ForeignFormat {
    /// All formats, each with its name on the command line and a noun.
    #[doc(hidden)]
    pub const ALL: [(Self, &str, &str); 4] = [
        (Self::Inspect, "inspect", "A log of inspect_ai"),
        (Self::LmEval, "lm-eval", "The samples of a task of lm-eval"),
        (Self::Otlp, "otlp", "Spans of OpenTelemetry"),
        (Self::Atif, "atif", "Trajectories of ATIF"),
    ];
}

/// What the epochs of a log become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Epochs {
    /// Repeats of one row, whose score is their mean.
    Repeats,
    /// Rows of their own, to be scored again.
    Rows,
}
