//! Programs, and everything around [`Evaluate`](crate::Evaluate): its builder and errors, the results of a run and its
//! rows, repeats, observers and the store. Also converts files from other programs (feature `formats`) and sends
//! results to OpenTelemetry (feature `otel`).

#[cfg(feature = "metrics")]
pub use dsrs_metrics_builtin::SimulatedUser;
#[doc(hidden)]
pub use dsrs_metrics_core::IsProgram;
pub use dsrs_metrics_core::{
    ByCall, ByForward, Fallible, Module, Program, ProgramError, ProgramOutput, ProgramReturn,
    ProgramRun, ProgramRunError, ProgramUsage,
};
#[cfg(feature = "formats")]
#[doc(inline)]
pub use dsrs_metrics_formats as formats;
#[cfg(feature = "otel")]
#[doc(inline)]
pub use dsrs_metrics_otel as otel;
#[cfg(feature = "evaluate")]
pub use dsrs_metrics_run::{
    BudgetReport, DecidedGate, DevsetRows, EarlyResult, Ending, EvaluateBuilder, EvaluateError,
    EvaluateErrorKind, EvaluationResult, Evaluator, FailureSettings, FileSettings, InputNames,
    JudgedBy, MetricList, MetricSummary, ModelSettings, Observer, ProgramTotals, ProgressDisplay,
    Repeat, RepeatSummary, RolloutNumber, RowResult, RunStart, Running, Sample, Spending,
    StatisticsSettings, StopSettings, StoreUse, TruthMethod, TruthResult, TruthStratum,
    UnknownField,
};
#[cfg(feature = "evaluate")]
#[doc(hidden)]
pub use dsrs_metrics_run::{ByList, ByName, missing_features};
#[cfg(feature = "report")]
pub use dsrs_metrics_run::{ResultTable, TableRows};
