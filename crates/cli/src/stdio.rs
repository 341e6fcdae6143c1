//! Standard output and standard error. A reader may close them early, as in `dsrs-metrics list | head -1`.
//!
//! Everything that the command line writes passes through here. No character that a terminal would interpret gets
//! through, except the line breaks of the command's own output.

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;

use crate::error::{CliError, Result, err};
use crate::messages::escape;
use crate::results::Annotation;

/// Writes lines to standard output. A closed pipe is not an error: its reader has what it needs.
pub(super) fn print(text: &str) -> Result<()> {
    let lines: Vec<_> = text.split('\n').map(escape::escaped).collect();
    print_generated(&lines.join("\n"))
}

/// Writes a value as one line of JSON to standard output.
pub(super) fn print_json(value: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string(value).map_err(unwritable)?;
    print_generated(&format!("{}\n", ascii_escaped(&json)))
}

/// Writes a value as indented JSON to standard output.
pub(super) fn print_indented_json(value: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string_pretty(value).map_err(unwritable)?;
    let lines: Vec<_> = json.split('\n').map(ascii_escaped).collect();
    print_generated(&format!("{}\n", lines.join("\n")))
}

/// Writes a script or a page that contains only the definitions of the arguments.
pub(super) fn print_generated(text: &str) -> Result<()> {
    write(text).map_err(unwritable)
}

pub(super) fn unwritable(error: impl fmt::Display) -> CliError {
    err!("cannot write to standard output: {error}")
}

/// Standard output, for writing an XML document.
#[derive(Default)]
pub(super) struct XmlOutput {
    text: Vec<u8>,
}

impl Write for XmlOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.extend_from_slice(bytes);
        if self.text.len() > 1 << 16 {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        // The rest of the last character may follow.
        let end = str::from_utf8(&self.text).map_or_else(|error| error.valid_up_to(), str::len);
        let rest = self.text.split_off(end);
        let text = std::mem::replace(&mut self.text, rest);
        write(&reference_escaped(&String::from_utf8_lossy(&text)))
    }
}

/// Writes one line to standard error. Line breaks become spaces, because messages contain errors of metrics and file
/// names.
pub(super) fn print_error(message: impl fmt::Display) {
    let line = message.to_string().replace(['\n', '\r'], " ");
    // If standard error is closed, nothing can be reported.
    let _ = writeln!(io::stderr(), "{}", escape::escaped(&line));
}

/// Writes a command's error to standard error as a GitHub Actions annotation.
pub(super) fn annotate(command: &str, message: &str) {
    let title = format!("dsrs-metrics {command}");
    print_error(Annotation {
        kind: "error",
        title: &title,
        at: None,
        message,
    });
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Escapes the characters that a terminal may obey as `\uXXXX`. In a line of JSON they occur only in strings, so the
/// value is the same.
fn ascii_escaped(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if escape::is_unsafe(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                escaped.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            escaped.push(character);
        }
    }
    escaped
}

/// Escapes the characters that a terminal may obey as character references, which leaves the XML content the same.
/// Names of elements and attributes have none of them.
fn reference_escaped(xml: &str) -> String {
    let mut escaped = String::with_capacity(xml.len());
    for character in xml.chars() {
        if character != '\n' && escape::is_unsafe(character) {
            escaped.push_str(&format!("&#x{:x};", u32::from(character)));
        } else {
            escaped.push(character);
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ascii_escaped, reference_escaped};

    #[test]
    fn xml_has_character_references_for_characters_that_a_terminal_obeys() {
        let xml = "<a b=\"\u{202e}\t\">\n\u{9b}é&amp;</a>\n";
        assert_eq!(
            reference_escaped(xml),
            "<a b=\"&#x202e;&#x9;\">\n&#x9b;é&amp;</a>\n"
        );
    }

    #[test]
    fn json_has_the_same_value_without_characters_that_a_terminal_obeys() {
        let value =
            json!({"a\u{9b}2J": "\u{1b}[31m\n\u{7f}\u{202e}\u{e0041} é \\ \" 👩\u{200d}💻"});
        let shown = ascii_escaped(&value.to_string());
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
        assert_eq!(
            shown,
            r#"{"a\u009b2J":"\u001b[31m\n\u007f\u202e\udb40\udc41 é \\ \" 👩‍💻"}"#
        );
    }
}
