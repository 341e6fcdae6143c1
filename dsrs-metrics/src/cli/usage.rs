//! Errors of the arguments. Clap's messages have several lines; here each is one.

use std::process::ExitCode;

use clap::error::ErrorKind;

use super::INVALID;
use super::stdio::print_error;

/// Prints the help or version that was asked for, or an error, and returns the exit code.
pub(super) fn report(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp
        | ErrorKind::DisplayVersion
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            // A closed standard output or standard error is not an error here.
            let _ = error.print();
        }
        _ => print_error(one_line(&error.to_string())),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(INVALID))
}

/// Joins the lines of a message, without the usage and the pointer to `--help` at its end.
fn one_line(message: &str) -> String {
    let is_end =
        |line: &&str| line.starts_with("Usage:") || line.starts_with("For more information");
    let lines = message.lines().map(str::trim).take_while(|line| !is_end(line));
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
    use clap::Parser;

    use super::one_line;
    use crate::cli::args::Arguments;

    fn error(arguments: &[&str]) -> String {
        let arguments = [&["dsrs-metrics"], arguments].concat();
        one_line(&Arguments::try_parse_from(arguments).unwrap_err().to_string())
    }

    #[test]
    fn an_error_is_one_line_with_its_tip() {
        assert_eq!(
            error(&["score", "-", "-m", "em", "--fail-umder", "em=3"]),
            "error: unexpected argument '--fail-umder' found; a similar argument exists: '--fail-under'"
        );
        assert_eq!(
            error(&["score"]),
            "error: the following required arguments were not provided: --metric <NAME>, <DATA>..."
        );
        assert_eq!(
            error(&["score", "-", "-m", "em", "--format", "xml"]),
            "error: invalid value 'xml' for '--format <FORMAT>' [possible values: jsonl, json, csv]"
        );
        assert_eq!(
            error(&["scor"]),
            "error: unrecognized subcommand 'scor'; a similar subcommand exists: 'score'"
        );
    }

    #[test]
    fn the_example_of_a_parameter_is_valid() {
        let error = error(&["score", "-", "-m", "f1", "--param", "f1"]);
        let (_, example) = error.split_once("as in ").unwrap();
        let (metric, setting) = example.split_once('.').unwrap();
        let (key, value) = setting.split_once('=').unwrap();
        let mut params = crate::core::params::Params::default();
        params.insert(key, value);
        let registry = crate::cli::Registry::builtin();
        assert!(registry.get(metric).unwrap().configure(&params).is_ok(), "{example}");
    }
}
