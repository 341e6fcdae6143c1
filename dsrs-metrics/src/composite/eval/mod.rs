//! Evaluation of a checked composite on one row: which components are evaluated when, and how their scores are combined.

mod fold;
mod run;
mod schedule;
mod tree;

pub(super) use self::fold::Value;
pub(super) use self::run::Run;
pub(super) use self::tree::{Child, Node, Tree, Weighted};
