//! Rows of the metrics that search an output.

use dsrs_metrics::metrics as m;
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::Location;
use serde_json::json;

use super::{gold, pred};
use crate::explanations::{Case, case};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case(
            m::Includes::default(),
            gold(json!(["Paris", "Paname"])),
            pred("It is Lyon."),
            "expected \"Paris\" or \"Paname\" in \"It is Lyon.\"",
        ),
        case(
            m::Matches::builder().location(Location::Exact).build(),
            gold("hello world"),
            pred("world hello"),
            "expected \"hello world\" as the whole of \"world hello\"",
        ),
        case(
            m::Pattern::builder()
                .pattern(r"(\w+) or (\w+)")
                .match_all(true)
                .build(),
            gold("yes"),
            pred("yes or no"),
            "extracted \"yes\", \"no\", expected each to be \"yes\"",
        ),
        case(
            m::Choice,
            gold("B"),
            pred("ANSWER: A, C"),
            "expected B, found A, C",
        ),
        case(
            m::OneOf::builder().values(["yes", "no"]).build(),
            example! {},
            pred("maybe"),
            "expected \"yes\" or \"no\", found \"maybe\"",
        ),
        case(
            m::ContainsAll::default(),
            gold(json!(["Paris", "Seine", "Loire"])),
            pred("Paris"),
            "missing: \"Seine\", \"Loire\"",
        ),
        case(
            m::ContainsAny::builder()
                .values(["sorry", "cannot"])
                .build(),
            example! {},
            pred("Paris"),
            "expected \"sorry\" or \"cannot\" in \"Paris\"",
        ),
        case(
            m::IsJson::default(),
            example! {},
            pred("{'a': 1}"),
            "the output is not valid JSON: key must be a string at line 1 column 2",
        ),
        case(
            m::Regex::builder().pattern(r"^\d+$").build(),
            example! {},
            pred("5 km"),
            r#""5 km" does not match the pattern "^\\d+$""#,
        ),
    ]
}
