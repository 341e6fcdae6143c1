//! The samples of a JSON log, which are located in a first pass.

use std::io::{BufReader, Read};

use serde::Deserialize;

use super::fields::Fields;
use super::header::Header;
use super::log::{EXPECTED, Log};
use super::member::{Member, Members};
use super::sample::id_of;
use crate::import::detect::other_format;
use crate::import::error::ImportError;
use crate::import::places::Places;
use crate::import::text::parse;

/// Finds the samples and the header of a JSON log.
pub(super) fn open(members: &mut Members<'_>, content: impl Read) -> Result<Log, ImportError> {
    let input = members.input();
    let mut fields = Fields::new(&Header::FIELDS).with_list("samples");
    let mut elements = Vec::new();
    let mut reader = BufReader::with_capacity(1 << 16, content);
    let mut block = vec![0; 1 << 16];
    loop {
        let read = reader
            .read(&mut block)
            .map_err(|error| input.unreadable(error))?;
        if read == 0 {
            break;
        }
        if let Err(reason) = fields.feed(&block[..read]) {
            return Err(other_format(input, EXPECTED, input.whole(reason)));
        }
        elements.append(&mut fields.take_elements());
    }
    let header = fields.finish().map_err(|reason| {
        let reason = format!("{reason}; the log is cut off, or is not a log of inspect_ai");
        input.whole(reason)
    })?;
    let header = Header::parse(&header)
        .map_err(|reason| other_format(input, EXPECTED, input.whole(reason)))?;
    let mut samples = Places::new();
    for (number, [offset, length]) in elements.into_iter().enumerate() {
        #[derive(Deserialize)]
        struct Key {
            id: serde_json::Value,
            epoch: u32,
        }
        let place = format!("sample {}", number + 1);
        let member = Member::Range { offset, length };
        let text = members.fields(member, &["id", "epoch"], &place)?;
        let key: Key = parse(&text).map_err(|reason| input.invalid(&place, reason))?;
        let id = id_of(&key.id).map_err(|reason| input.invalid(&place, reason))?;
        samples.push(&id, key.epoch, member);
    }
    Ok(Log {
        header,
        samples,
        unread: None,
    })
}
