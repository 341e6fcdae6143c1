//! Evaluates a checked composite on one row: the order of its components and the combination of their scores.

mod node;
mod run;

#[cfg(test)]
mod tests;

pub(super) use self::node::{Decision, Node, Operator, Value};
pub(super) use self::run::Run;
