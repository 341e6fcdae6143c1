//! `--from`: files of other programs in each command that reads result files.

mod bad_archives;
mod bad_files;
mod commands;
mod formats;
mod parity;
mod spans;
mod trajectories;
mod zip;

/// The files that the programs in `tests/parity` wrote.
const PARITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity");

/// A file of a run of lm-eval.
fn lm_eval(run: &str, task: &str) -> String {
    let hour = if run == "weak" { "10" } else { "11" };
    format!("{PARITY}/lm_eval/{run}/samples_{task}_2026-11-28T{hour}-00-00.000001.jsonl")
}

/// A log from inspect_ai.
fn log(name: &str) -> String {
    format!("{PARITY}/inspect_logs/{name}")
}
