//! `list`: what is known of the metrics before they run.

use std::borrow::Cow;
use std::fmt::Write;
use std::process::ExitCode;

use terminal_size::{Width, terminal_size};
use textwrap::Options;

use super::args::ListArguments;
use super::error::CliError;
use super::output::print;
use super::registry::{Entry, Registry};
use crate::core::spec::{MetricSpec, MetricTier, ParamSpec, ScoreKind};
use crate::core::type_words::in_words;
use crate::text::suggest::nearest;

/// Where nothing says how wide the reader's screen is.
const WIDTH: usize = 100;

pub(super) fn run(registry: &Registry, args: &ListArguments) -> Result<ExitCode, CliError> {
    let metrics = chosen(registry, &args.names)?;
    let params: Vec<_> = metrics.iter().map(Listed::params).collect();
    let specs = metrics.iter().zip(&params).map(|(metric, params)| metric.spec.with_params(params));
    let specs: Vec<MetricSpec<'_>> = specs.collect();
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

/// A metric and its parameters' defaults as they would be typed.
struct Listed<'r> {
    spec: MetricSpec<'r>,
    defaults: Vec<Option<Cow<'r, str>>>,
}

impl<'r> From<&'r Entry> for Listed<'r> {
    fn from(entry: &'r Entry) -> Self {
        let spec = entry.spec();
        let typed = entry.defaults().into_iter().chain(std::iter::repeat(None));
        let typed = typed.map(|typed| typed.map(Cow::Owned));
        let params = spec.params.iter().zip(typed);
        let defaults = params.map(|(param, typed)| typed.or_else(|| param.default.map(as_typed)));
        Self { spec, defaults: defaults.collect() }
    }
}

impl Listed<'_> {
    fn params(&self) -> Vec<ParamSpec<'_>> {
        let params = self.spec.params.iter().zip(&self.defaults);
        params.map(|(param, default)| ParamSpec { default: default.as_deref(), ..*param }).collect()
    }
}

fn chosen<'r>(registry: &'r Registry, names: &[String]) -> Result<Vec<Listed<'r>>, CliError> {
    if names.is_empty() {
        return Ok(registry.entries().map(Listed::from).collect());
    }
    names.iter().map(|name| find(registry, name).map(Listed::from)).collect()
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
    let shown = if whole { usize::MAX } else { 1 };
    for paragraph in paragraphs(spec.doc).into_iter().take(shown) {
        wrap(&mut text, width, "  ", "  ", &paragraph);
    }
    wrap(&mut text, width, "  ", "         ", &properties(spec));
    for (side, field) in spec.get_input_spec() {
        let optional = if field.required { "" } else { ", optional" };
        let field = format!("{side}.{}: {}{optional}", field.name, worded(field.ty));
        wrap(&mut text, width, "  reads  ", "         ", &field);
    }
    for param in spec.params {
        let default = match param.default {
            // What `#[param(default)]` makes, of a type that cannot be written.
            Some("default") => ", optional".to_owned(),
            Some(value) => format!(" = {value}"),
            None => ", required".to_owned(),
        };
        let doc = paragraphs(param.doc).into_iter().next();
        let doc = doc.map_or(String::new(), |doc| format!(" - {doc}"));
        let param = format!("{}: {}{default}{doc}", param.name, worded(param.ty));
        wrap(&mut text, width, "  param  ", "         ", &param);
    }
    text
}

/// What a value of a type may be, without article; types that are nothing but names stand as they were written.
fn worded(ty: &str) -> Cow<'_, str> {
    let Some(words) = in_words(ty) else {
        return inner(ty).into();
    };
    let article = ["a ", "an ", "the "].iter().find_map(|article| words.strip_prefix(article));
    article.map_or(words.clone(), |words| words.to_owned().into())
}

/// The type of what is there, if it is.
fn inner(ty: &str) -> &str {
    let ty = ty.strip_prefix("Option<").and_then(|ty| ty.strip_suffix('>')).unwrap_or(ty);
    ty.trim_start_matches('&')
}

/// A default whose type cannot be written, as a user would type it: `whole_word` for `Mode::WholeWord`. Only
/// the source of the default is known, so it is a guess: that a path
/// from a type to a name in camel case is a variant, and that it is read in snake case. Anything
/// else, a constant like `f64::MAX` too, stands as it was written.
fn as_typed(default: &str) -> Cow<'_, str> {
    match serde_json::from_str::<String>(default) {
        Ok(text) if !text.is_empty() => return text.into(),
        _ => {}
    }
    variant(default).map_or(default.into(), |variant| snake_case(variant).into())
}

/// The last part of `Type::Variant`, of which there may be more parts before.
fn variant(path: &str) -> Option<&str> {
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    let is_camel_case = |part: &str| {
        let is_constant = part.len() > 1 && !part.contains(char::is_lowercase);
        part.starts_with(char::is_uppercase) && !part.contains('_') && !is_constant
    };
    let (ty, variant) = path.rsplit_once("::")?;
    let owner = ty.rsplit("::").next().unwrap_or(ty);
    let is_path = ty.split("::").all(is_name) && is_name(variant);
    (is_path && is_camel_case(owner) && is_camel_case(variant)).then_some(variant)
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (position, c) in name.chars().enumerate() {
        if c.is_uppercase() && position > 0 {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

/// The paragraphs of a documentation, and the items of its lists, each on one line, without its examples.
fn paragraphs(doc: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut in_example = false;
    for line in doc.lines().map(str::trim) {
        let fence = line.starts_with("```");
        in_example ^= fence;
        if line.is_empty() || line.starts_with("- ") {
            paragraphs.push(String::new());
        }
        if let (false, false, Some(last)) = (fence, in_example, paragraphs.last_mut()) {
            let space = if last.is_empty() || line.is_empty() { "" } else { " " };
            last.push_str(space);
            last.push_str(line);
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
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
    text.push_str(match spec.higher_is_better() {
        true => ", higher is better",
        false => ", lower is better",
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

#[cfg(test)]
mod tests {
    use super::{as_typed, paragraphs};

    #[test]
    fn items_of_a_list_stand_on_lines_of_their_own() {
        let doc =
            "Two\n checks:\n\n - one,\n   of two lines;\n - two.\n\n```\n- no item\n```\nThe end.";
        assert_eq!(paragraphs(doc), ["Two checks:", "- one, of two lines;", "- two.", "The end."]);
    }

    #[test]
    fn defaults_as_they_are_typed() {
        for (default, typed) in [
            ("Profile::Dspy", "dspy"),
            ("crate::text::Profile::FoldedSymbols", "folded_symbols"),
            ("Axis::X", "x"),
            (r#""a \"b\"""#, "a \"b\""),
            (r#""""#, r#""""#),
            ("1.0", "1.0"),
            ("true", "true"),
            ("f64::MAX", "f64::MAX"),
            ("Limits::MAX_WORDS", "Limits::MAX_WORDS"),
            ("Profile::default()", "Profile::default()"),
            ("text::normalize", "text::normalize"),
            ("vec![Profile::Dspy]", "vec![Profile::Dspy]"),
        ] {
            assert_eq!(as_typed(default), typed);
        }
    }
}
