//! A stand-in for the store if the `store` feature is off. It cannot be created.

use std::path::Path;

use super::record::{Hash, Record};
use super::{LmError, LmErrorKind};

#[derive(Debug, Clone)]
pub struct Store {
    _private: (),
}

impl Store {
    pub fn open(_: impl AsRef<Path>) -> Result<Self, LmError> {
        Err(LmErrorKind::NoStoreFolder.into())
    }

    pub fn path(&self) -> &Path {
        Path::new("")
    }

    pub fn last_number(&self) -> Result<i64, LmError> {
        Ok(0)
    }

    pub fn find(&self, _: &Hash, _: i64) -> Result<Option<String>, LmError> {
        Ok(None)
    }

    pub fn put(&self, _: &Record<'_>) -> Result<(), LmError> {
        Ok(())
    }

    pub fn remove(&self, _: &Hash) -> Result<(), LmError> {
        Ok(())
    }

    pub fn spent_msats(&self, _: &str) -> Result<u64, LmError> {
        Ok(0)
    }

    pub fn reserve_msats(&self, _: &str, _: u64) -> Result<i64, LmError> {
        Ok(0)
    }

    pub fn settle_msats(&self, _: i64, _: u64) -> Result<(), LmError> {
        Ok(())
    }

    pub fn forget_spending(&self, _: &str) -> Result<(), LmError> {
        Ok(())
    }
}
