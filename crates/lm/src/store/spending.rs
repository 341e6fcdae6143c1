//! The spending of budgets, which hold across several processes and after a kill.
//!
//! Each call is a row with its reserved amount, written before the call. Until the row has the cost of the call, the
//! reserved amount counts as spent: the provider may charge a call whose process died.

use rusqlite::{Connection, TransactionBehavior, params};

use super::Store;
use crate::LmError;

/// A reserved part of a budget, with its record number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[doc(hidden)]
pub struct ReservedPart {
    pub number: i64,
    pub msats: u64,
}

impl Store {
    /// Returns the amount spent or reserved from a budget, in millisatoshis.
    #[doc(hidden)]
    pub fn spent_msats(&self, budget: &str) -> Result<u64, LmError> {
        self.read(|connection| sum(connection, budget))
    }

    /// Reserves an amount before a call. Returns the call's number once the reservation is written, so it survives if
    /// the process dies.
    #[doc(hidden)]
    pub fn reserve_msats(&self, budget: &str, msats: u64) -> Result<i64, LmError> {
        self.write(|connection| insert(connection, budget, msats, None))
    }

    /// Replaces a call's reserved amount with its cost.
    #[doc(hidden)]
    pub fn settle_msats(&self, number: i64, msats: u64) -> Result<(), LmError> {
        self.write(|connection| {
            let settle = "UPDATE spending SET spent_msats = ?2, process = NULL WHERE number = ?1";
            connection
                .prepare_cached(settle)?
                .execute(params![number, signed(msats)])
                .map(drop)
        })
    }

    /// Removes a budget's calls once its run has ended.
    #[doc(hidden)]
    pub fn forget_spending(&self, budget: &str) -> Result<(), LmError> {
        self.write(|connection| {
            connection
                .execute("DELETE FROM spending WHERE budget = ?1", params![budget])
                .map(drop)
        })
    }

    /// Reserves up to `wanted` from a budget that several processes share. Reserves 0 if all of it is spent. Returns
    /// `None` if running processes may still release enough of their reservations. Amounts that a dead process reserved
    /// count as spent.
    #[doc(hidden)]
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
                let rows = select.query_map(params![budget], |row| {
                    Ok((row.get::<_, Option<String>>(0)?.unwrap_or_default(), row.get::<_, i64>(1)?))
                })?;
                let mut reserved = 0_u64;
                for row in rows {
                    let (process, msats) = row?;
                    let msats = if is_alive(&process) { msats } else { 0 };
                    reserved = reserved.saturating_add(msats.unsigned_abs());
                }
                reserved
            };
            let unspent = limit.saturating_sub(sum(&transaction, budget)?.saturating_sub(reserved));
            let wanted = wanted.map_or(unspent, |wanted| wanted.min(unspent));
            if reserved > 0 && unspent.saturating_sub(reserved) < wanted {
                return Ok(None);
            }
            let number = match wanted {
                0 => 0,
                _ => insert(&transaction, budget, wanted, Some(process))?,
            };
            transaction.commit()?;
            Ok(Some(ReservedPart { number, msats: wanted }))
        })
    }
}

fn insert(
    connection: &Connection,
    budget: &str,
    msats: u64,
    process: Option<&str>,
) -> rusqlite::Result<i64> {
    let insert = "INSERT INTO spending (budget, reserved_msats, process) VALUES (?1, ?2, ?3)";
    connection
        .prepare_cached(insert)?
        .insert(params![budget, signed(msats), process])
}

/// Sums what a budget's calls cost, using the reserved amount of those that have not ended.
fn sum(connection: &Connection, budget: &str) -> rusqlite::Result<u64> {
    // A sum of integers could overflow. `total` is a float, exact up to 2^53 msat, which is 90,000 BTC.
    let select =
        "SELECT total(coalesce(spent_msats, reserved_msats)) FROM spending WHERE budget = ?1";
    let total: f64 = connection
        .prepare_cached(select)?
        .query_row(params![budget], |row| row.get(0))?;
    Ok(total as u64)
}

fn signed(msats: u64) -> i64 {
    i64::try_from(msats).unwrap_or(i64::MAX)
}
