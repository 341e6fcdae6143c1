//! The tests of the integration, in one binary: linking dspy-rs takes longer than running them.

mod evaluators;
mod feedback;
mod language_model;
mod optimizers;
mod programs;
mod recorded;
mod rows;

#[path = "../../examples/optimizers/main.rs"]
#[expect(dead_code, reason = "what the example prints")]
mod example;
