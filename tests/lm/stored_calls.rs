//! Makes calls through a store and reports each call that has returned. A test kills it meanwhile.
//!
//! `lm_stored_calls DIRECTORY CALLS`: the model appends the number of each paid call to
//! `DIRECTORY/paid`, and the program prints the number of each call that has returned.
//! With a third argument `hold`, it then prints `held`, and closes the store at the end of standard input.

use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dsrs_metrics::lm::{LanguageModel, LmRequest, ScriptedLm, Store, Stored};

const CONCURRENCY: usize = 64;

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let dir = PathBuf::from(arguments.next().expect("a directory"));
    let calls = arguments
        .next()
        .and_then(|calls| calls.parse().ok())
        .expect("a number of calls");
    let store = match Store::open(&dir) {
        Ok(store) => store,
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    };
    run(&dir, store.clone(), calls).await;
    if arguments.next().as_deref() == Some("hold") {
        println!("held");
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
    }
}

async fn run(dir: &std::path::Path, store: Store, calls: u64) {
    let paid = File::options()
        .create(true)
        .append(true)
        .open(dir.join("paid"));
    let paid = Mutex::new(paid.expect("a writable file"));
    let model = ScriptedLm::new()
        .remember(0)
        .latency(Duration::from_millis(1));
    let model = model.otherwise(move |request: &LmRequest| {
        let call = &request.messages[0].content;
        // In one write, so that a kill leaves no part of a line.
        paid.lock()
            .unwrap()
            .write_all(format!("{call}\n").as_bytes())
            .unwrap();
        format!("reply {call}")
    });
    let lm = Arc::new(Stored::new(model, store));
    let next = Arc::new(AtomicU64::new(0));
    let workers: Vec<_> = (0..CONCURRENCY)
        .map(|_| {
            let (lm, next) = (Arc::clone(&lm), Arc::clone(&next));
            tokio::spawn(async move {
                loop {
                    let call = next.fetch_add(1, Ordering::Relaxed);
                    if call >= calls {
                        return;
                    }
                    let request = LmRequest::new("t").user(call.to_string());
                    let reply = lm.complete(&request).await.unwrap_or_else(|error| {
                        eprintln!("{error}");
                        std::process::exit(2);
                    });
                    assert_eq!(reply.text, format!("reply {call}"));
                    // One write per line, so that a kill does not truncate a line.
                    std::io::stdout()
                        .lock()
                        .write_all(format!("{call}\n").as_bytes())
                        .unwrap();
                }
            })
        })
        .collect();
    for worker in workers {
        worker.await.unwrap();
    }
}
