//! Judges from attribute to score, over scripted models.

mod forms;
mod injection;
mod models;
mod panel;
mod replies;
mod setup;
mod shipped;
