//! `score --from FORMAT FILE` without metrics: the scores that the other program wrote, over all rows of the file.

use std::process::ExitCode;

use dsrs_metrics_formats::Epochs;

use crate::args::ScoreArguments;
use crate::error::{Result, err};
use crate::from::InputFile;
use crate::results::Comparison;
use crate::stdio::print;

/// Prints the scores of each file, with denominators and intervals.
pub(super) fn run(args: &ScoreArguments) -> Result<ExitCode> {
    check(args)?;
    let files = InputFile::open_all(args.from, Epochs::Repeats, &args.data, args.options.quiet)?;
    for (file, name) in files.iter().zip(&args.data) {
        let mut comparison = Comparison::builder();
        if let Some(group) = &args.group {
            comparison = comparison.group(group);
        }
        let run = comparison.read_named(file.named())?;
        args.from.check_has_scores(name, run.metrics().len())?;
        if files.len() > 1 {
            print(&format!("{}\n", name.display()))?;
        }
        let width = run.metrics().map(|name| name.chars().count()).max();
        for metric in run.metrics() {
            let width = width.unwrap_or(0);
            print(&format!("{metric:width$}  {}\n", run.figures(metric)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks that no option is set that only a run of metrics has.
fn check(args: &ScoreArguments) -> Result<()> {
    let set = [
        ("--out", args.out.is_some()),
        ("--junit", args.junit.is_some()),
        ("--markdown", args.markdown.is_some()),
        ("--summary", args.summary.is_some()),
        ("--json", args.json),
        ("--param", !args.params.is_empty()),
        ("--map", !args.mappings.is_empty()),
        ("--fail-under", !args.fail_under.is_empty()),
        ("--repeats", args.repeats.is_some()),
        ("--bootstrap", args.bootstrap.is_some()),
    ];
    match set.iter().find(|(_, is_set)| *is_set) {
        Some((option, _)) => Err(err!(
            "{option} requires a run with metrics; add -m NAME, or remove the option to print the scores in the file"
        )),
        None => Ok(()),
    }
}
