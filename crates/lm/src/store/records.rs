//! The records of a store: results and their keys.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, SystemTime};

use rusqlite::ffi::SQLITE_CORRUPT;
use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use super::Store;
use super::database::failure;
use crate::LmError;
use crate::record::Hash;

/// The number and size of a store's records.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreInfo {
    /// The number of language model replies.
    pub replies: u64,
    /// The number of program outputs.
    pub outputs: u64,
    /// The number of metric evaluations.
    pub evaluations: u64,
    /// The total original cost of the records, in millisatoshis.
    ///
    /// Unknown costs count as 0.
    pub cost_msats: u64,
    /// The size of the database in bytes.
    pub bytes: u64,
    /// When the oldest and the newest record were stored.
    ///
    /// The times are in seconds since the Unix epoch.
    pub stored_at: Option<(u64, u64)>,
}

/// The result of removing records from a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pruned {
    /// The number of records removed.
    pub records: u64,
    /// The size of the database in bytes, before and after the removal.
    pub bytes: (u64, u64),
}

const REPLY: &str = "reply";

impl Store {
    /// Returns the number and size of the records.
    ///
    /// ```
    /// use dsrs_metrics::lm::Store;
    ///
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-store-info-{}", std::process::id()));
    /// let info = Store::open(&dir)?.info()?;
    /// assert_eq!((info.replies, info.cost_msats, info.stored_at), (0, 0, None));
    /// # std::fs::remove_dir_all(dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`LmErrorKind::Store`](crate::LmErrorKind::Store) if the file cannot be read.
    pub fn info(&self) -> Result<StoreInfo, LmError> {
        self.read(|connection| {
            let mut info = StoreInfo {
                bytes: size(connection)?,
                ..StoreInfo::default()
            };
            // A sum of integers could overflow.
            let mut kinds = connection
                .prepare("SELECT kind, count(*), total(cost_msats) FROM records GROUP BY kind")?;
            let mut rows = kinds.query(())?;
            while let Some(row) = rows.next()? {
                let (records, cost): (u64, f64) = (row.get(1)?, row.get(2)?);
                match row.get_ref(0)?.as_str()? {
                    REPLY => info.replies = records,
                    "output" => info.outputs = records,
                    "evaluation" => info.evaluations = records,
                    _ => {}
                }
                info.cost_msats = info.cost_msats.saturating_add(cost as u64);
            }
            let times = "SELECT min(stored_at), max(stored_at) FROM records";
            let both = |row: &Row<'_>| Ok(row.get(0).ok().zip(row.get(1).ok()));
            info.stored_at = connection.query_row(times, (), both)?;
            Ok(info)
        })
    }

    /// Removes old records from the store.
    ///
    /// The method first removes records older than `older_than`. It then removes the oldest records until the database
    /// is no larger than `max_bytes`. If records were removed, the file shrinks.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dsrs_metrics::lm::Store;
    ///
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-prune-{}", std::process::id()));
    /// let month = Duration::from_secs(30 * 24 * 60 * 60);
    /// let pruned = Store::open(&dir)?.prune(Some(month), Some(1 << 30))?;
    /// assert_eq!(pruned.records, 0);
    /// # std::fs::remove_dir_all(dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`LmErrorKind::Store`](crate::LmErrorKind::Store) if the file cannot be written.
    pub fn prune(
        &self,
        older_than: Option<Duration>,
        max_bytes: Option<u64>,
    ) -> Result<Pruned, LmError> {
        self.write(|connection| {
            let before = size(connection)?;
            let mut records = 0;
            if let Some(age) = older_than {
                let oldest = now().saturating_sub(age.as_secs());
                let remove = "DELETE FROM records WHERE stored_at < ?1";
                records += connection.execute(remove, params![oldest])?;
            }
            if let Some(max_bytes) = max_bytes {
                let count: u64 = value(connection, "SELECT count(*) FROM records")?;
                let oldest = "DELETE FROM records WHERE number IN
                    (SELECT number FROM records ORDER BY stored_at, number LIMIT ?1)";
                while size(connection)? > max_bytes {
                    match connection.execute(oldest, params![(count / 50).max(1)])? {
                        0 => break,
                        removed => records += removed,
                    }
                }
            }
            if records > 0 {
                connection.execute_batch("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")?;
            }
            Ok(Pruned {
                records: records as u64,
                bytes: (before, size(connection)?),
            })
        })
    }

    /// Checks whether the file is damaged.
    ///
    /// This method reads the whole file.
    ///
    /// ```
    /// use dsrs_metrics::lm::Store;
    ///
    /// # let dir = std::env::temp_dir().join(format!("dsrs-doc-store-check-{}", std::process::id()));
    /// Store::open(&dir)?.check()?;
    /// # std::fs::remove_dir_all(dir)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`LmErrorKind::Store`](crate::LmErrorKind::Store) with the first problem found.
    pub fn check(&self) -> Result<(), LmError> {
        self.read(|connection| {
            let found: String = value(connection, "PRAGMA integrity_check(1)")?;
            if found != "ok" {
                return Err(failure(SQLITE_CORRUPT, found));
            }
            // SQLite has no checksums of its own.
            let mut records =
                connection.prepare("SELECT number, key, result, checksum FROM records")?;
            let mut rows = records.query(())?;
            while let Some(row) = rows.next()? {
                let number: i64 = row.get(0)?;
                let key = row.get_ref(1)?.as_bytes().unwrap_or_default();
                if intact(key, row.get_ref(2)?, row.get_ref(3)?).is_none() {
                    return Err(failure(SQLITE_CORRUPT, format!("record {number}")));
                }
            }
            Ok(())
        })
    }
}

/// Returns the single value that a query selects.
fn value<T: FromSql>(connection: &Connection, query: &str) -> rusqlite::Result<T> {
    connection.query_row(query, (), |row| row.get(0))
}

/// Returns the size of the used pages in bytes.
fn size(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
    Ok((number("page_count")? - number("freelist_count")?) * number("page_size")?)
}

/// Returns the checksum of a record. It covers the key, so a damaged index cannot return another record.
fn checksum(key: &[u8], result: &str) -> [u8; 8] {
    let hash: Hash = Sha256::new()
        .chain_update(key)
        .chain_update(result)
        .finalize()
        .into();
    std::array::from_fn(|at| hash[at])
}

/// Returns the result if its checksum matches.
fn intact(key: &[u8], result: ValueRef<'_>, checksum: ValueRef<'_>) -> Option<String> {
    let result = result.as_str().ok()?;
    let found = checksum.as_blob().ok()?;
    (found == self::checksum(key, result)).then(|| result.to_owned())
}

/// Returns the current time in seconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_secs()
}

/// A reserved part of a budget, with its record number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub struct ReservedPart {
    pub number: i64,
    pub msats: u64,
}

#[doc(hidden)]
impl Store {
    /// Returns the result stored under a key, if there is one.
    ///
    /// A record is ignored if its number is at most `after`, or if it is damaged on disk.
    pub fn find(&self, key: &Hash, after: i64) -> Result<Option<String>, LmError> {
        self.read(|connection| {
            let select = "SELECT result, checksum FROM records WHERE key = ?1 AND number > ?2";
            let mut select = connection.prepare_cached(select)?;
            let intact = |row: &Row<'_>| Ok(intact(key, row.get_ref(0)?, row.get_ref(1)?));
            let found = select.query_row(params![key, after], intact);
            Ok(found.optional()?.flatten())
        })
    }

    /// Stores a result, replacing any earlier result stored under the same key.
    pub fn put(
        &self,
        kind: &str,
        (key, about): (&Hash, &str),
        result: &str,
        cost_msats: Option<u64>,
    ) -> Result<(), LmError> {
        let (checksum, cost) = (checksum(key, result), cost_msats.map(signed));
        self.write(|connection| {
            let mut insert = connection.prepare_cached(
                "INSERT OR REPLACE INTO records (key, kind, about, result, checksum, cost_msats, stored_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            let values = params![key, kind, about, result, checksum, cost, now()];
            insert.execute(values).map(drop)
        })
    }

    /// Removes the result stored under a key.
    pub fn remove(&self, key: &Hash) -> Result<(), LmError> {
        let remove = "DELETE FROM records WHERE key = ?1";
        self.write(|connection| connection.execute(remove, params![key]).map(drop))
    }

    /// Returns the number of the most recently written record.
    pub fn last_number(&self) -> Result<i64, LmError> {
        let last = "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'records'), 0)";
        self.read(|connection| value(connection, last))
    }

    /// Checks that results can be stored.
    ///
    /// If the last write failed, the method tries to write again. Call this method before doing work that costs money.
    /// Otherwise, the results could be lost.
    pub fn check_writable(&self) -> Result<(), LmError> {
        if !self.shared.has_failed.load(Relaxed) {
            return Ok(());
        }
        self.write(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute_batch(
                "INSERT INTO spending (budget, reserved_msats) VALUES ('', 0);
                 DELETE FROM spending WHERE budget = ''",
            )?;
            transaction.commit()
        })
    }

    /// Returns the amount of a budget that is spent or reserved, in millisatoshis.
    pub fn spent_msats(&self, budget: &str) -> Result<u64, LmError> {
        self.read(|connection| sum(connection, budget))
    }

    /// Reserves an amount before a call, and returns the call's number.
    ///
    /// The reservation is written before the method returns, so it survives if the process dies.
    pub fn reserve_msats(&self, budget: &str, msats: u64) -> Result<i64, LmError> {
        self.write(|connection| reserve(connection, budget, msats, None))
    }

    /// Replaces a call's reserved amount with its cost.
    pub fn settle_msats(&self, number: i64, msats: u64) -> Result<(), LmError> {
        self.write(|connection| {
            let settle = "UPDATE spending SET spent_msats = ?2, process = NULL WHERE number = ?1";
            let mut settle = connection.prepare_cached(settle)?;
            settle.execute(params![number, signed(msats)]).map(drop)
        })
    }

    /// Removes all calls recorded for a budget.
    ///
    /// Call this method once the run has ended.
    pub fn forget_spending(&self, budget: &str) -> Result<(), LmError> {
        let forget = "DELETE FROM spending WHERE budget = ?1";
        self.write(|connection| connection.execute(forget, params![budget]).map(drop))
    }

    /// Reserves up to `wanted` from a budget that several processes share.
    ///
    /// Reserves 0 if the whole budget is spent. Returns `None` if other running processes may still release enough of
    /// the budget. Amounts reserved by a process that has died count as spent.
    pub fn reserve_part(
        &self,
        (budget, limit): (&str, u64),
        wanted: Option<u64>,
        process: &str,
        is_alive: impl Fn(&str) -> bool,
    ) -> Result<Option<ReservedPart>, LmError> {
        self.write(|connection| {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let reserved = {
                let mut select = transaction.prepare(
                    "SELECT process, reserved_msats FROM spending WHERE budget = ?1 AND spent_msats IS NULL",
                )?;
                let mut rows = select.query_map(params![budget], |row| {
                    let process: Option<String> = row.get(0)?;
                    let is_alive = is_alive(&process.unwrap_or_default());
                    Ok(if is_alive { row.get::<_, i64>(1)?.unsigned_abs() } else { 0 })
                })?;
                rows.try_fold(0_u64, |sum, msats| msats.map(|msats| sum.saturating_add(msats)))?
            };
            let unspent = limit.saturating_sub(sum(&transaction, budget)?.saturating_sub(reserved));
            let wanted = wanted.map_or(unspent, |wanted| wanted.min(unspent));
            if reserved > 0 && unspent.saturating_sub(reserved) < wanted {
                return Ok(None);
            }
            let number = match wanted {
                0 => 0,
                _ => reserve(&transaction, budget, wanted, Some(process))?,
            };
            transaction.commit()?;
            Ok(Some(ReservedPart { number, msats: wanted }))
        })
    }
}

fn reserve(
    connection: &Connection,
    budget: &str,
    msats: u64,
    process: Option<&str>,
) -> rusqlite::Result<i64> {
    let insert = "INSERT INTO spending (budget, reserved_msats, process) VALUES (?1, ?2, ?3)";
    let mut insert = connection.prepare_cached(insert)?;
    insert.insert(params![budget, signed(msats), process])
}

/// Sums what a budget's calls cost, using the reserved amount for calls that have not ended.
fn sum(connection: &Connection, budget: &str) -> rusqlite::Result<u64> {
    // A sum of integers could overflow. `total` is a float, exact up to 2^53 msat, which is 90,000 BTC.
    let select =
        "SELECT total(coalesce(spent_msats, reserved_msats)) FROM spending WHERE budget = ?1";
    let mut select = connection.prepare_cached(select)?;
    let total: f64 = select.query_row(params![budget], |row| row.get(0))?;
    Ok(total as u64)
}

fn signed(msats: u64) -> i64 {
    i64::try_from(msats).unwrap_or(i64::MAX)
}
