//! `list`: what is known of the metrics before they run.

use std::fmt::Write;
use std::process::ExitCode;

use terminal_size::{Width, terminal_size};
use textwrap::Options;

use super::args::ListArguments;
use super::error::CliError;
use super::nearest::nearest;
use super::output::print;
use super::registry::{Entry, Registry};
use crate::spec::{Direction, MetricSpec, MetricTier, ScoreKind};

/// Where nothing says how wide the reader's screen is.
const WIDTH: usize = 100;

pub(super) fn run(registry: &Registry, args: &ListArguments) -> Result<ExitCode, CliError> {
    let specs = chosen(registry, &args.names)?;
    if args.json {
        // Specs hold only text, numbers and booleans.
        let json = serde_json::to_string_pretty(&specs).unwrap_or_default();
        print(&format!("{json}\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let whole = !args.names.is_empty();
    let width = width();
    let text: Vec<String> = specs.iter().map(|spec| describe(spec, whole, width)).collect();
    print(&text.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

fn chosen<'r>(registry: &'r Registry, names: &[String]) -> Result<Vec<MetricSpec<'r>>, CliError> {
    if names.is_empty() {
        return Ok(registry.entries().map(Entry::spec).collect());
    }
    let find = |name: &String| find(registry, name).map(Entry::spec);
    names.iter().map(find).collect()
}

/// The metric of that name.
pub(super) fn find<'r>(registry: &'r Registry, name: &str) -> Result<&'r Entry, CliError> {
    registry.get(name).ok_or_else(|| CliError::UnknownMetric {
        name: name.to_owned(),
        nearest: nearest(name, registry.names()).map(str::to_owned),
    })
}

fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || terminal_size().map(|(Width(columns), _)| usize::from(columns));
    told.or_else(seen).filter(|width| *width > 0).unwrap_or(WIDTH)
}

/// The name, then what is known of it, each on lines of its own that fit the width.
fn describe(spec: &MetricSpec<'_>, whole: bool, width: usize) -> String {
    let mut text = format!("{}\n", spec.name);
    let doc = spec.doc.trim();
    let doc = if whole { doc } else { doc.split("\n\n").next().unwrap_or_default() };
    for line in doc.lines().filter(|line| whole || !line.is_empty()) {
        wrap(&mut text, width, "  ", "  ", line.trim_end());
    }
    wrap(&mut text, width, "  ", "         ", &properties(spec));
    for (side, field) in spec.get_input_spec() {
        let optional = if field.required { "" } else { ", optional" };
        let field = format!("{side}.{}: {}{optional}", field.name, field.ty);
        wrap(&mut text, width, "  reads  ", "         ", &field);
    }
    for param in spec.params {
        let default = param.default.map_or(", required".to_owned(), |value| format!(" = {value}"));
        let doc = param.doc.split("\n\n").next().unwrap_or_default().replace('\n', " ");
        let dash = if doc.is_empty() { "" } else { " - " };
        let param = format!("{}: {}{default}{dash}{}", param.name, param.ty, doc.trim());
        wrap(&mut text, width, "  param  ", "         ", &param);
    }
    text
}

fn properties(spec: &MetricSpec<'_>) -> String {
    let tier = match spec.tier {
        MetricTier::Proxy => "proxy",
        MetricTier::Truth => "truth",
    };
    let kind = match spec.kind {
        ScoreKind::Bool => "bool",
        ScoreKind::Number => "number",
    };
    let mut text = format!("{tier}, {kind}");
    // Writing to a string cannot fail.
    if let (ScoreKind::Number, Some(range)) = (spec.kind, spec.range) {
        let _ = write!(text, " in {range}");
    }
    text.push_str(match spec.direction {
        Direction::HigherIsBetter => ", higher is better",
        Direction::LowerIsBetter => ", lower is better",
    });
    if let Some(threshold) = spec.threshold {
        let _ = write!(text, ", threshold {threshold:?}");
    }
    if spec.strict {
        text.push_str(", strict");
    }
    match spec.cost_msats {
        0 => text.push_str(", free"),
        cost => _ = write!(text, ", {cost} msat a row"),
    }
    text
}

fn wrap(text: &mut String, width: usize, first: &str, later: &str, line: &str) {
    // On a screen too narrow for the margin there is none.
    let (first, later) = if width < 30 { ("", " ") } else { (first, later) };
    let options = Options::new(width.max(2)).initial_indent(first).subsequent_indent(later);
    let lines = textwrap::fill(line, options);
    text.push_str(lines.trim_end());
    text.push('\n');
}
