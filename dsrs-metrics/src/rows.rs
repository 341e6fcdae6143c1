//! Rows: the fields of an [`Example`](crate::Example) and a [`Prediction`](crate::Prediction), the types that a field may
//! have, traces of programs, and pairs of rows with their origin in a file.
//!
//! The guide explains dynamic and typed rows: [`rows`](crate::guide::rows).

pub use dsrs_metrics_core::{
    FieldError, FieldType, Fields, FromSerializeError, InputError, Origin, Pair, RowType, Trace,
    TraceStep, TypeHelp, ValueKind, ValueType,
};
