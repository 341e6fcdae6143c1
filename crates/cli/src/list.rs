//! `list`: prints one line per metric, the specs of the named metrics, or all specs as JSON.
//!
//! The file is long because it prints each part of a spec in two forms, as text and as JSON.

use std::process::ExitCode;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;
use terminal_size::{Width, terminal_size};
use textwrap::Options;

use super::args::ListArguments;
use super::output::{Result, of_metric, print, print_indented_json};
use crate::contract::{MetricSpec, ParamSpec, ScoreKind, TypeHelp};
use crate::metrics::registry::{Entry, Registry, SETTINGS, has_param};

/// The number of columns if neither `COLUMNS` nor a terminal sets it.
const DEFAULT_WIDTH: usize = 100;

pub(super) fn run(registry: &Registry, args: &ListArguments) -> Result<ExitCode> {
    let entries: Vec<&Entry> = match &*args.names {
        [] if !args.json => {
            print(&overview(registry, width()))?;
            return Ok(ExitCode::SUCCESS);
        }
        [] => registry.entries().collect(),
        names => {
            let entries = names.iter().map(|name| registry.find(name));
            entries.collect::<Result<_, _>>().map_err(of_metric)?
        }
    };
    let defaults: Vec<_> = entries.iter().map(|entry| entry.defaults()).collect();
    let params = entries.iter().zip(&defaults);
    let params: Vec<_> = params
        .map(|(entry, defaults)| params_of(entry, defaults))
        .collect();
    let specs = entries.iter().zip(&params);
    let specs = specs.map(|(entry, params)| entry.spec().with_params(params));
    let specs: Vec<MetricSpec<'_>> = specs.collect();
    if args.json {
        let listed = specs.iter().map(|spec| ListedSpec {
            spec,
            settings: accepted(spec),
        });
        print_indented_json(&Vec::from_iter(listed))?;
        return Ok(ExitCode::SUCCESS);
    }
    let width = width();
    let text: Vec<String> = specs.iter().map(|spec| describe(spec, width)).collect();
    print(&text.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// A spec in the `list --json` output, with the settings that every metric has.
#[derive(Serialize)]
struct ListedSpec<'a> {
    #[serde(flatten)]
    spec: &'a MetricSpec<'a>,
    settings: Vec<Setting>,
}

/// Returns the parameters. Defaults are written as a user would type them, or as in the source code if the type does
/// not implement `Serialize`.
fn params_of<'r>(entry: &'r Entry, typed: &'r [Option<String>]) -> Vec<ParamSpec<'r>> {
    let params = entry.spec().params.iter().enumerate();
    params
        .map(|(number, param)| ParamSpec {
            default: typed
                .get(number)
                .and_then(Option::as_deref)
                .or(param.default),
            ..*param
        })
        .collect()
}

fn width() -> usize {
    let variable = std::env::var("COLUMNS").ok();
    let variable = variable.and_then(|columns| columns.parse().ok());
    let terminal = || terminal_size().map(|(Width(columns), _)| usize::from(columns));
    let width = variable.or_else(terminal).filter(|width| *width > 0);
    width.unwrap_or(DEFAULT_WIDTH)
}

/// Returns one line per metric, in groups. Each line has the metric's name and as much of its documentation as fits.
fn overview(registry: &Registry, width: usize) -> String {
    let names = registry.entries().map(|entry| entry.spec().name);
    let column = names.map(|name| name.chars().count()).max().unwrap_or(0);
    let room = width.saturating_sub(column + 4);
    let mut text = String::new();
    for (group, metrics) in registry.groups() {
        wrap(&mut text, width, "", "", group);
        for spec in metrics.iter().map(|entry| entry.spec()) {
            let (name, summary) = (spec.name, summary(spec.doc, room));
            text += &format!("  {name:column$}  {}\n", summary.unwrap_or_default());
        }
    }
    let count = registry.entries().count();
    let hint = format!("{count} metrics; `list NAME` shows fields and parameters");
    wrap(&mut text, width, "", "", &hint);
    text
}

/// Returns the first sentence of a metric's documentation, cut between two words to fit the width.
fn summary(doc: &str, width: usize) -> Option<String> {
    let first = paragraphs(doc).into_iter().next()?;
    let end = first.find(". ").unwrap_or(first.len());
    let sentence = first[..end].trim_end_matches(['.', ':']);
    if textwrap::core::display_width(sentence) <= width {
        return Some(sentence.to_owned());
    }
    let lines = textwrap::wrap(sentence, width.saturating_sub(" ..".len()).max(1));
    Some(format!("{} ..", lines.first()?))
}

/// Returns the metric's name, followed by its documentation, properties, fields and parameters, wrapped to the width.
fn describe(spec: &MetricSpec<'_>, width: usize) -> String {
    let mut text = format!("{}\n", spec.name);
    for paragraph in paragraphs(spec.doc) {
        wrap(&mut text, width, "  ", "  ", &paragraph);
    }
    let mut line = |start: &str, content: &str| wrap(&mut text, width, start, "         ", content);
    line("  ", &spec.properties());
    if let Some(code) = spec.code {
        line("  ", &format!("version {}, code {code:016x}", spec.version));
    }
    for (side, field) in spec.get_input_spec() {
        let optional = match (field.required, field.may_be_missing) {
            (true, false) => "",
            (true, true) => ", may be missing",
            (false, _) => ", optional",
        };
        let (name, ty) = (field.name, type_name(field.help, field.ty));
        line("  reads  ", &format!("{side}.{name}: {ty}{optional}"));
    }
    for param in spec.params {
        let default = match param.default {
            // This is `#[param(default)]` on a type that does not implement `Serialize`.
            Some("default") => ", optional".to_owned(),
            Some(value) => format!(" = {value}"),
            None => ", required".to_owned(),
        };
        let doc = paragraphs(param.doc).into_iter().next();
        let doc = doc.map_or(String::new(), |doc| format!(" - {doc}"));
        let (name, ty) = (param.name, type_name(param.help, param.ty));
        line("  param  ", &format!("{name}: {ty}{default}{doc}"));
    }
    for Setting {
        name,
        ty,
        default,
        doc,
    } in accepted(spec)
    {
        let default = default.map_or(", optional".to_owned(), |default| format!(" = {default}"));
        line("  param  ", &format!("{name}: {ty}{default} - {doc}"));
    }
    text
}

/// Returns a type's description without its article, or the type as written in the code if it has no description.
fn type_name(help: TypeHelp, ty: &str) -> String {
    if !help.is_some() {
        return ty.to_owned();
    }
    let phrase = help.to_string();
    let mut articles = ["a ", "an ", "the "].iter();
    let noun = articles.find_map(|article| phrase.strip_prefix(article));
    noun.unwrap_or(&phrase).to_owned()
}

/// Returns the paragraphs and list items in a metric's documentation, each on one line, without code blocks.
fn paragraphs(doc: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut in_code = false;
    for line in doc.lines().map(str::trim) {
        let fence = line.starts_with("```");
        in_code ^= fence;
        if line.is_empty() || line.starts_with("- ") {
            paragraphs.push(String::new());
        }
        if let (false, false, Some(last)) = (fence, in_code, paragraphs.last_mut()) {
            if !last.is_empty() && !line.is_empty() {
                last.push(' ');
            }
            last.push_str(line);
        }
    }
    let paragraphs = paragraphs.iter().filter(|it| !it.is_empty());
    paragraphs
        .map(|paragraph| without_links(paragraph))
        .collect()
}

/// Returns the text with each Markdown link replaced by its words.
fn without_links(text: &str) -> String {
    static LINK: LazyLock<Regex> = LazyLock::new(|| {
        let link = r"\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)";
        Regex::new(link).expect("the pattern is valid")
    });
    LINK.replace_all(text, "$1").into_owned()
}

/// Appends `line`, wrapped to the width, with separate indents for its first line and the rest.
fn wrap(text: &mut String, width: usize, first: &str, others: &str, line: &str) {
    let options = Options::new(width.max(30))
        .initial_indent(first)
        .subsequent_indent(others);
    let lines = textwrap::fill(line, options);
    text.push_str(lines.trim_end());
    text.push('\n');
}

/// Returns the settings that a metric accepts in the form of parameters, with defaults from its spec.
fn accepted(spec: &MetricSpec<'_>) -> Vec<Setting> {
    let [threshold, strict, cost] = SETTINGS;
    let direction = match spec.higher_is_better() {
        true => "smallest",
        false => "largest",
    };
    let mut settings = vec![
        Setting {
            name: threshold,
            ty: "number",
            default: spec.threshold.map(|threshold| format!("{threshold:?}")),
            doc: format!("The {direction} passing score."),
        },
        Setting {
            name: strict,
            ty: "bool",
            default: Some(spec.strict.to_string()),
            doc: "Turns a score into 1 (pass) or 0 (fail).".to_owned(),
        },
        Setting {
            name: cost,
            ty: "cost",
            default: Some(format!("{} msat", spec.cost_msats)),
            doc: "The maximum expected cost of one call.".to_owned(),
        },
    ];
    let is_number = spec.kind == ScoreKind::Number;
    settings.retain(|it| (is_number || it.name == cost) && !has_param(spec, it.name));
    settings
}

/// A metric's setting, as shown by `list`.
#[derive(Debug, PartialEq, Serialize)]
struct Setting {
    name: &'static str,
    #[serde(rename = "type")]
    ty: &'static str,
    default: Option<String>,
    doc: String,
}

#[cfg(test)]
mod tests {
    use super::{accepted, paragraphs, summary};
    use crate::contract::spec::{MetricSpec, ParamSpec, ScoreKind};
    use crate::contract::value_type::TypeHelp;

    #[test]
    fn a_summary_is_the_first_sentence_cut_between_words() {
        let doc = "Whether the answer\n is right. Not\n more.\n\nRest.";
        assert_eq!(
            summary(doc, 80).as_deref(),
            Some("Whether the answer is right")
        );
        assert_eq!(
            summary(doc, 27).as_deref(),
            Some("Whether the answer is right")
        );
        assert_eq!(
            summary(doc, 26).as_deref(),
            Some("Whether the answer is ..")
        );
        assert_eq!(
            summary("Two checks:\n\n- one", 80).as_deref(),
            Some("Two checks")
        );
        assert_eq!(summary("", 80), None);
        let long = summary("abcdefghijklmnopqrstuvwxyz", 15).unwrap();
        assert!(long.len() <= 15 && long.ends_with(" .."), "{long}");
    }

    #[test]
    fn a_link_is_shown_as_its_text() {
        let doc = "See [`run`](crate::run()) and\n [the guide](https://a.b/c), [0, 1] (or less).";
        assert_eq!(
            paragraphs(doc),
            ["See `run` and the guide, [0, 1] (or less)."]
        );
    }

    #[test]
    fn each_list_item_is_a_line() {
        let doc =
            "Two\n checks:\n\n - one,\n   of two lines;\n - two.\n\n```\n- code\n```\nThe end.";
        assert_eq!(
            paragraphs(doc),
            ["Two checks:", "- one, of two lines;", "- two.", "The end."]
        );
    }

    #[test]
    fn a_setting_that_the_metric_does_not_accept_is_not_listed() {
        let threshold = ParamSpec {
            name: "threshold",
            ty: "f64",
            help: TypeHelp::NONE,
            default: None,
            doc: "",
            names: &[],
        };
        let names = |spec: &MetricSpec<'_>| -> Vec<&str> {
            accepted(spec)
                .into_iter()
                .map(|setting| setting.name)
                .collect()
        };
        assert_eq!(
            names(&MetricSpec::new("x")),
            ["threshold", "strict", "cost"]
        );
        assert_eq!(
            names(&MetricSpec::new("x").with_kind(ScoreKind::Bool)),
            ["cost"]
        );
        assert_eq!(
            names(&MetricSpec::new("x").with_params(&[threshold])),
            ["strict", "cost"]
        );
    }
}
