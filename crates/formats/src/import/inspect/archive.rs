//! Finds the members of a ZIP archive entry by entry, because they are untrusted and too many to list.

use rawzip::{Error, ErrorKind, FileReader, RECOMMENDED_BUFFER_SIZE, ZipArchive};

use super::header::Header;
use super::member::{Entry, Member, Members, Samples};
use super::{EXPECTED, Log};
use crate::error::{FormatError, Input};
use crate::messages::escape;

/// The folder of samples.
const SAMPLES: &str = "samples/";

/// Finds the samples and the header of an archive.
pub(super) fn open<'a>(
    members: &mut Members<'_>,
    archive: &'a ZipArchive<FileReader>,
) -> Result<Log<'a>, FormatError> {
    let input = members.input;
    let damaged = |error| damaged(input, &error);
    let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
    let mut samples = Samples::new();
    let (mut header, mut journal) = (None, None);
    let (mut found, mut unread) = (0, None);
    let mut entries = archive.entries(&mut buffer);
    while let Some(entry) = entries.next_entry().map_err(damaged)? {
        found += 1;
        let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
        let (offset, compressed) = (entry.local_header_offset(), entry.compressed_size_hint());
        if offset
            .checked_add(compressed)
            .is_none_or(|end| end > archive.directory_offset())
        {
            return Err(input.whole(format_args!(
                "{}: at byte {offset} with {compressed} bytes, but the members of the archive end at byte {}; copy the file again",
                member_name(&name),
                archive.directory_offset()
            )));
        }
        let member = Member::Entry(Entry {
            archive,
            place: entry.wayfinder(),
            compression: entry.compression_method(),
            is_encrypted: entry.flags().is_encrypted(),
        });
        match &*name {
            "header.json" => header = Some((name, member)),
            "_journal/start.json" => journal = Some((name, member)),
            _ => {
                let Some(sample) = name.strip_prefix(SAMPLES) else {
                    continue;
                };
                if sample.contains("_epoch_") && sample.ends_with("/sample.json") {
                    let reason = "chunked samples are not supported; write the log without chunks, as inspect_ai does by default";
                    return Err(input.invalid(member_name(&name), reason));
                }
                let Some((id, epoch)) = sample
                    .strip_suffix(".json")
                    .and_then(|sample| sample.rsplit_once("_epoch_"))
                    .and_then(|(id, epoch)| Some((id, epoch.parse().ok()?)))
                else {
                    if !sample.is_empty() {
                        unread.get_or_insert(name);
                    }
                    continue;
                };
                let epochs = samples.entry(id.to_owned()).or_default();
                epochs.insert(epoch, member);
            }
        }
    }
    if found != archive.entries_hint() {
        return Err(input.whole(format_args!(
            "the archive's directory has {found} members, but its end record says {}; copy the file again",
            archive.entries_hint()
        )));
    }
    // A log that is still being written has only the journal.
    let Some((name, member)) = header.or(journal) else {
        return Err(match samples.is_empty() {
            true => input.whole(format_args!(
                "expected {EXPECTED}, found a ZIP archive without `header.json`"
            )),
            false => input.whole("expected an inspect_ai log, found no member `header.json`"),
        });
    };
    let place = member_name(&name);
    let header = members
        .fields(member, &Header::FIELDS, &place)
        .and_then(|text| Header::parse(&text).map_err(|reason| input.invalid(&place, reason)))?;
    Ok(Log {
        header,
        samples,
        unread,
    })
}

/// Returns what messages call a member.
fn member_name(name: &str) -> String {
    format!("member `{}`", escape::name(name))
}

/// Returns the error for an unreadable directory.
pub(super) fn damaged(input: Input<'_>, error: &Error) -> FormatError {
    match error.kind() {
        ErrorKind::MissingEndOfCentralDirectory | ErrorKind::Eof => input.whole(
            "the archive is cut off: the end of its directory is missing; copy the file again",
        ),
        kind => input.whole(format_args!(
            "the archive's directory is damaged: {kind}; copy the file again"
        )),
    }
}
