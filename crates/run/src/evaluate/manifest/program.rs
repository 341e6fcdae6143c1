//! The hash of the running program.

use std::fs::File;
use std::io::{self, BufReader};
use std::sync::{Once, OnceLock};

use super::file::Hashing;

/// The hash of this process's program, once the first run that writes files has computed it.
static PROGRAM: OnceLock<Option<String>> = OnceLock::new();

/// The maximum size of a program that is hashed, in bytes.
const MAX_LENGTH: u64 = 1 << 30;

/// Without optimizations, hashing 100 MB takes two seconds, which is too long to wait.
const IS_FAST: bool = !cfg!(debug_assertions);

/// Starts a thread that hashes the program while the run evaluates rows.
pub(super) fn start() {
    static START: Once = Once::new();
    if IS_FAST {
        START.call_once(|| {
            let thread = std::thread::Builder::new().name("dsrs-program".to_owned());
            // Without a thread, the program is hashed at the end of the run.
            let _ = thread.spawn(hash);
        });
    }
}

/// Returns the XXH3 hash of this process's executable, as 128 bits in hexadecimal. `None` if it cannot be read, is too
/// large, or is built without optimizations.
pub(crate) fn hash() -> Option<String> {
    if IS_FAST {
        PROGRAM.get_or_init(hashed).clone()
    } else {
        None
    }
}

/// Returns the hash of the executable, even if that takes seconds.
pub(crate) fn executable() -> Option<String> {
    PROGRAM.get_or_init(hashed).clone()
}

fn hashed() -> Option<String> {
    let file = File::open(std::env::current_exe().ok()?).ok()?;
    if file.metadata().ok()?.len() > MAX_LENGTH {
        return None;
    }
    let mut hashing = Hashing::new(io::sink());
    io::copy(&mut BufReader::with_capacity(1 << 16, file), &mut hashing).ok()?;
    Some(hashing.described().xxh3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_hashed_as_a_file_is() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let expected = twox_hash::XxHash3_128::oneshot(&program);
        assert_eq!(hashed().unwrap(), format!("{expected:032x}"));
    }
}
