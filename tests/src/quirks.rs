//! Differences between the library and another implementation, whose definition is computed with and without its quirks.

use std::collections::BTreeMap;
use std::fmt::Debug;

/// The reason of a difference that no quirk alone explains.
pub const SEVERAL: &str = "several of them";

/// The quirks of another implementation: whether each is computed.
pub type Quirks<const N: usize> = [bool; N];

/// Counts the differences by the first quirk that alone explains one; by [`SEVERAL`] if several are needed.
///
/// # Panics
/// If the definition without quirks is not the library's.
pub fn explain<const N: usize, T: Debug>(
    counts: &mut BTreeMap<&'static str, usize>,
    reasons: [&'static str; N],
    ours: &T,
    theirs: impl Fn(Quirks<N>) -> T,
    is_same: impl Fn(&T, &T) -> bool,
) {
    let defined = theirs([false; N]);
    assert!(
        is_same(&defined, ours),
        "without quirks: {defined:?}, found {ours:?}"
    );
    if is_same(&theirs([true; N]), ours) {
        return;
    }
    let without = |quirk: usize| std::array::from_fn(|at| at != quirk);
    let alone = (0..N).find(|quirk| is_same(&theirs(without(*quirk)), ours));
    *counts
        .entry(alone.map_or(SEVERAL, |quirk| reasons[quirk]))
        .or_default() += 1;
}
