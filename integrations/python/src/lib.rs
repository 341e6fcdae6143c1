//! The Python module `dsrs_metrics`: DSPy's metric functions, the built-in metrics by name, and batches.
//!
//! `functions.rs` has DSPy's functions, `batch_functions.rs` the same over lists and columns. `parallel.rs` runs batches on all
//! cores without the global interpreter lock. `metric/` has the class `Metric`; `models.rs` its language models, `trace.rs` the
//! traces of optimizers, `runtime.rs` what runs metrics that wait. `rows.rs`, `row_reader.rs`, `strings.rs` and `json.rs`
//! read Python objects, `columns.rs` reads and makes Arrow columns, `errors.rs` makes exceptions. The package
//! `python/dsrs_metrics` has the exception types and the type stubs.

mod batch_functions;
mod columns;
mod errors;
mod functions;
mod json;
mod metric;
mod models;
mod parallel;
mod row_reader;
mod rows;
mod runtime;
mod strings;
mod trace;

use pyo3::prelude::*;

/// The compiled part of `dsrs_metrics`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::batch_functions::{
        answer_exact_match_batch, answer_passage_match_batch, em_batch, f1_batch, hotpot_f1_batch,
        normalize_text_batch, precision_batch,
    };
    #[pymodule_export]
    use crate::functions::{
        answer_exact_match, answer_passage_match, em, em_score, f1, f1_score, hotpot_em, hotpot_f1,
        hotpot_f1_score, normalize_text, precision_score,
    };
    #[pymodule_export]
    use crate::metric::{Metric, metric, metrics};
}
