//! Evaluation of a checked composite on one row: the order in which components are evaluated, and the combination of
//! their scores.

mod combine;
mod run;
mod schedule;
mod tree;

#[cfg(test)]
mod tests;

pub(super) use self::combine::Value;
pub(super) use self::run::Run;
pub(super) use self::tree::{Child, Decision, Node, Tree, Weighted};
