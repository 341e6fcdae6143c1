//! Readers of rows, the evaluation harness, its store, the scorer, and agreement with labels.

mod agree;
mod all_rows;
mod data;
mod evals;
mod evaluate;
mod gate_rates;
mod hostile;
mod list_cells;
mod parquet;
mod results;
mod scoring;
mod stats;
mod store;
