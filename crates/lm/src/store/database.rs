//! The database of a store: how it is opened, its tables and its errors.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::ffi::{self, SQLITE_ERROR};
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::super::{LmError, LmErrorKind};

/// `dsrs` in ASCII. SQLite uses this number to identify the program that owns a database.
const APPLICATION_ID: i32 = 0x6473_7273;

/// The version of the tables. Increment it with every change.
const VERSION: i32 = 1;

/// How long a write waits for writes by other processes.
const PATIENCE: Duration = Duration::from_secs(60);

const TABLES: &str = "
    CREATE TABLE records (
        -- Grows with every write, also of a record that is replaced.
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        -- SHA-256 of `about`.
        key BLOB NOT NULL UNIQUE,
        -- `reply`, `output`, `evaluation`, or `run` for a run that has not ended.
        kind TEXT NOT NULL,
        -- Everything that the result depends on, as JSON.
        about TEXT NOT NULL,
        -- As JSON.
        result TEXT NOT NULL,
        -- The first eight bytes of the SHA-256 hash of `key` and `result`.
        checksum BLOB NOT NULL,
        -- What the result cost when it was paid for, in millisatoshis; NULL if that is unknown.
        cost_msats INTEGER,
        -- In seconds since 1970.
        stored_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX records_by_time ON records (stored_at);
    -- Calls under a budget. `spent_msats` is NULL until a call has ended, and counts as `reserved_msats`.
    CREATE TABLE spending (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        budget TEXT NOT NULL,
        reserved_msats INTEGER NOT NULL,
        spent_msats INTEGER,
        -- The process of a call that has not ended.
        process TEXT
    ) STRICT;
    CREATE INDEX spending_by_budget ON spending (budget);
";

/// Opens the database, creating it if it does not exist.
pub(super) fn open(path: &Path) -> Result<Connection, LmError> {
    create_private(path).map_err(|error| not_usable(path, error))?;
    connect(path)
}

/// Opens an existing database.
pub(super) fn connect(path: &Path) -> Result<Connection, LmError> {
    if let Some(kind) = network_file_system(path) {
        let reason = format!(
            "it is on a network file system ({kind}), where several processes cannot use it safely; {OTHER}"
        );
        return Err(store_error(path, reason));
    }
    connected(path).map_err(|error| error_of(path, error))
}

fn connected(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    // Checked before anything is changed.
    let check = |connection: &Connection| -> rusqlite::Result<bool> {
        let number = |query| connection.query_row(query, (), |row| row.get::<_, i32>(0));
        let owner = number("PRAGMA application_id")?;
        let version = number("PRAGMA user_version")?;
        let tables = number("SELECT count(*) FROM sqlite_schema")?;
        let reason = match (owner, version) {
            (0, 0) if tables == 0 => return Ok(true),
            (APPLICATION_ID, VERSION) => return Ok(false),
            (APPLICATION_ID, newer) if newer > VERSION => format!(
                "it has version {newer}, but this version of dsrs-metrics reads version {VERSION}; update dsrs-metrics, or {OTHER}"
            ),
            _ => format!("it is another program's database; {OTHER}"),
        };
        Err(failure(SQLITE_ERROR, reason))
    };
    // Runs in one transaction, so that the three facts are from the same moment.
    let is_new = check(&*connection.transaction()?)?;
    // Readers do not wait for writers, and a process that dies leaves no lock.
    connection.pragma_update(None, "journal_mode", "wal")?;
    // The store's own thread syncs; see `LogSync`.
    connection.pragma_update(None, "synchronous", "normal")?;
    if is_new {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have created the tables in the meantime.
        if check(&transaction)? {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", VERSION)?;
        }
        transaction.commit()?;
    }
    Ok(connection)
}

const OTHER: &str =
    "choose another folder (--store, DSRS_STORE), or disable the store (--no-store)";

/// Creates the file for this user alone, because it contains prompts, which quote rows. SQLite gives its other files
/// the same mode.
fn create_private(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
        let file = options.mode(0o600).open(path)?;
        let mode = file.metadata()?.permissions().mode();
        if mode & 0o077 != 0 {
            // This fails for another user's file, whose mode is not ours to change.
            let _ = file.set_permissions(std::fs::Permissions::from_mode(mode & !0o077));
        }
        Ok(())
    }
    #[cfg(not(unix))]
    options.open(path).map(drop)
}

/// Returns the kind of a network file system, whose locks and shared memory do not reach all its users.
#[cfg(target_os = "linux")]
fn network_file_system(path: &Path) -> Option<&'static str> {
    let found = rustix::fs::statfs(path).ok()?;
    // The numbers come from `statfs(2)`. The cast is needed because some are negative where the type is signed.
    match found.f_type as u32 {
        0x6969 => Some("NFS"),
        0x517b | 0xfe53_4d42 | 0xff53_4d42 => Some("SMB"),
        0x0102_1997 => Some("9P"),
        0x5346_414f | 0x6b41_4653 => Some("AFS"),
        _ => None,
    }
}

#[cfg(not(target_os = "linux"))]
fn network_file_system(_: &Path) -> Option<&'static str> {
    None
}

/// Creates an error for the database or folder at `path`.
pub(super) fn store_error(path: &Path, reason: impl Into<String>) -> LmError {
    LmErrorKind::Store(format!("{}: {}", path.display(), reason.into())).into()
}

/// Creates the error for a file or folder that cannot be created or opened.
pub(super) fn not_usable(path: &Path, error: io::Error) -> LmError {
    store_error(path, format!("{error}; {OTHER}")).with_source(error)
}

/// Returns an error with our own message.
pub(super) fn failure(code: i32, message: String) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some(message))
}

/// Returns an error that says what an SQLite error means and what to do about it.
pub(super) fn error_of(path: &Path, error: rusqlite::Error) -> LmError {
    let reason = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            format!("it is not a database; move the file away, or {OTHER}")
        }
        Some(ErrorCode::DatabaseCorrupt) => format!(
            "the database is damaged ({error}); save what can be read with `sqlite3 FILE .recover`, or move the file away to begin a new store"
        ),
        Some(ErrorCode::DiskFull) => {
            "the disk is full; free space, and run the same command again".to_owned()
        }
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            format!("it cannot be written ({error}); {OTHER}")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            let seconds = PATIENCE.as_secs();
            format!(
                "another process has been writing to it for {seconds} seconds; wait until that process ends, or {OTHER}"
            )
        }
        _ => error.to_string(),
    };
    store_error(path, reason).with_source(error)
}
