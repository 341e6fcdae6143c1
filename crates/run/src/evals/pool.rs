//! The budget of all evals of a run of tests (`DSRS_BUDGET`), which several processes share through a file.
//!
//! An eval reserves its own budget, or else all that is left, before its first call, and returns what it did not spend. The
//! reservation of a process that died counts as spent.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::message::print_always;
use super::paths::change_file;

/// The variable with the budget.
pub(super) const VARIABLE: &str = "DSRS_BUDGET";

/// The variable in which nextest names a run of tests.
const NEXTEST_RUN: &str = "NEXTEST_RUN_ID";

/// How long a process waits before it tries again.
const RETRY: Duration = Duration::from_millis(50);

/// The budget of a run of tests.
pub(super) struct Pool {
    path: PathBuf,
    limit: u64,
}

/// The content of the file.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct State {
    spent: u64,
    /// The reservations, by process and number.
    reserved: BTreeMap<String, u64>,
}

impl State {
    fn spend(&mut self, msats: u64) {
        self.spent = self.spent.saturating_add(msats);
    }
}

/// A reserved amount, in millisatoshis. What is not settled counts as spent.
pub(super) struct Reservation {
    path: PathBuf,
    key: String,
    pub(super) msats: u64,
}

impl Pool {
    /// Returns the budget of this run of tests, if it has one. `folder` is where its file is.
    pub(super) fn of_run(folder: &Path) -> Result<Option<Self>, String> {
        let Ok(text) = env::var(VARIABLE) else { return Ok(None) };
        if cfg!(not(unix)) && env::var_os(NEXTEST_RUN).is_none() {
            return Err(format!(
                "{VARIABLE}: only nextest names the run of a process on this system; run `cargo nextest run`, or give each eval a `budget`"
            ));
        }
        let limit = crate::lm::parse_msats(&text)
            .map_err(|error| format!("{VARIABLE}: {error}; write an amount such as 500 sat"))?;
        Ok(Some(Self { path: folder.join(format!("budget-{}.json", run_id())), limit }))
    }

    /// Reserves an amount, or all that is left. Waits while other evals have a reservation that may be returned.
    pub(super) fn reserve(&self, wanted: Option<u64>, key: &str) -> Result<Reservation, String> {
        let key = format!("{}-{key}", std::process::id());
        let mut is_told = false;
        loop {
            let attempt = self.update(|state| self.try_reserve(state, wanted, &key));
            let attempt = attempt.map_err(|error| {
                format!(
                    "cannot use the budget of the run `{}`: {error}; remove the file to begin again with all of {VARIABLE}",
                    self.path.display()
                )
            })?;
            match attempt {
                Some(msats) if msats > 0 => {
                    return Ok(Reservation { path: self.path.clone(), key, msats });
                }
                Some(_) => {
                    return Err(format!(
                        "the budget of the run, {VARIABLE} = {} msat, is spent; raise it, or run fewer evals",
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

    /// Returns the reserved amount, 0 if everything is spent, and `None` if others may return enough.
    fn try_reserve(&self, state: &mut State, wanted: Option<u64>, key: &str) -> Option<u64> {
        let of_dead = |key: &str| !process(key).is_some_and(|process| is_alive(&process));
        let dead: Vec<String> = state.reserved.keys().filter(|key| of_dead(key)).cloned().collect();
        for key in dead {
            state.spend(state.reserved.get(&key).copied().unwrap_or(0));
            state.reserved.remove(&key);
        }
        let unspent = self.limit.saturating_sub(state.spent);
        let reserved = state.reserved.values().copied().fold(0, u64::saturating_add);
        let wanted = wanted.map_or(unspent, |wanted| wanted.min(unspent));
        if reserved > 0 && unspent.saturating_sub(reserved) < wanted {
            return None;
        }
        if wanted > 0 {
            state.reserved.insert(key.to_owned(), wanted);
        }
        Some(wanted)
    }

    fn update<T>(&self, change: impl FnOnce(&mut State) -> T) -> io::Result<T> {
        update(&self.path, change)
    }
}

impl Reservation {
    /// Returns what was not spent.
    pub(super) fn settle(self, spent: u64) -> io::Result<()> {
        update(&self.path, |state| {
            state.reserved.remove(&self.key);
            state.spend(spent);
        })
    }
}

/// Changes the state of a run of tests.
fn update<T>(path: &Path, change: impl FnOnce(&mut State) -> T) -> io::Result<T> {
    change_file(path, |text| {
        // An empty file is damaged: what it contained may be spent.
        let mut state = match text {
            None => State::default(),
            Some(text) => serde_json::from_str(text).map_err(|error| {
                let reason = format!(
                    "expected the spent and the reserved amounts, found {}",
                    found(text, &error)
                );
                io::Error::new(io::ErrorKind::InvalidData, reason)
            })?,
        };
        let result = change(&mut state);
        *text = Some(serde_json::to_string(&state)?);
        Ok(result)
    })
}

fn found(text: &str, error: &serde_json::Error) -> String {
    match text.trim() {
        "" => "an empty file".to_owned(),
        _ => format!("other content ({error})"),
    }
}

/// The run of tests that this process belongs to: nextest's, or else the process that started the test binaries.
pub(super) fn run_id() -> String {
    let of_nextest = env::var(NEXTEST_RUN).ok();
    let of_parent = || {
        #[cfg(unix)]
        let parent = std::os::unix::process::parent_id();
        #[cfg(not(unix))]
        let parent = std::process::id();
        // The number of a process is used again, and its start is not.
        let started = fs::read_to_string(format!("/proc/{parent}/stat")).ok();
        let started = started.and_then(|stat| {
            let after_name = stat.rsplit_once(')')?.1;
            after_name.split_whitespace().nth(19).map(str::to_owned)
        });
        format!("{parent}-{}", started.unwrap_or_default())
    };
    let id = of_nextest.unwrap_or_else(of_parent);
    id.chars().filter(|it| it.is_ascii_alphanumeric() || *it == '-').take(64).collect()
}

/// The process of a reservation.
fn process(key: &str) -> Option<String> {
    let (process, _) = key.split_once('-')?;
    process.parse::<u32>().ok().map(|process| process.to_string())
}

/// Whether a process of this number runs. Unknown processes are alive, so that nothing is paid twice.
fn is_alive(process: &str) -> bool {
    let processes = Path::new("/proc");
    if processes.join("self").exists() {
        return processes.join(process).exists();
    }
    // macOS has no such folder. Windows has no such command.
    let mut kill = Command::new("kill");
    let status = kill.args(["-0", process]).stderr(Stdio::null()).status();
    status.map_or(true, |status| status.success())
}

#[cfg(test)]
mod tests {
    use super::{Pool, Reservation};

    fn pool(name: &str) -> (Pool, std::path::PathBuf) {
        let folder = std::env::temp_dir().join(format!("dsrs-pool-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        (Pool { path: folder.join("budget.json"), limit: 100 }, folder)
    }

    #[test]
    fn what_is_not_spent_is_returned_and_nothing_is_spent_twice() {
        let (pool, folder) = pool("returned");
        let first = pool.reserve(Some(60), "a").unwrap();
        assert_eq!(first.msats, 60);
        first.settle(10).unwrap();
        let rest = pool.reserve(None, "b").unwrap();
        assert_eq!(rest.msats, 90);
        rest.settle(90).unwrap();
        let error = pool.reserve(Some(1), "c").map(|it| it.msats).unwrap_err();
        assert_eq!(
            error,
            "the budget of the run, DSRS_BUDGET = 100 msat, is spent; raise it, or run fewer evals"
        );
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn trap_41_a_process_that_died_has_spent_its_reservation() {
        let (pool, folder) = pool("died");
        let reservation = pool.reserve(Some(60), "a").unwrap();
        // No process has this number.
        let dead = "{\"spent\":0,\"reserved\":{\"4194999-a\":60}}";
        std::fs::write(&reservation.path, dead).unwrap();
        assert_eq!(pool.reserve(None, "b").unwrap().msats, 40);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn trap_55_an_empty_or_damaged_budget_is_no_fresh_one() {
        let (pool, folder) = pool("damaged");
        let shown = pool.path.display();
        for (content, found) in [
            ("", "an empty file"),
            ("\n", "an empty file"),
            ("{\"spent\":1}", "other content (missing field `reserved` at line 1 column 11)"),
            (
                "{\"spent\":-1,\"reserved\":{}}",
                "other content (invalid value: integer `-1`, expected u64 at line 1 column 11)",
            ),
        ] {
            std::fs::write(&pool.path, content).unwrap();
            assert_eq!(
                pool.reserve(None, "a").map(|it| it.msats).unwrap_err(),
                format!(
                    "cannot use the budget of the run `{shown}`: expected the spent and the reserved amounts, found {found}; remove the file to begin again with all of DSRS_BUDGET"
                )
            );
            assert_eq!(std::fs::read_to_string(&pool.path).unwrap(), content);
        }
        // Amounts that overflow, and reservations of no process.
        let most = u64::MAX;
        for edited in [
            format!(
                "{{\"spent\":{most},\"reserved\":{{\"a\":{most},\"-b\":{most},\"self-c\":1}}}}"
            ),
            format!(
                "{{\"spent\":0,\"reserved\":{{\"1-a\":{most},\"x-b\":{most},\"1-c\":{most}}}}}"
            ),
        ] {
            std::fs::write(&pool.path, edited).unwrap();
            assert_eq!(
                pool.reserve(None, "a").map(|it| it.msats).unwrap_err(),
                "the budget of the run, DSRS_BUDGET = 100 msat, is spent; raise it, or run fewer evals"
            );
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_eval_waits_for_the_reservation_of_another_one() {
        let (pool, folder) = pool("waits");
        let first = pool.reserve(Some(80), "a").unwrap();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| pool.reserve(Some(50), "b").unwrap());
            std::thread::sleep(std::time::Duration::from_millis(120));
            assert!(!second.is_finished());
            first.settle(20).unwrap();
            let second: Reservation = second.join().unwrap();
            assert_eq!(second.msats, 50);
        });
        std::fs::remove_dir_all(folder).unwrap();
    }
}
