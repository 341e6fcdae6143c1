//! The pictures of the README are of the current quickstart. `examples/pictures/make.sh` sets `DSRS_METRICS_RECORD`, with
//! which these tests write the pictures.
//!
//! The terminal is compared byte by byte. The screenshot depends on fonts and on the version of the browser, so the part of
//! the report that it shows is compared, by its hash.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;
use std::{env, fs};

use sha2::{Digest as _, Sha256};

use crate::{check_file, is_skipped};

const COMMAND: &str = "cargo run --example quickstart";
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/pictures");

/// The printed text and the report of a run of the quickstart.
static QUICKSTART: LazyLock<(String, String)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_quickstart"))
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let printed = String::from_utf8(ran.stdout).unwrap();
    let (_, report) = printed.trim_end().rsplit_once(": ").unwrap();
    let html = fs::read_to_string(folder.path().join(report)).unwrap();
    (printed, html)
});

/// Returns the part of a string from `start` up to `end`.
fn part<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    let start = text.find(start).unwrap();
    text[start..].split(end).next().unwrap()
}

fn is_recorded_anew() -> bool {
    env::var_os("DSRS_METRICS_RECORD").is_some_and(|it| it == "1")
}

/// Compares a file of the pictures with what it should contain, or writes it.
#[track_caller]
fn assert_current(name: &str, of: &str, expected: &str) {
    let path = Path::new(FOLDER).join(name);
    if is_recorded_anew() {
        fs::write(&path, expected).unwrap();
    }
    let is_current = fs::read_to_string(&path).is_ok_and(|found| found == expected);
    assert!(
        is_current,
        "the picture of {of} in the README does not show the current quickstart; run examples/pictures/make.sh, look at \
         the pictures, and commit them"
    );
}

/// A program's output as a picture of a terminal, with columns of the same width in each font.
fn terminal(command: &str, output: &str) -> String {
    const COLUMN: usize = 8;
    const LINE: usize = 19;
    const MARGIN: usize = 18;
    let prompt = format!("$ {command}");
    let lines: Vec<&str> = [&*prompt].into_iter().chain(output.lines()).collect();
    let columns = lines.iter().map(|line| line.len()).max().unwrap();
    let (width, height) = (
        2 * MARGIN + columns * COLUMN,
        2 * MARGIN + lines.len() * LINE,
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#0d1117\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace\" font-size=\"13\" \
         fill=\"#e6edf3\">\n"
    );
    for (i, line) in lines
        .into_iter()
        .enumerate()
        .filter(|(_, line)| !line.is_empty())
    {
        assert!(
            line.is_ascii(),
            "the width of a character other than ASCII is not known: {line}"
        );
        let text = line.trim_start();
        let x = MARGIN + (line.len() - text.len()) * COLUMN;
        let y = MARGIN + i * LINE + 14;
        let length = text.len() * COLUMN;
        let text = text
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        // Other spaces would be one space.
        let text = text.replace(' ', "\u{a0}");
        let color = if i == 0 { " fill=\"#7ee787\"" } else { "" };
        writeln!(
            svg,
            "<text x=\"{x}\" y=\"{y}\" textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\"{color}>{text}</text>"
        )
        .unwrap();
    }
    svg + "</g>\n</svg>\n"
}

#[test]
fn the_terminal_shows_what_the_quickstart_prints() {
    assert_current(
        "terminal.svg",
        "a terminal",
        &terminal(COMMAND, &QUICKSTART.0),
    );
}

#[test]
fn the_screenshot_shows_the_report_of_the_quickstart() {
    let path = Path::new(FOLDER).join("report.png");
    if is_skipped() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.html");
    fs::write(&file, &QUICKSTART.1).unwrap();
    check_file("picture", &file);
    // What the screenshot shows. The rest of the report has the time of the run.
    let style = part(&QUICKSTART.1, "<style>", "</style>");
    let scores = fs::read_to_string(file.with_extension("txt")).unwrap();
    if is_recorded_anew() {
        fs::copy(file.with_extension("png"), &path).unwrap();
    }
    let hash = Sha256::digest([style, &scores].concat());
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_current("report.sha256", "the report", &format!("{hash}\n"));
    let picture = fs::read(&path).unwrap();
    assert!(
        picture.starts_with(b"\x89PNG"),
        "{} is not a PNG",
        path.display()
    );
    assert!(
        picture.len() < 200_000,
        "{} has {} bytes",
        path.display(),
        picture.len()
    );
}
