//! Metrics with an engine behind them: sandboxes, SPARQL stores, parsers and schemas, and replies of agents.

mod agents;
mod explanations;
mod matching;
mod missing;
mod parity;
mod proxies;
mod sandbox;
mod sparql;
