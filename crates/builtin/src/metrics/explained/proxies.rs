//! Explanations of the proxies: the checks that passed. A failure has its reason.

use crate::metrics::language::LanguageSetting;

pub(in crate::metrics) fn format(
    _: &str,
    require_non_empty: bool,
    require_valid_json: bool,
    required_fields: &[String],
    _: &str,
    score: f64,
) -> Option<String> {
    let checks = [
        (require_non_empty, "is not empty"),
        (require_valid_json, "is valid JSON"),
        (!required_fields.is_empty(), "has the required fields"),
    ];
    let checks: Vec<&str> = checks
        .iter()
        .filter(|(is_checked, _)| *is_checked)
        .map(|(_, check)| *check)
        .collect();
    let checks = if checks.is_empty() {
        "is not checked".to_owned()
    } else {
        checks.join(" and ")
    };
    (score > 0.0).then(|| format!("the output {checks}"))
}

pub(in crate::metrics) fn syntax(
    _: &str,
    check_balanced_brackets: bool,
    check_balanced_quotes: bool,
    language: &LanguageSetting,
    _: &str,
    score: f64,
) -> Option<String> {
    if score == 0.0 {
        return None;
    }
    let balanced = match (check_balanced_brackets, check_balanced_quotes) {
        (true, true) => "brackets and quotes",
        (true, false) => "brackets",
        (false, _) => "quotes",
    };
    Some(match language.language().ok().flatten() {
        Some(language) => format!("the code parses as {language:?}"),
        None => format!("{balanced} are balanced"),
    })
}
