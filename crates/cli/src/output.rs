//! Writes standard output and standard error, the errors from commands and arguments (each on one line), and exit
//! codes. A reader may close the outputs early, as in `dsrs-metrics list | head -1`.
//!
//! Everything that the command line writes passes through here. No character that a terminal would interpret gets
//! through, except the line breaks of the command's own output.
//!
//! The file is long because everything that the program prints passes through it.

use std::fmt::{self, Display};
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use serde::Serialize;

use crate::messages::escape;
use crate::metrics::CreateError;
use crate::results::annotation;

/// Creates an error with a message formatted like `format!`.
macro_rules! err {
    ($($message:tt)*) => {
        $crate::output::CliError::new(format!($($message)*))
    };
}
pub(super) use err;

/// Writes lines to standard output. A closed pipe is not an error, because its reader has what it needs.
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
    print_generated(&format!("{}\n", ascii_escaped(&json)))
}

/// Prints a report as JSON or as text.
pub(super) fn print_report(
    is_json: bool,
    report: &impl Serialize,
    text: impl FnOnce() -> String,
) -> Result<ExitCode> {
    match is_json {
        true => print_json(report)?,
        false => print(&text())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a script or a page that contains only the definitions of the arguments.
pub(super) fn print_generated(text: &str) -> Result<()> {
    write(text).map_err(unwritable)
}

pub(super) fn unwritable(error: impl fmt::Display) -> CliError {
    err!("cannot write to standard output: {error}")
}

/// Standard output for an XML document.
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
        // The rest of the last character may come with the next write.
        let end = str::from_utf8(&self.text).map_or_else(|error| error.valid_up_to(), str::len);
        let rest = self.text.split_off(end);
        let text = std::mem::replace(&mut self.text, rest);
        write(&reference_escaped(&String::from_utf8_lossy(&text)))
    }
}

/// Writes one line to standard error. Line breaks become spaces, because messages can contain file names and errors
/// from metrics.
pub(super) fn print_error(message: impl fmt::Display) {
    let line = message.to_string().replace(['\n', '\r'], " ");
    // If standard error is closed, nothing can be reported.
    let _ = writeln!(io::stderr(), "{}", escape::escaped(&line));
}

/// Writes a command's error to standard error as a GitHub Actions annotation.
pub(super) fn annotate(command: &str, message: &str) {
    let title = format!("dsrs-metrics {command}");
    print_error(annotation("error", &title, None, message));
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Replaces the characters that a terminal might obey with `\uXXXX` escapes. In JSON, these characters occur only in
/// strings, so the value stays the same.
fn ascii_escaped(json: &str) -> String {
    replaced(json, |escaped, character| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            escaped.push_str(&format!("\\u{unit:04x}"));
        }
    })
}

/// Replaces the characters that a terminal might obey with character references, so the XML content stays the same.
/// Names of elements and attributes contain none of these characters.
fn reference_escaped(xml: &str) -> String {
    replaced(xml, |escaped, character| {
        escaped.push_str(&format!("&#x{:x};", u32::from(character)));
    })
}

/// Replaces each unsafe character, except line breaks.
fn replaced(text: &str, replace: impl Fn(&mut String, char)) -> String {
    let mut replaced = String::with_capacity(text.len());
    for character in text.chars() {
        match character != '\n' && escape::is_unsafe(character) {
            true => replace(&mut replaced, character),
            false => replaced.push(character),
        }
    }
    replaced
}

/// The exit code for invalid usage or input.
pub(super) const INVALID: u8 = 2;

/// Explains why a command failed, in a sentence written where the fault is found.
pub(super) struct CliError(String);

pub(super) type Result<T, E = CliError> = std::result::Result<T, E>;

impl CliError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for CliError {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

/// Converts a metric's error, and adds what to do on the command line.
pub(super) fn of_metric(error: CreateError) -> CliError {
    match error {
        CreateError::UnknownMetric {
            name,
            nearest: None,
        } => err!("unknown metric `{name}`; see `list` for all metrics"),
        CreateError::MissingFeature { name, feature } => err!(
            "metric `{name}` needs the `{feature}` feature, which is not enabled in this build; run `cargo install dsrs-metrics --features cli,{feature}`, or enable `{feature}` on your `dsrs-metrics` dependency"
        ),
        error => error.into(),
    }
}

/// Prints any errors among the results. Returns the exit code if there were any.
pub(super) fn fail_each(results: impl IntoIterator<Item = Result<()>>) -> Option<ExitCode> {
    let errors = results.into_iter().filter_map(Result::err);
    errors.fold(None, |_, error| Some(fail(&error)))
}

/// Prints an error, and returns the exit code for invalid usage or input.
pub(super) fn fail(error: &dyn Display) -> ExitCode {
    print_error(format_args!("error: {error}"));
    ExitCode::from(INVALID)
}

/// Prints the requested help or version, or an error, and returns the exit code.
pub(super) fn report(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // A closed standard output or standard error is not an error here.
            let _ = error.print();
        }
        _ => print_error(message(error)),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(INVALID))
}

/// Returns the error message on one line. If the user named no metric, the message ends by saying where to find the
/// names.
fn message(error: &clap::Error) -> String {
    let line = one_line(&error.to_string());
    match error.kind() {
        ErrorKind::MissingRequiredArgument if line.contains("--metric") => {
            format!("{line}; see `list` for all metrics")
        }
        _ => line,
    }
}

/// Joins the lines of a message, but leaves out the usage and the pointer to `--help` at its end.
fn one_line(message: &str) -> String {
    let is_end =
        |line: &&str| line.starts_with("Usage:") || line.starts_with("For more information");
    let lines = message.lines().map(str::trim);
    let lines = lines.take_while(|line| !is_end(line));
    let mut joined = String::new();
    for line in lines.filter(|line| !line.is_empty()) {
        let (separator, line) = match line.strip_prefix("tip: ") {
            Some(tip) => ("; ", tip),
            None if joined.is_empty() => ("", line),
            None if joined.ends_with(':') || line.starts_with('[') => (" ", line),
            None => (", ", line),
        };
        joined.push_str(separator);
        joined.push_str(line);
    }
    joined
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};
    use serde_json::{Value, json};

    use super::{ascii_escaped, message, of_metric, one_line, reference_escaped};
    use crate::Arguments;
    use crate::metrics::CreateError;

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

    fn error(arguments: &[&str]) -> String {
        let arguments = [&["dsrs-metrics"], arguments].concat();
        message(&Arguments::try_parse_from(arguments).unwrap_err())
    }

    #[test]
    fn an_error_is_one_line_with_its_tip() {
        assert_eq!(
            error(&["score", "-", "-m", "em", "--fail-umder", "em=3"]),
            "error: unexpected argument '--fail-umder' found; a similar argument exists: '--fail-under'"
        );
        assert_eq!(
            error(&["score"]),
            "error: the following required arguments were not provided: --metric <NAME>, <DATA>...; see `list` for all metrics"
        );
        assert_eq!(
            error(&["report", "a.jsonl"]),
            "error: the following required arguments were not provided: --out <FILE>"
        );
        assert_eq!(
            error(&["score", "-", "-m", "em", "--format", "xml"]),
            match cfg!(feature = "parquet") {
                true => {
                    "error: invalid value 'xml' for '--format <FORMAT>' [possible values: jsonl, json, csv, parquet, text]"
                }
                false => {
                    "error: invalid value 'xml' for '--format <FORMAT>' [possible values: jsonl, json, csv, text]"
                }
            }
        );
        assert_eq!(
            error(&["scor"]),
            "error: unrecognized subcommand 'scor'; some similar subcommands exist: 'compare', 'score'"
        );
    }

    #[test]
    fn the_example_of_a_parameter_is_valid() {
        let error = error(&["score", "-", "-m", "f1", "--param", "f1"]);
        let (_, example) = error.split_once("as in ").unwrap();
        let (metric, setting) = example.split_once('.').unwrap();
        let (key, value) = setting.split_once('=').unwrap();
        let mut params = crate::contract::metric::params::Params::default();
        params.insert(key, value);
        let registry = crate::Registry::builtin();
        assert!(registry.create(metric, &params).is_ok(), "{example}");
    }

    /// Returns the examples after `marker` in a message, up to the end of the clause.
    fn examples<'a>(message: &'a str, marker: &str) -> Vec<&'a str> {
        let Some((_, rest)) = message.split_once(marker) else {
            return Vec::new();
        };
        let end = rest
            .find([';', '\n'])
            .into_iter()
            .chain(rest.find(". "))
            .min();
        let clause = &rest[..end.unwrap_or(rest.len())];
        clause
            .split(" or ")
            .map(|example| example.trim().trim_matches('"'))
            .collect()
    }

    /// Returns the other arguments that a command needs if the given option is used.
    fn required(command: &str, option: &str) -> &'static [&'static str] {
        match command {
            "compare" if option == "--map" => {
                &["compare", "old.csv", "new.csv", "--score", "f1=score"]
            }
            "report" if option == "--map" => &[
                "report",
                "scores.csv",
                "--out",
                "report.html",
                "--score",
                "f1=score",
            ],
            "export" if option == "--map" => &[
                "export",
                "run.csv",
                "--to",
                "langfuse",
                "--out",
                "scores.jsonl",
                "--score",
                "f1=score",
            ],
            "export" if option == "--otlp" => &["export", "run.jsonl"],
            "export" => &[
                "export",
                "run.jsonl",
                "--to",
                "langfuse",
                "--out",
                "scores.jsonl",
            ],
            "score" if option == "--join" => {
                &["score", "pred.jsonl", "-m", "f1", "--gold", "gold.jsonl"]
            }
            "score" if option == "--alpha" => {
                &["score", "-", "-m", "f1", "--stop-when", "f1 >= 0.8"]
            }
            "score" => &["score", "-", "-m", "f1", "--out", "scores.jsonl"],
            "rejudge" if option == "--map" => &[
                "rejudge",
                "run.jsonl",
                "--label",
                "label",
                "--labels",
                "labels.csv",
            ],
            "rejudge" => &["rejudge", "run.jsonl"],
            "agree" if option == "--map" => &[
                "agree",
                "scores.jsonl",
                "--label",
                "label",
                "--labels",
                "labels.csv",
            ],
            "agree" => &["agree", "scores.jsonl", "--label", "label"],
            "compare" => &["compare", "old.jsonl", "new.jsonl"],
            "report" => &["report", "scores.jsonl", "--out", "report.html"],
            "plan" => &["plan", "f1 >= 0.8", "--rows", "100"],
            _ => &["list"],
        }
    }

    #[test]
    fn every_example_in_help_and_errors_of_options_is_valid() {
        let mut tried = Vec::new();
        for command in Arguments::command().get_subcommands() {
            for argument in command.get_arguments() {
                let Some(long) = argument
                    .get_long()
                    .filter(|_| argument.get_action().takes_values())
                else {
                    continue;
                };
                let option = format!("--{long}");
                let start = required(command.get_name(), &option);
                let help = argument.get_long_help().or_else(|| argument.get_help());
                let help = help
                    .map(ToString::to_string)
                    .unwrap_or_default()
                    .replace('\n', " ");
                let parsed = |value: &str| {
                    let arguments = [&["dsrs-metrics"], start, &[&*option, value]].concat();
                    Arguments::try_parse_from(arguments)
                };
                let rejection = parsed("?").err().map(|error| one_line(&error.to_string()));
                let of_error = rejection.iter().flat_map(|error| examples(error, "as in "));
                for example in examples(&help, "e.g. ").into_iter().chain(of_error) {
                    let error = parsed(example).err().map(|error| error.to_string());
                    assert_eq!(error, None, "{option} {example}");
                    tried.push(format!("{option} {example}"));
                }
            }
        }
        for example in [
            "--map pred.answer=choices.0.text",
            "--map gold.answer=answers",
            "--timeout 2min",
            "--budget 5000 msat",
            "--lm openai:gpt-6-luna",
            "--param f1.profile=folded",
            "--fail-under f1=0.8",
        ] {
            assert!(
                tried.iter().any(|tried| tried == example),
                "{example} is not in {tried:?}"
            );
        }
    }

    #[test]
    fn an_error_of_the_registry_states_what_to_do_on_the_command_line() {
        let feature = CreateError::MissingFeature {
            name: "sandbox".to_owned(),
            feature: "sandbox",
        };
        assert_eq!(
            of_metric(feature).to_string(),
            "metric `sandbox` needs the `sandbox` feature, which is not enabled in this build; run `cargo install \
             dsrs-metrics --features cli,sandbox`, or enable `sandbox` on your `dsrs-metrics` dependency"
        );
        let unknown = CreateError::UnknownMetric {
            name: "zzz".to_owned(),
            nearest: None,
        };
        assert_eq!(
            of_metric(unknown).to_string(),
            "unknown metric `zzz`; see `list` for all metrics"
        );
    }
}
