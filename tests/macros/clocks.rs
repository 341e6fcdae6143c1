//! The wall clock of a machine may jump. Time limits, grace periods, delays and latencies use the monotonic clock.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::documents::{files, root};

/// What reads the wall clock, in the standard library and in usual crates.
const WALL_CLOCKS: [&str; 6] = [
    "SystemTime",
    "UNIX_EPOCH",
    "Utc::now",
    "Local::now",
    "Timestamp::now",
    "now_utc",
];

/// The files that do, and why a jump does no harm.
const ALLOWED: [(&str, &str); 8] = [
    (
        "crates/cli/src/store.rs",
        "the format of the time of a record",
    ),
    (
        "crates/formats/src/export/run.rs",
        "when a run ended, from its manifest",
    ),
    (
        "crates/lm/src/store/records.rs",
        "the age of a record, for `store prune` alone",
    ),
    (
        "crates/run/src/evaluate/manifest/started.rs",
        "when a run started, for its manifest",
    ),
    (
        "crates/otel/src/chat_span.rs",
        "when a call ended, for its span",
    ),
    (
        "crates/otel/src/evaluation_event.rs",
        "the type of the time of an event",
    ),
    (
        "crates/otel/src/events.rs",
        "when a row was evaluated, for its event",
    ),
    (
        "crates/lm/src/client/errors.rs",
        "a delay until a date: none if it is past, an error if it is far away",
    ),
];

#[test]
fn only_listed_files_read_the_wall_clock() {
    let reads_clock = |file: &&std::path::PathBuf| {
        let source = fs::read_to_string(file).unwrap();
        WALL_CLOCKS.iter().any(|clock| source.contains(clock))
    };
    let sources = ["crates", "dsrs-metrics/src"].map(|folder| files(&root().join(folder), "rs"));
    let sources = sources.concat();
    let found = sources.iter().filter(reads_clock);
    let found: BTreeSet<&Path> = found
        .map(|file| file.strip_prefix(root()).unwrap())
        .collect();
    assert_eq!(
        found,
        ALLOWED.iter().map(|(file, _)| Path::new(*file)).collect()
    );
}
