//! Rows: the fields of an [`Example`](crate::Example) and a [`Prediction`](crate::Prediction), the types a field can
//! have, program traces, and pairs of rows with their location in a file.
//!
//! To learn about dynamic and typed rows, see the [guide](crate::guide::rows).

pub use dsrs_metrics_core::{
    FieldError, FieldType, Fields, FromSerializeError, InputError, Origin, Pair, RowType, Trace,
    TraceStep, TypeHelp, ValueKind, ValueType,
};
