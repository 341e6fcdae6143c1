#![deny(warnings)]
#![allow(clippy::non_minimal_cfg, reason = "a condition that holds is what is tested")]

use dsrs_metrics::prelude::*;

#[metric]
#[inline]
#[must_use]
#[doc(hidden)]
#[allow(clippy::needless_pass_by_value)]
fn owned(#[pred] text: String) -> bool {
    text.is_empty()
}

/// Not on this machine.
#[cfg(any())]
#[metric]
fn absent(#[pred] text: NoSuchType) -> bool {
    text.is_empty()
}

#[metric]
#[cfg(any())]
fn absent_too(#[pred] text: NoSuchType) -> bool {
    text.is_empty()
}

#[metric]
#[cfg(all())]
#[cfg_attr(all(), doc = "Present.")]
fn present(
    #[pred] text: &str,
    #[allow(unused_variables)]
    #[param(default)]
    unused: bool,
) -> bool {
    text.is_empty()
}

#[allow(deprecated)]
mod old {
    use dsrs_metrics::prelude::*;

    #[metric]
    #[deprecated(note = "use `owned`")]
    pub fn former(#[pred] text: &str) -> bool {
        text.is_empty()
    }
}

#[metric]
#[expect(unused_variables, reason = "only its presence counts")]
fn expects(#[pred] text: &str) -> bool {
    let unused = 1;
    true
}

#[metric]
fn mutable(#[pred] mut text: String, #[gold] _unused: &str, #[gold("n")] _: u8) -> bool {
    text.push('x');
    text == "x"
}

/// Runs the items above.
pub fn main() {
    let (gold, pred) = (example! { "_unused" => "", "n" => 1 }, prediction! { "text" => "" });
    assert_eq!(Owned.score(&gold, &pred).unwrap().value, 1.0);
    assert_eq!(Present::default().score(&gold, &pred).unwrap().value, 1.0);
    assert_eq!(Mutable.score(&gold, &pred).unwrap().value, 1.0);
    assert_eq!(Expects.score(&gold, &pred).unwrap().value, 1.0);
    #[allow(deprecated)]
    let former = old::Former;
    #[allow(deprecated)]
    let value = former.score(&gold, &pred).unwrap().value;
    assert_eq!(value, 1.0);
}
