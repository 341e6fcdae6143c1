//! Prints the speed of the store:
//!
//! `cargo run --release -p dsrs-metrics-tests --features lm --bin lm_store_speed [RECORDS]`
//!
//! Replies written and read, and the time to open a store of so many records; by default 10 million (3.4 GB).

use std::path::Path;
use std::time::{Duration, Instant};

use dsrs_metrics::lm::{LanguageModel, LmRequest, ScriptedLm, Store, Stored};
use futures_util::StreamExt as _;

const REPLIES: u64 = 100_000;
const CONCURRENCY: usize = 64;

/// Asks the model for all the judges' replies, and returns how many seconds that took.
async fn ask_all(lm: &Stored<ScriptedLm>, are_stored: bool) -> f64 {
    let begun = Instant::now();
    let calls = (0..REPLIES).map(|row| async move {
        let request = LmRequest::new("polite version 1")
            .system("Decide whether the reply to the customer is polite.")
            .user(format!("reply {row}"));
        let reply = lm.complete(&request).await.unwrap();
        assert_eq!(reply.cached, are_stored, "{row}");
    });
    futures_util::stream::iter(calls)
        .buffer_unordered(CONCURRENCY)
        .collect::<()>()
        .await;
    begun.elapsed().as_secs_f64()
}

#[tokio::main]
async fn main() {
    let records = std::env::args().nth(1);
    let records = records.map_or(10_000_000, |number| {
        number.parse().expect("a number of records")
    });
    let [replies, large] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    write_and_read(replies.path()).await;
    open_with(large.path(), records);
}

async fn write_and_read(dir: &Path) {
    let reply = r#"{"reasoning": "It thanks the customer and offers help.", "polite": true}"#;
    let model = || ScriptedLm::new().otherwise(reply);
    let store = || Store::open(dir).unwrap();
    let written = ask_all(&Stored::new(model(), store()), false).await;
    let read = ask_all(&Stored::new(model(), store()), true).await;
    let each_second = |seconds: f64| (REPLIES as f64 / seconds) as u64;
    println!(
        "{REPLIES} replies: {} written and {} read in a second",
        each_second(written),
        each_second(read)
    );
}

fn open_with(dir: &Path, records: u64) {
    let path = Store::open(dir).unwrap().path().to_owned();
    let database = rusqlite::Connection::open(&path).unwrap();
    let filled = format!(
        "INSERT INTO records (key, kind, about, result, checksum, cost_msats, stored_at)
         WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {records})
         SELECT randomblob(32), 'reply', hex(randomblob(60)), hex(randomblob(60)), randomblob(8), 10, n FROM numbers"
    );
    database.execute(&filled, []).unwrap();
    database
        .pragma_update(None, "wal_checkpoint", "TRUNCATE")
        .unwrap();
    drop(database);
    let times = [(); 10].map(|()| {
        let begun = Instant::now();
        Store::open(dir).unwrap();
        begun.elapsed()
    });
    let size = std::fs::metadata(&path).unwrap().len() / 1_000_000;
    let longest = times.iter().max().unwrap_or(&Duration::ZERO);
    println!("{records} records, {size} MB: opened in at most {longest:?} of 10 times");
}
