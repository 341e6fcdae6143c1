//! Judges from attribute to score, over scripted models.

mod answers;
mod configured;
mod diff;
mod field_table;
mod forms;
mod injection;
mod instances;
mod laws;
mod models;
mod panel;
mod probes;
mod replies;
mod setup;
mod shipped;
mod without_answer;
