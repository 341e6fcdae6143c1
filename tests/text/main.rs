//! Metrics of text, retrieval and structured values: values, laws, limits, and parity with other implementations.

mod choices;
mod data;
mod edits;
mod entities;
mod exact_match;
mod hostile;
mod laws;
mod numbers;
mod overlap;
mod parity;
mod presence;
mod retrieval;
mod structured;
mod trajectories;
mod values;
