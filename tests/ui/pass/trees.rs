//! Decision trees: types that are less visible than the judge, variants behind `cfg`, names by path, trees in trees.
#![deny(warnings, unused, unused_qualifications, unreachable_pub, missing_docs, clippy::all, clippy::pedantic)]
#![allow(private_interfaces, reason = "the outputs of a judge are public, and the type of one may be private")]
#![allow(clippy::must_use_candidate, clippy::missing_panics_doc, reason = "the items are what the case is about")]

/// Judges of a reply.
pub mod judges {
    use dsrs_metrics::prelude::*;

    #[judge_output]
    enum Tone {
        Friendly,
        #[cfg(any())]
        Absent,
        #[serde(rename = "impolite")]
        Rude,
        #[allow(non_camel_case_types)]
        r#box,
    }

    /// Judge the tone of the reply.
    #[judge(score = tone == Tone::Friendly, struct = ToneOfReply)]
    pub struct ReplyTone {
        #[input(pred)]
        reply: String,
        #[output]
        reasoning: String,
        #[output]
        tone: Tone,
        #[output]
        feedback: String,
    }
}

/// Trees over them.
pub mod whole {
    use dsrs_metrics::prelude::*;

    const HALF: f64 = 0.5;

    /// Whether there is a reply.
    #[metric]
    pub fn replied(#[pred] reply: &str) -> bool {
        !reply.is_empty()
    }

    /// A reply, and its tone.
    #[metric(tree(replied {
        no => -1,
        yes => super::judges::tone_of_reply { r#box => (HALF), Friendly | Rude => (HALF - 0.25) },
    }))]
    pub struct Reply;

    /// The same as a branch, between other combinations.
    #[metric(max(tree(Replied { yes => tree(replied { yes => Reply, no => 0.0 }), no => invert(replied) }), replied))]
    pub struct Nested;
}

/// Compares the ranges.
pub fn main() {
    let range = |spec: dsrs_metrics::contract::MetricSpec<'_>| spec.range.map(|it| (it.min, it.max));
    assert_eq!(range(whole::Reply::SPEC), Some((-1.0, 0.5)));
    assert_eq!(range(whole::Nested::SPEC), Some((0.0, 1.0)));
}
