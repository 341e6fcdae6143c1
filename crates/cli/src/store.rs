//! `store`: shows what a store contains, and removes old records.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, UNIX_EPOCH};

use bytesize::ByteSize;
use clap::{ArgGroup, Args, Subcommand};

use super::output::{Result, err, print};
use crate::lm::Store;

/// Show or prune the store, which keeps model replies and other results that cost something
#[derive(Debug, Args)]
pub(super) struct StoreCommand {
    #[command(subcommand)]
    action: Action,
    /// The folder of the store; by default DSRS_STORE, or the user's cache folder
    #[arg(long, value_name = "DIR", global = true)]
    store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the number, cost and size of the records
    Info {
        /// Check the whole file, and report the first damage
        #[arg(long)]
        check: bool,
    },
    /// Remove records older than an age, and the oldest ones until the file is small enough
    #[command(group = ArgGroup::new("limit").required(true).multiple(true))]
    Prune {
        /// Remove records older than this, e.g. 30d
        #[arg(long, value_name = "TIME", group = "limit", value_parser = humantime::parse_duration)]
        older_than: Option<Duration>,
        /// Remove the oldest records until the file is no larger than this, e.g. 1GB
        #[arg(long, value_name = "SIZE", group = "limit")]
        max_size: Option<ByteSize>,
    },
}

/// The last second of the year 9999. Later times cannot be formatted.
const END_OF_TIME: u64 = 253_402_300_799;

pub(super) fn run(args: &StoreCommand) -> Result<ExitCode> {
    let folder = args.store.clone().or_else(|| Store::chosen_dir().ok());
    let folder = folder.ok_or_else(|| {
        err!("cannot locate the store, because no home directory was found; pass --store DIR")
    })?;
    let text = match Store::open_existing(&folder)? {
        None => format!("{}: no store", folder.join(Store::FILE).display()),
        Some(store) => match args.action {
            Action::Info { check } => {
                if check {
                    store.check()?;
                }
                info(&store, check)?
            }
            Action::Prune {
                older_than,
                max_size,
            } => {
                let pruned = store.prune(older_than, max_size.map(|size| size.as_u64()))?;
                let (records, (before, after)) = (pruned.records, pruned.bytes);
                let (before, after) = (size(before), size(after));
                let path = store.path().display();
                format!("{path}: {records} records removed, {before} -> {after}")
            }
        },
    };
    print(&format!("{text}\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn info(store: &Store, is_checked: bool) -> Result<String> {
    let info = store.info()?;
    let mut lines = vec![
        format!("{}: {}", store.path().display(), size(info.bytes)),
        format!("model replies          {}", info.replies),
        format!("program outputs        {}", info.outputs),
        format!("metric evaluations     {}", info.evaluations),
        format!("total cost             {} msat", info.cost_msats),
    ];
    // A clock that was wrong may have stored a later time.
    let time = |seconds: u64| UNIX_EPOCH + Duration::from_secs(seconds.min(END_OF_TIME));
    let time = |seconds| humantime::format_rfc3339_seconds(time(seconds));
    lines.extend(
        info.stored_at.map(|(first, last)| {
            format!("stored                 {} to {}", time(first), time(last))
        }),
    );
    lines.extend(is_checked.then(|| "no damage found".to_owned()));
    Ok(lines.join("\n"))
}

fn size(bytes: u64) -> String {
    ByteSize::b(bytes).display().si().to_string()
}
