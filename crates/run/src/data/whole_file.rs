//! A file that must not become shorter while it is read.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A reader of a file. The end of a file that has become shorter since it was opened is an error, since the rows that are
/// missing would otherwise look like rows that never existed.
pub(super) struct WholeFile {
    file: File,
    length: u64,
    read: u64,
}

impl WholeFile {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // The length of a pipe or device is 0.
        let length = file.metadata()?.len();
        Ok(Self {
            file,
            length,
            read: 0,
        })
    }
}

impl Read for WholeFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read += read as u64;
        if read == 0 && !buffer.is_empty() && self.read < self.length {
            let Self { length, read, .. } = self;
            return Err(io::Error::other(format!(
                "the file became shorter while it was read: expected {length} bytes, found {read}; \
                 run again when nothing writes the file"
            )));
        }
        Ok(read)
    }
}
