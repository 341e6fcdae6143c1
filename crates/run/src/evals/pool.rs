//! The budget for all evals of a test run (`DSRS_BUDGET`), which several processes share through the store.
//!
//! Before its first call, an eval reserves its own budget, or whatever remains. Afterwards it returns what it did not
//! spend. The reservation of a process that died counts as spent.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs, io, thread};

use super::environment::{NEXTEST_RUN, run_id};
use super::message::print_always;
use crate::lm::{LmError, ReservedPart, Store};

/// The name of the variable that sets the budget.
const VARIABLE: &str = "DSRS_BUDGET";

/// How long a process waits before it tries again.
const RETRY: Duration = Duration::from_millis(50);

/// The budget of a test run.
pub(super) struct Pool {
    store: Store,
    name: String,
    limit: u64,
}

/// A reserved amount, in millisatoshis. Any part that is not settled counts as spent.
pub(super) struct Reservation {
    store: Store,
    part: ReservedPart,
}

impl Pool {
    /// Returns the budget of this test run, if it has one.
    pub(super) fn of_run() -> Result<Option<Self>, String> {
        let Ok(text) = env::var(VARIABLE) else {
            return Ok(None);
        };
        if cfg!(not(unix)) && env::var_os(NEXTEST_RUN).is_none() {
            return Err(format!(
                "{VARIABLE}: on this system, only nextest says which run a process belongs to; run `cargo nextest run`, or give each eval a `budget`"
            ));
        }
        let limit = crate::lm::parse_msats(&text)
            .map_err(|error| format!("{VARIABLE}: {error}; write an amount such as 500 sat"))?;
        let store = Store::chosen_dir()
            .and_then(Store::open)
            .map_err(|error| unusable(&error))?;
        Ok(Some(Self {
            store,
            name: format!("evals {}", run_id()),
            limit,
        }))
    }

    /// Reserves an amount, or everything that remains. Waits while other evals have reservations that may be returned.
    pub(super) fn reserve(&self, wanted: Option<u64>) -> Result<Reservation, String> {
        let process = std::process::id().to_string();
        let mut is_told = false;
        loop {
            let budget = (&*self.name, self.limit);
            let attempt = self.store.reserve_part(budget, wanted, &process, is_alive);
            match attempt.map_err(|error| unusable(&error))? {
                Some(part) if part.msats > 0 => {
                    return Ok(Reservation {
                        store: self.store.clone(),
                        part,
                    });
                }
                Some(_) => {
                    return Err(format!(
                        "the run's budget, {VARIABLE} = {} msat, is spent; raise it, or run fewer evals",
                        self.limit
                    ));
                }
                None => {}
            }
            if !std::mem::replace(&mut is_told, true) {
                print_always(
                    "waiting for the part of DSRS_BUDGET that other evals have reserved; give each eval a `budget` to run them side by side\n",
                );
            }
            thread::sleep(RETRY);
        }
    }
}

impl Reservation {
    pub(super) fn msats(&self) -> u64 {
        self.part.msats
    }

    /// Gives back the unspent part of the reservation.
    pub(super) fn settle(&self, spent: u64) -> Result<(), String> {
        self.store
            .settle_msats(self.part.number, spent)
            .map_err(|error| unusable(&error))
    }
}

fn unusable(error: &LmError) -> String {
    format!("cannot use the run's budget ({VARIABLE}): {error}")
}

/// Returns `true` if a process with this id is running. Processes in an unknown state count as alive, so nothing is
/// paid for twice.
fn is_alive(process: &str) -> bool {
    let processes = Path::new("/proc");
    if processes.join("self").exists() {
        return match fs::read_to_string(processes.join(process).join("stat")) {
            // A process that has ended is a zombie until its parent waits for it.
            Ok(stat) => !stat.contains(") Z "),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
    }
    // macOS has no `/proc` folder. Windows has no `kill` command.
    let mut kill = Command::new("kill");
    let status = kill.args(["-0", process]).stderr(Stdio::null()).status();
    status.map_or(true, |status| status.success())
}

#[cfg(test)]
mod tests {
    use super::{Pool, Reservation, Store};

    fn pool(name: &str) -> (Pool, std::path::PathBuf) {
        let folder = std::env::temp_dir().join(format!("dsrs-pool-{name}-{}", std::process::id()));
        let store = Store::open(&folder).unwrap();
        (
            Pool {
                store,
                name: "evals 1".to_owned(),
                limit: 100,
            },
            folder,
        )
    }

    #[test]
    fn what_is_not_spent_is_returned_and_nothing_is_spent_twice() {
        let (pool, folder) = pool("returned");
        let first = pool.reserve(Some(60)).unwrap();
        assert_eq!(first.msats(), 60);
        first.settle(10).unwrap();
        let rest = pool.reserve(None).unwrap();
        assert_eq!(rest.msats(), 90);
        rest.settle(90).unwrap();
        let error = pool.reserve(Some(1)).map(|it| it.msats()).unwrap_err();
        assert_eq!(
            error,
            "the run's budget, DSRS_BUDGET = 100 msat, is spent; raise it, or run fewer evals"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_process_that_died_has_spent_its_reservation() {
        let (pool, folder) = pool("died");
        // No process has this id.
        pool.store
            .reserve_part(("evals 1", 100), Some(60), "4194999", |_| true)
            .unwrap();
        assert_eq!(pool.reserve(None).unwrap().msats(), 40);
        // Another test run has its own budget.
        let other = Pool {
            name: "evals 2".to_owned(),
            ..pool
        };
        assert_eq!(other.reserve(None).unwrap().msats(), 100);
        std::fs::remove_dir_all(folder).unwrap();
    }

    /// Its parent is this test, which has not waited for it yet.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_that_ended_is_dead_before_its_parent_has_waited_for_it() {
        let mut process = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let number = process.id().to_string();
        assert!(super::is_alive(&number));
        process.kill().unwrap();
        while super::is_alive(&number) {
            std::thread::yield_now();
        }
        assert!(std::path::Path::new("/proc").join(&number).exists());
        process.wait().unwrap();
    }

    #[test]
    fn an_eval_waits_for_the_reservation_of_another_one() {
        let (pool, folder) = pool("waits");
        let first = pool.reserve(Some(80)).unwrap();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| pool.reserve(Some(50)).unwrap());
            std::thread::sleep(std::time::Duration::from_millis(120));
            assert!(!second.is_finished());
            first.settle(20).unwrap();
            let second: Reservation = second.join().unwrap();
            assert_eq!(second.msats(), 50);
        });
        std::fs::remove_dir_all(folder).unwrap();
    }
}
