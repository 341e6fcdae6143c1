//! Workflow commands of GitHub Actions, which show up as annotations. Runners also read them from standard error.

use std::fmt;

/// An annotation on a GitHub Actions run.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Annotation<'a> {
    /// The kind: `error`, `warning` or `notice`.
    pub kind: &'a str,
    /// The title of the annotation.
    pub title: &'a str,
    /// The path of a file, relative to the repository, and a line number in that file.
    pub at: Option<(&'a str, u32)>,
    /// The message. It can contain line breaks.
    pub message: &'a str,
}

/// One line: `::error file=src/lib.rs,line=7,title=eval capitals::f1 >= 0.8: failed`.
impl fmt::Display for Annotation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "::{} ", self.kind)?;
        if let Some((file, line)) = self.at {
            write!(f, "file={},line={line},", property(file))?;
        }
        write!(f, "title={}::{}", property(self.title), data(self.message))
    }
}

/// Escapes the message of a workflow command.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// Escapes a property of a workflow command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::Annotation;

    #[test]
    fn a_message_cannot_end_the_command_or_add_a_property() {
        let message = "50% of `a,b`::warning\r\n::stop-commands::x";
        let annotation = Annotation {
            kind: "error",
            title: "a:b,c\n%",
            at: None,
            message,
        };
        assert_eq!(
            annotation.to_string(),
            "::error title=a%3Ab%2Cc%0A%25::50%25 of `a,b`::warning%0D%0A::stop-commands::x"
        );
    }
}
