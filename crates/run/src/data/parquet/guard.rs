//! Calls of the decoder, whose errors and panics are errors of the file.

use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;

use super::row_values::TooManyValues;
use crate::core::panic;
use crate::core::rows::pair::Origin;
use crate::data::error::DataError;
use crate::data::input::value_limit;

/// Calls the decoder. It also panics on some invalid files.
pub(super) fn unless_invalid<T>(
    file: &Arc<Path>,
    row: u64,
    row_limit: usize,
    decode: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, DataError> {
    let at = || Origin {
        file: Arc::clone(file),
        line: row.max(1),
    };
    Err(match panic::catch(false, decode) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(ParquetError::External(error))) if error.is::<TooManyValues>() => {
            DataError::TooManyValues {
                at: at(),
                limit: value_limit(row_limit),
            }
        }
        Ok(Err(error)) => invalid(file, row, &error),
        Err(panic) => DataError::InvalidParquet {
            at: at(),
            reason: panic.message,
        },
    })
}

pub(super) fn invalid(file: &Arc<Path>, row: u64, error: &ParquetError) -> DataError {
    let at = Origin {
        file: Arc::clone(file),
        line: row.max(1),
    };
    DataError::InvalidParquet {
        at,
        reason: error.to_string(),
    }
}
