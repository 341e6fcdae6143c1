//! The options of the store, which commands share that pay for something.

use std::path::PathBuf;

use clap::Args;

/// Where results that cost something are kept.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct StoreArguments {
    /// The folder of the store, which keeps what was paid for: replies of models, and scores that cost
    /// something. By default DSRS_STORE, or the user's cache folder
    #[arg(long, value_name = "DIR")]
    pub(super) store: Option<PathBuf>,
    /// Neither read nor store results
    #[arg(long, conflicts_with_all = ["store", "refresh"])]
    pub(super) no_store: bool,
    /// Pay again for what the store has, and replace it
    #[arg(long)]
    pub(super) refresh: bool,
}
