//! The file of recorded calls: a header, then one call per line.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use dsrs_metrics_values::named_files::{WriteLock, open_regular};
use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::ReplayError;
use crate::record::Key;
use crate::{LanguageModel, LmReply, LmRequest};

/// The version of the format. Increment it with every change, except for a new optional field.
const VERSION: u64 = 1;

#[derive(Serialize, Deserialize)]
struct Header {
    replay: u64,
    #[serde(default)]
    about: String,
}

const ABOUT: &str =
    "replies of language models that tests replay; written by DSRS_UPDATE=new cargo test";

/// A line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Call {
    model: String,
    /// Absent for the provider's default and for local addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    endpoint: Option<String>,
    request: LmRequest,
    pub(super) reply: LmReply,
}

/// The calls in the order of the lines.
pub(super) type Calls = BTreeMap<Key, Call>;

/// Returns the key of an effective request. It excludes the endpoint because a local server may have another port in
/// each run.
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
        let endpoint = lm.endpoint().filter(|endpoint| !is_local(endpoint));
        Self {
            model: lm.id().to_owned(),
            endpoint: endpoint.map(str::to_owned),
            request: request.clone(),
            reply,
        }
    }
}

fn is_local(endpoint: &str) -> bool {
    let Ok(url) = Url::parse(endpoint) else {
        return false;
    };
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Reads the calls; `None` if the file does not exist.
pub(super) fn read(path: &Path) -> Result<Option<Calls>, ReplayError> {
    let shown = path.display();
    let mut bytes = Vec::new();
    match open_regular(path).and_then(|mut file| file.read_to_end(&mut bytes)) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => {
            let message = format!("cannot read the recorded calls {shown}: {error}");
            return Err(ReplayError::new(message));
        }
    };
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let header = lines.next();
    let header = header.and_then(|line| serde_json::from_slice(line).ok());
    let Some(Header { replay: found, .. }) = header else {
        return Err(ReplayError::new(format!(
            "{shown}: expected recorded calls, starting with the line {{\"replay\":1}}; use another file, or remove this one"
        )));
    };
    if found != VERSION {
        return Err(ReplayError::new(format!(
            "{shown}: expected recorded calls of version {VERSION}, found version {found}; use the version of dsrs-metrics that recorded them, or remove the file and record them again: DSRS_UPDATE=new cargo test"
        )));
    }
    let mut calls = Calls::new();
    // The header is line 1.
    let lines = (2..).zip(lines);
    for (line, bytes) in lines.filter(|(_, bytes)| !bytes.trim_ascii().is_empty()) {
        let damaged = |reason: String| ReplayError {
            is_of_line: true,
            ..ReplayError::new(format!(
                "{shown}:{line}: expected a recorded call, found {reason}; restore the line, or record all calls again: DSRS_UPDATE=always cargo test"
            ))
        };
        let call: Call =
            serde_json::from_slice(bytes).map_err(|error| damaged(reason_of(&error)))?;
        let key = key_of(&call.model, &call.request);
        if calls.insert(key, call).is_some() {
            return Err(damaged("a duplicate of an earlier call".to_owned()));
        }
    }
    Ok(Some(calls))
}

/// Returns the message without its line number, which is relative to this one line.
fn reason_of(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&position).unwrap_or(&message);
    format!("{message} at column {}", error.column())
}

/// Locks the file until the calls are written.
pub(super) fn lock(path: &Path) -> Result<WriteLock, ReplayError> {
    // A symbolic link and its target share one lock.
    let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = real.parent().map_or(Ok(()), fs::create_dir_all);
    let locked = folder.and_then(|()| WriteLock::of(&real));
    locked.map_err(|error| ReplayError::of_writing(path, &error))
}

/// Writes the calls, unless the file has them already.
pub(super) fn write(path: &Path, calls: &BTreeMap<&Key, &Call>) -> Result<(), ReplayError> {
    let written = encode(calls).and_then(|bytes| {
        if fs::read(path).is_ok_and(|old| old == bytes) {
            return Ok(());
        }
        replace(path, &bytes)
    });
    written.map_err(|error| ReplayError::of_writing(path, &error))
}

fn encode(calls: &BTreeMap<&Key, &Call>) -> io::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(&Header {
        replay: VERSION,
        about: ABOUT.to_owned(),
    })?;
    bytes.push(b'\n');
    for call in calls.values() {
        serde_json::to_writer(&mut bytes, call)?;
        bytes.push(b'\n');
    }
    Ok(bytes)
}

/// Replaces the file with a rename, so a crash leaves the earlier one intact.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    // A symbolic link stays a link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let name = name.to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}-{number}.tmp", std::process::id()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let renamed = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, &path)
    });
    if renamed.is_err() {
        // This fails if the file was not created.
        let _ = fs::remove_file(&temporary);
    }
    renamed
}
