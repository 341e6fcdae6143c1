//! The tables of the cache file: the replies, and the order in which they were used.

use redb::{Database, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};

use crate::key::Hash;

pub(super) const REPLIES: TableDefinition<'_, &Hash, &[u8]> = TableDefinition::new("replies");
/// The position of each reply in the order of use, and its size in bytes.
const USE: TableDefinition<'_, &Hash, (u64, u64)> = TableDefinition::new("use");
/// The inverse: the reply at each position. The first is the least recently used.
const ORDER: TableDefinition<'_, u64, &Hash> = TableDefinition::new("order");
/// The total size of all replies, in bytes.
const TOTALS: TableDefinition<'_, &str, u64> = TableDefinition::new("totals");

/// The approximate size in bytes of redb's own data per entry: two more tables, and pages that are
/// not full.
const OVERHEAD: u64 = 512;

pub(super) fn create(database: &Database) -> Result<(), redb::Error> {
    let transaction = database.begin_write()?;
    Tables::open(&transaction)?;
    Ok(transaction.commit()?)
}

pub(super) fn len(database: &Database) -> Result<u64, redb::Error> {
    Ok(database.begin_read()?.open_table(REPLIES)?.len()?)
}

/// The writes of one commit.
pub(super) struct Batch<'a> {
    pub(super) entries: &'a [(Hash, &'a [u8])],
    pub(super) used: &'a [Hash],
    pub(super) max_bytes: u64,
}

impl Batch<'_> {
    pub(super) fn commit(&self, database: &Database) -> Result<(), redb::Error> {
        if self.entries.is_empty() && self.used.is_empty() {
            return Ok(());
        }
        let transaction = database.begin_write()?;
        {
            let mut tables = Tables::open(&transaction)?;
            for hash in self.used {
                tables.mark_used(hash)?;
            }
            for (hash, entry) in self.entries {
                tables.put(hash, entry)?;
            }
            tables.evict(self.max_bytes)?;
        }
        Ok(transaction.commit()?)
    }
}

struct Tables<'t> {
    replies: redb::Table<'t, &'static Hash, &'static [u8]>,
    uses: redb::Table<'t, &'static Hash, (u64, u64)>,
    order: redb::Table<'t, u64, &'static Hash>,
    totals: redb::Table<'t, &'static str, u64>,
}

impl<'t> Tables<'t> {
    fn open(transaction: &'t redb::WriteTransaction) -> Result<Self, redb::Error> {
        Ok(Self {
            replies: transaction.open_table(REPLIES)?,
            uses: transaction.open_table(USE)?,
            order: transaction.open_table(ORDER)?,
            totals: transaction.open_table(TOTALS)?,
        })
    }

    fn put(&mut self, hash: &Hash, entry: &[u8]) -> Result<(), redb::Error> {
        let size = entry.len() as u64 + OVERHEAD;
        let old = self.remove_use(hash)?.unwrap_or(0);
        self.replies.insert(hash, entry)?;
        self.append_use(hash, size)?;
        self.add_bytes(size, old)
    }

    /// Does nothing if the reply was evicted meanwhile.
    fn mark_used(&mut self, hash: &Hash) -> Result<(), redb::Error> {
        match self.remove_use(hash)? {
            Some(size) => self.append_use(hash, size),
            None => Ok(()),
        }
    }

    fn remove_use(&mut self, hash: &Hash) -> Result<Option<u64>, redb::Error> {
        let Some((at, size)) = self.uses.remove(hash)?.map(|found| found.value()) else {
            return Ok(None);
        };
        self.order.remove(at)?;
        Ok(Some(size))
    }

    fn append_use(&mut self, hash: &Hash, size: u64) -> Result<(), redb::Error> {
        let at = self.order.last()?.map_or(0, |(at, _)| at.value() + 1);
        self.order.insert(at, hash)?;
        self.uses.insert(hash, (at, size))?;
        Ok(())
    }

    fn add_bytes(&mut self, more: u64, less: u64) -> Result<(), redb::Error> {
        let bytes = self.bytes()?;
        self.totals.insert("bytes", (bytes + more).saturating_sub(less))?;
        Ok(())
    }

    fn bytes(&self) -> Result<u64, redb::Error> {
        Ok(self.totals.get("bytes")?.map_or(0, |bytes| bytes.value()))
    }

    /// Evicts the least recently used replies if they exceed `max_bytes`, down to nine tenths of
    /// it, so that not every commit evicts.
    fn evict(&mut self, max_bytes: u64) -> Result<(), redb::Error> {
        if self.bytes()? <= max_bytes {
            return Ok(());
        }
        while self.bytes()? > max_bytes / 10 * 9 {
            let Some(hash) = self.order.first()?.map(|(_, hash)| *hash.value()) else {
                return Ok(());
            };
            let size = self.remove_use(&hash)?.unwrap_or(0);
            self.replies.remove(&hash)?;
            self.add_bytes(0, size)?;
        }
        Ok(())
    }
}
