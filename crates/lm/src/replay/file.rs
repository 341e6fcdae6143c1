//! The file of recorded calls: a header, then one call per line.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use dsrs_metrics_values::named_files::{WriteLock, open_regular};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::record::Key;
use crate::{LanguageModel, LmError, LmErrorKind, LmReply, LmRequest};

/// The version of the format. Increment it with every change, except for a new optional field.
const VERSION: u64 = 1;

#[derive(Deserialize)]
struct Header {
    replay: u64,
}

const ABOUT: &str =
    "replies of language models that tests replay; written by DSRS_UPDATE=new cargo test";

/// A line in the file. It has no address, because a local server may use a different port in each run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Call {
    model: String,
    request: LmRequest,
    pub(super) reply: LmReply,
}

/// Returns the key for an effective request.
pub(super) fn key_of(model: &str, request: &LmRequest) -> Key {
    Key::of(model, None, request)
}

impl Call {
    pub(super) fn new(lm: &dyn LanguageModel, request: &LmRequest, reply: &LmReply) -> Self {
        // A call always writes the same line, whether or not it came from the store.
        let reply = LmReply {
            cached: false,
            ..reply.clone()
        };
        Self {
            model: lm.id().to_owned(),
            request: request.clone(),
            reply,
        }
    }
}

/// Returns an error about the file.
pub(super) fn failed(message: String) -> LmError {
    LmErrorKind::Other(message).into()
}

/// Reads the calls in line order. Returns `None` if the file does not exist. If `needs_lines` is `false`, a file with a
/// damaged line counts as having no calls.
pub(super) fn read(path: &Path, needs_lines: bool) -> Result<Option<Vec<(Key, Call)>>, LmError> {
    let shown = path.display();
    let mut bytes = Vec::new();
    match open_regular(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let message = format!("cannot read the recorded calls {shown}: {error}");
            return Err(failed(message));
        }
    };
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let header = lines.next();
    let header = header.and_then(|line| serde_json::from_slice(line).ok());
    let Some(Header { replay: found }) = header else {
        return Err(failed(format!(
            "{shown}: expected recorded calls, starting with the line {{\"replay\":1}}; use another file, or remove this one"
        )));
    };
    if found != VERSION {
        return Err(failed(format!(
            "{shown}: expected recorded calls of version {VERSION}, found version {found}; use the version of dsrs-metrics that recorded them, or remove the file and record them again: DSRS_UPDATE=new cargo test"
        )));
    }
    // The header is line 1.
    let lines = (2..).zip(lines);
    let lines = lines.filter(|(_, bytes)| !bytes.trim_ascii().is_empty());
    let mut keys = HashSet::new();
    let call = |(line, bytes): (usize, &[u8])| {
        let call = serde_json::from_slice(bytes).map_err(|error| reason_of(&error));
        let call = call.and_then(|call: Call| {
            let key = key_of(&call.model, &call.request);
            match keys.insert(key.hash) {
                true => Ok((key, call)),
                false => Err("a duplicate of an earlier call".to_owned()),
            }
        });
        call.map_err(|reason| {
            failed(format!(
                "{shown}:{line}: expected a recorded call, found {reason}; restore the line, or record all calls again: DSRS_UPDATE=always cargo test"
            ))
        })
    };
    match lines.map(call).collect() {
        Err(_) if !needs_lines => Ok(None),
        calls => calls.map(Some),
    }
}

/// Returns the message without its line number, which is relative to this one line.
fn reason_of(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&position).unwrap_or(&message);
    format!("{message} at column {}", error.column())
}

fn not_written(path: &Path, error: &io::Error) -> LmError {
    let advice = match error.kind() {
        io::ErrorKind::ResourceBusy => "",
        _ => "; check the folder and its permissions",
    };
    let path = path.display();
    failed(format!(
        "cannot write the recorded calls {path}: {error}{advice}"
    ))
}

/// Locks the file until the calls are written.
pub(super) fn lock(path: &Path) -> Result<WriteLock, LmError> {
    // A symbolic link and its target share one lock.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = real.parent().map_or(Ok(()), fs::create_dir_all);
    let locked = folder.and_then(|()| WriteLock::of(&real));
    locked.map_err(|error| not_written(path, &error))
}

/// Writes the calls, unless the file has them already.
pub(super) fn write<'c>(path: &Path, calls: impl Iterator<Item = &'c Call>) -> Result<(), LmError> {
    let written = encode(calls).and_then(|bytes| {
        if fs::read(path).is_ok_and(|old| old == bytes) {
            return Ok(());
        }
        replace(path, &bytes)
    });
    written.map_err(|error| not_written(path, &error))
}

fn encode<'c>(calls: impl Iterator<Item = &'c Call>) -> io::Result<Vec<u8>> {
    let header = json!({ "replay": VERSION, "about": ABOUT });
    let mut bytes = format!("{header}\n").into_bytes();
    for call in calls {
        serde_json::to_writer(&mut bytes, call)?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// Replaces the file with a rename, so a crash leaves the earlier one intact. The file is locked, so no other writer
/// uses the temporary one.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // A symbolic link stays a link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let temporary = path.with_file_name(format!(".{}.tmp", name.to_string_lossy()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = File::create(&temporary)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    let renamed = written.and_then(|()| fs::rename(&temporary, &path));
    if renamed.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    renamed
}
