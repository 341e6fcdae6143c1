//! Trajectories of agents: the forms that are read, fields of rows, laws of the metrics.

mod fields;
mod forms;
mod laws;
mod subagents;
