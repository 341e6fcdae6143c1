//! What the targets have in common: how an input is split, and the laws of messages.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::LazyLock;

use tokio::runtime::{Builder, Runtime};

/// Returns the first byte, which selects what is tested, and the rest as a string.
pub fn choice_and_text(data: &[u8]) -> Option<(u8, &str)> {
    let (choice, rest) = data.split_first()?;
    Some((*choice, std::str::from_utf8(rest).ok()?))
}

/// Separates the parts of an input: a line with this character only.
pub const SEPARATOR: &str = "\n~\n";

/// Returns the two parts of a string; the second is empty without a separator.
pub fn parts(text: &str) -> (&str, &str) {
    text.split_once(SEPARATOR).unwrap_or((text, ""))
}

/// Asserts that a message is one line that a terminal shows as it is.
pub fn assert_one_line(message: &impl Display) {
    let message = message.to_string();
    let control = message.chars().find(|character| character.is_control());
    assert_eq!(
        control, None,
        "control character in the message {message:?}"
    );
    assert!(
        message.len() < 1 << 16,
        "a message of {} bytes",
        message.len()
    );
}

/// Asserts that a table or list for a terminal has no control characters but line breaks.
pub fn assert_lines(shown: &impl Display) {
    let shown = shown.to_string();
    let control = shown
        .chars()
        .find(|character| character.is_control() && *character != '\n');
    assert_eq!(control, None, "control character in {shown:?}");
}

/// Asserts that a number is finite and within the range.
#[track_caller]
pub fn assert_within(value: f64, range: std::ops::RangeInclusive<f64>) {
    assert!(range.contains(&value), "{value} is not in {range:?}");
}

/// Returns a path of this process, for code that reads files only. `run.sh` removes the folder.
pub fn temporary_file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("dsrs-metrics-fuzz-{}-{name}", std::process::id()))
}

/// Runs a future to its end.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
        Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime")
    });
    RUNTIME.block_on(future)
}
