//! Judges from attribute to score, over scripted models.

mod forms;
mod injection;
mod laws;
mod models;
mod panel;
mod replies;
mod setup;
mod shipped;
