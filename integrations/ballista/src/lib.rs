#![doc = include_str!("../README.md")]

mod address;
mod cluster;
mod codec;
mod command;
mod executor;
mod executors;
mod flight;
mod functions;
mod scheduler;

pub use crate::cluster::Cluster;
