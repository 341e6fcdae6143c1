//! Readers of rows, the evaluation harness, the scorer, and agreement with labels.

mod agree;
mod all_rows;
mod data;
mod evaluate;
mod hostile;
mod parquet;
mod results;
mod scoring;
mod stats;
