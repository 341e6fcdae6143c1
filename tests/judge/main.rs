//! Judges from attribute to score, over scripted models.

mod answers;
mod configured;
mod diff;
mod embeddings;
mod field_table;
mod forms;
mod injection;
mod instances;
mod laws;
mod models;
mod modules;
mod names;
mod offline;
mod panel;
mod probes;
mod prompts;
mod rag;
mod replied_by;
mod replies;
mod scoring;
mod setup;
mod shipped;
mod steps;
mod traces;
mod turns;
mod without_answer;
