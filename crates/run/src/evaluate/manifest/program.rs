//! The hash of the program that runs.

use std::fs::File;
use std::io::{self, BufReader};
use std::sync::OnceLock;

use super::file::Hashing;

/// The hash of the program of this process, once the first run that writes files has computed it.
static PROGRAM: OnceLock<Option<String>> = OnceLock::new();

/// The largest program that is hashed, in bytes.
const MAX_LENGTH: u64 = 1 << 30;

/// Starts to hash the program, in a thread, while the run evaluates rows.
pub(super) fn start() {
    if PROGRAM.get().is_none() {
        let thread = std::thread::Builder::new().name("dsrs-program".to_owned());
        // Without a thread, the end of the run hashes it.
        let _ = thread.spawn(hash);
    }
}

/// Returns the XXH3 hash of the executable of this process, 128 bits in hexadecimal digits. `None` if it cannot be read or is
/// too large.
pub(crate) fn hash() -> Option<String> {
    PROGRAM.get_or_init(|| hashed().ok().flatten()).clone()
}

fn hashed() -> io::Result<Option<String>> {
    let file = File::open(std::env::current_exe()?)?;
    if file.metadata()?.len() > MAX_LENGTH {
        return Ok(None);
    }
    let mut hashing = Hashing::new(io::sink());
    io::copy(&mut BufReader::with_capacity(1 << 16, file), &mut hashing)?;
    Ok(Some(hashing.described().xxh3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_hashed_as_a_file_is() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let expected = twox_hash::XxHash3_128::oneshot(&program);
        start();
        assert_eq!(hash().unwrap(), format!("{expected:032x}"));
    }
}
