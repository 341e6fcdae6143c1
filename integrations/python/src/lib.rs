//! The Python module `dsrs_metrics`: DSPy's metric functions, the built-in metrics by name, and batches.
//!
//! `functions.rs` has DSPy's functions, `batch_functions.rs` the same over lists. `parallel.rs` runs batches on all cores
//! without the global interpreter lock. `rows.rs` and `strings.rs` read Python objects, `errors.rs` makes exceptions. The
//! package `python/dsrs_metrics` has the exception types and the type stubs.

mod batch_functions;
mod errors;
mod functions;
mod parallel;
mod rows;
mod strings;

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
}
