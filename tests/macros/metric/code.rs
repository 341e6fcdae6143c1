//! The fingerprint of a metric's code. Which edits change it is a table of the guide page `identity`.

mod moved;

use dsrs_metrics::contract::MetricIdentity;
use dsrs_metrics::prelude::*;

const PAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../dsrs-metrics/docs/guide/identity.md"
);

const HEAD: &str = "\
| edit | fingerprint |
| --- | --- |
";

/// The function that each of the modules edits.
#[metric]
fn tidy(#[pred] answer: &str) -> bool {
    let longest = 100;
    answer.len() < longest && !answer.starts_with("Sorry")
}

mod operator {
    #[dsrs_metrics::metric]
    pub(super) fn tidy(#[pred] answer: &str) -> bool {
        let longest = 100;
        answer.len() <= longest && !answer.starts_with("Sorry")
    }
}

mod constant {
    #[dsrs_metrics::metric]
    pub(super) fn tidy(#[pred] answer: &str) -> bool {
        let longest = 101;
        answer.len() < longest && !answer.starts_with("Sorry")
    }
}

mod string {
    #[dsrs_metrics::metric]
    pub(super) fn tidy(#[pred] answer: &str) -> bool {
        let longest = 100;
        answer.len() < longest && !answer.starts_with("sorry")
    }
}

mod literal_form {
    #[dsrs_metrics::metric]
    pub(super) fn tidy(#[pred] answer: &str) -> bool {
        let longest = 0x64;
        answer.len() < longest && !answer.starts_with("Sorry")
    }
}

mod renamed_variable {
    #[dsrs_metrics::metric]
    pub(super) fn tidy(#[pred] answer: &str) -> bool {
        let limit = 100;
        answer.len() < limit && !answer.starts_with("Sorry")
    }
}

mod signature {
    #[dsrs_metrics::metric]
    #[allow(clippy::needless_pass_by_value)]
    pub(super) fn tidy(#[pred] answer: String) -> bool {
        let longest = 100;
        answer.len() < longest && !answer.starts_with("Sorry")
    }
}

mod comment {
    #[dsrs_metrics::metric]
    pub(super) fn tidy(#[pred] answer: &str) -> bool {
        // The longest answer that fits on the card.
        let longest = 100;
        answer.len() < longest /* bytes */ && !answer.starts_with("Sorry")
    }
}

#[rustfmt::skip]
mod layout {
    #[dsrs_metrics::metric]
    pub(super) fn tidy
      ( #[pred] answer : & str ) -> bool
    { let longest=100; answer
        .len()<longest&&!answer.starts_with( "Sorry" ) }
}

mod documentation {
    /// Whether the answer is short, and no apology.
    #[dsrs_metrics::metric]
    pub(super) fn tidy(
        /// The answer.
        #[pred]
        answer: &str,
    ) -> bool {
        let longest = 100;
        answer.len() < longest && !answer.starts_with("Sorry")
    }
}

#[rustfmt::skip]
mod trailing_comma {
    #[dsrs_metrics::metric]
    pub(super) fn tidy(#[pred] answer: &str,) -> bool {
        let longest = 100;
        answer.len() < longest && !answer.starts_with("Sorry",)
    }
}

mod in_a_macro {
    macro_rules! shorter_than {
        ($name:ident, $ty:ty, $longest:expr, $($without:literal),*) => {
            #[dsrs_metrics::metric]
            pub(super) fn $name(#[pred] answer: $ty) -> bool {
                let longest = $longest;
                answer.len() < longest $(&& !answer.starts_with($without))*
            }
        };
    }

    shorter_than!(tidy, &str, 100, "Sorry");
}

mod other_attributes {
    #[dsrs_metrics::metric]
    #[allow(clippy::let_and_return)]
    #[inline]
    pub(super) fn tidy(#[pred] answer: &str) -> bool {
        let longest = 100;
        answer.len() < longest && !answer.starts_with("Sorry")
    }
}

mod settings {
    #[dsrs_metrics::metric(name = "short", version = "2", cost = "1 msat")]
    pub(super) fn tidy(#[pred] answer: &str) -> bool {
        let longest = 100;
        answer.len() < longest && !answer.starts_with("Sorry")
    }
}

mod helper {
    const fn longest() -> usize {
        100
    }

    #[dsrs_metrics::metric]
    pub(super) fn tidy(#[pred] answer: &str) -> bool {
        let longest = longest();
        answer.len() < longest && !answer.starts_with("Sorry")
    }

    /// The helper of another version.
    pub(super) mod later {
        const fn longest() -> usize {
            500
        }

        #[dsrs_metrics::metric]
        pub(in super::super) fn tidy(#[pred] answer: &str) -> bool {
            let longest = longest();
            answer.len() < longest && !answer.starts_with("Sorry")
        }
    }
}

fn code(spec: MetricSpec<'_>) -> u64 {
    spec.code.expect("`#[metric]` saw the code")
}

#[test]
fn edits_of_a_function_change_its_fingerprint_as_the_guide_says() {
    let base = code(Tidy::SPEC);
    let helper = (code(helper::Tidy::SPEC), code(helper::later::Tidy::SPEC));
    let edits = [
        ("`<` replaced by `<=`", base, code(operator::Tidy::SPEC)),
        ("`100` replaced by `101`", base, code(constant::Tidy::SPEC)),
        ("a string changed", base, code(string::Tidy::SPEC)),
        (
            "`100` written as `0x64`",
            base,
            code(literal_form::Tidy::SPEC),
        ),
        (
            "a variable renamed",
            base,
            code(renamed_variable::Tidy::SPEC),
        ),
        (
            "a parameter's type changed",
            base,
            code(signature::Tidy::SPEC),
        ),
        ("a comment added", base, code(comment::Tidy::SPEC)),
        ("the code reformatted", base, code(layout::Tidy::SPEC)),
        ("documentation added", base, code(documentation::Tidy::SPEC)),
        (
            "a trailing comma added",
            base,
            code(trailing_comma::Tidy::SPEC),
        ),
        (
            "the function generated by a `macro_rules` macro",
            base,
            code(in_a_macro::Tidy::SPEC),
        ),
        (
            "the function moved to another file and made public",
            base,
            code(moved::Tidy::SPEC),
        ),
        (
            "`#[allow(..)]` or `#[inline]` added",
            base,
            code(other_attributes::Tidy::SPEC),
        ),
        (
            "a `#[metric]` setting changed, such as the version",
            base,
            code(settings::Tidy::SPEC),
        ),
        (
            "a change in a function that the metric calls",
            helper.0,
            helper.1,
        ),
    ];
    let row = |(edit, before, after): (&str, u64, u64)| {
        format!(
            "| {edit} | {} |\n",
            if before == after {
                "unchanged"
            } else {
                "changed"
            }
        )
    };
    let table: String = edits.into_iter().map(row).collect();
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(HEAD).expect("the table has its head");
    let after = rest
        .split_once("\n\n")
        .map_or(String::new(), |(_, after)| format!("\n{after}"));
    let expected = format!("{before}{HEAD}{table}{after}");
    if std::env::var_os("DSRS_METRICS_RECORD").is_some() {
        std::fs::write(PAGE, expected).unwrap();
    } else {
        assert_eq!(page, expected, "DSRS_METRICS_RECORD=1 writes the table");
    }
}

mod judges {
    use dsrs_metrics::prelude::*;

    /// Rate the answer.
    #[judge(name = "rated", score = f64::from(stars) / 5.0)]
    pub(super) struct First {
        #[input(pred)]
        answer: String,
        #[output(range = 1..=5)]
        stars: u8,
    }

    /// Rate the answer strictly.
    #[judge(version = "2", score = f64::from(stars) / 5.0, name = "rated")]
    pub(super) struct OtherPrompt {
        #[input(pred)]
        answer: String,
        #[output(range = 1..=5)]
        stars: u8,
    }

    /// Rate the answer.
    #[judge(name = "rated", score = f64::from(stars - 1) / 4.0)]
    pub(super) struct OtherScore {
        #[input(pred)]
        answer: String,
        #[output(range = 1..=5)]
        stars: u8,
    }
}

/// The prompt has a hash of its own.
#[test]
fn the_code_of_a_judge_is_its_score() {
    let first = code(judges::FirstJudge::SPEC);
    assert_eq!(first, code(judges::OtherPromptJudge::SPEC));
    assert_ne!(first, code(judges::OtherScoreJudge::SPEC));
}

#[metric]
fn polite(#[pred] answer: &str) -> bool {
    answer.contains("please")
}

#[metric(all(tidy, polite))]
struct Both;

#[metric(any(tidy, polite))]
struct Either;

#[metric(version = "2", all(tidy, polite,), name = "both")]
struct Same;

mod other_component {
    use super::{Polite, operator::Tidy};

    #[dsrs_metrics::metric(all(tidy, polite))]
    pub(super) struct Both;
}

/// A composite of metrics whose code changed has other code, too.
#[test]
fn the_code_of_a_composite_is_its_expression_and_its_components() {
    let both = code(Both::SPEC);
    assert_eq!(both, code(Same::SPEC));
    assert_ne!(both, code(Either::SPEC));
    assert_ne!(both, code(other_component::Both::SPEC));
}

#[test]
fn a_closure_has_no_code_and_an_instance_the_code_of_its_metric() {
    let closure = metric_fn("same", |gold, pred| {
        gold.get("answer") == pred.get("answer")
    });
    let identity = |metric: &dyn Metric| serde_json::to_value(MetricIdentity::of(metric)).unwrap();
    assert_eq!(identity(&closure).get("code"), None);
    let expected = format!("{:016x}", code(Tidy::SPEC));
    assert_eq!(identity(&Tidy)["code"], *expected);
    assert_eq!(identity(&Tidy.with_cost_msats(7))["code"], *expected);
}

#[test]
fn code_is_compared_unless_it_is_unknown_or_the_version_says_that_it_changed() {
    let identity = |metric: &dyn Metric| MetricIdentity::of(metric);
    let places = |one: &MetricIdentity, other: &MetricIdentity| {
        one.differences(other)
            .into_iter()
            .map(|it| it.place)
            .collect::<Vec<_>>()
    };
    let (one, other) = (identity(&Tidy), identity(&operator::Tidy));
    assert_eq!(places(&one, &other), ["`code`"]);
    let mut stored = serde_json::to_value(&other).unwrap();
    stored["version"] = "2".into();
    let raised = serde_json::from_value(stored.clone()).unwrap();
    assert_eq!(places(&one, &raised), ["`version`"]);
    stored["version"] = "1".into();
    stored.as_object_mut().unwrap().remove("code");
    let earlier = serde_json::from_value(stored).unwrap();
    assert_eq!(places(&one, &earlier), [""; 0]);
    assert_eq!(places(&earlier, &one), [""; 0]);
}
