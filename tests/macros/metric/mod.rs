//! Metrics from functions: what a function may take and return, verdicts, and rows.

mod forms;
mod rows;
mod verdicts;
