//! Hexadecimal hashes, which a run uses to compare contents with those of an earlier run.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// Returns the first 16 bytes of the SHA-256 hash of `bytes`, in hexadecimal.
pub fn of_bytes(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes)[..16])
}

/// Reads everything from `from` and returns the start of its SHA-256 hash.
///
/// The first 16 bytes of the hash are returned in hexadecimal.
pub fn of_reader(mut from: impl Read) -> io::Result<String> {
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(hexadecimal(&hash.finalize()[..16])),
            Ok(read) => hash.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns the SHA-256 hash of `bytes`, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Returns bytes in hexadecimal, with two lower-case digits for each byte.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
