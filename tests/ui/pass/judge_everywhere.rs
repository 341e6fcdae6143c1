//! Raw identifiers, another path to the crate, visibility, other macros' tokens, functions.
#![allow(dead_code)]

pub mod reexported {
    pub use dsrs_metrics as metrics;
}

use reexported::metrics::prelude::*;

/// Judge a `type`.
#[judge(crate = crate::judge_everywhere::reexported::metrics, score = r#match)]
struct r#Raw {
    #[input(pred)]
    r#type: String,
    #[input(pred = "fn")]
    r#fn: Option<String>,
    #[output]
    r#match: bool,
}

macro_rules! graded {
    ($name:ident, $ty:ty, $field:ident, $limit:expr, $doc:literal) => {
        #[doc = $doc]
        #[judge(crate = $crate::judge_everywhere::reexported::metrics, threshold = $limit, range = 0.0..=$limit * 2.0)]
        struct $name {
            #[input(gold)]
            $field: $ty,
            #[input(pred = $doc)]
            given: $ty,
            #[output(desc = $doc)]
            score: f64,
        }
    };
}

graded!(SameText, String, answer, 0.5, "text");
graded!(SameList, Vec<String>, list, 2.5, "list");

mod outer {
    pub mod inner {
        use dsrs_metrics::prelude::*;

        /// Judge for the parent.
        #[judge]
        pub(super) struct ToParent {
            #[input(pred)]
            answer: String,
            #[output]
            good: bool,
        }

        /// Judge for the crate.
        #[judge]
        pub(in crate::judge_everywhere::outer) struct ToOuter {
            #[input(pred)]
            answer: String,
            #[param]
            criteria: Vec<String>,
            #[output]
            good: bool,
        }
    }

    pub fn names() -> [&'static str; 2] {
        let outer = inner::ToOuterJudge::builder().criteria(["clear"]).build();
        [inner::ToParentJudge::SPEC.name, outer.name()]
    }
}

/// Runs the items above.
pub fn main() {
    assert_eq!(RawJudge::SPEC.name, "raw");
    assert_eq!(RawJudge::SPEC.pred[0].name, "type");
    assert_eq!(SameTextJudge::SPEC.doc, "text");
    assert_eq!(SameListJudge::SPEC.threshold, Some(2.5));
    assert_eq!(outer::names(), ["to_parent", "to_outer"]);

    /// Judge within a function.
    #[judge(score = good as bool)]
    #[derive(Debug, Clone)]
    struct Local {
        #[input(pred)]
        answer: String,
        #[output]
        good: bool,
    }
    let input = LocalInput { answer: "a".into() };
    assert_eq!(format!("{input:?}"), "LocalInput { answer: Untrusted(..) }");
    let local = Local { answer: "a".to_owned(), good: true };
    assert_eq!(format!("{:?}", local.clone()), "Local { answer: \"a\", good: true }");
    let _: &dyn AcceptanceTest = &LocalJudge::default();
}
