//! Names of components, kept as long as the program runs.
//!
//! Every score of a composite carries them. If they were counted references, all threads would count
//! up and down at one place for every row, which takes longer than asking a simple component. There
//! are few: a list of names is kept once, however many composites have it.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

type Names = &'static [&'static str];

static KNOWN: Mutex<(BTreeSet<&'static str>, BTreeSet<Names>)> =
    Mutex::new((BTreeSet::new(), BTreeSet::new()));

/// One word, kept.
pub(crate) fn word(name: &str) -> &'static str {
    kept(std::iter::once(name))[0]
}

pub(crate) fn kept<'a>(names: impl Iterator<Item = &'a str>) -> Names {
    // A set is whole between any two of its operations.
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let (words, lists) = &mut *known;
    let word = |name: &str| {
        words.get(name).copied().unwrap_or_else(|| {
            let name: &'static str = name.to_owned().leak();
            words.insert(name);
            name
        })
    };
    let names: Vec<&'static str> = names.map(word).collect();
    lists.get(&*names).copied().unwrap_or_else(|| {
        let names: Names = names.leak();
        lists.insert(names);
        names
    })
}

#[cfg(test)]
mod tests {
    use super::kept;

    #[test]
    fn a_list_is_kept_once() {
        let first = kept(["format", "length"].into_iter());
        let again = kept([String::from("format"), String::from("length")].iter().map(|it| &**it));
        assert!(std::ptr::eq(first, again));
        assert_eq!(kept(["length", "format"].into_iter()), ["length", "format"]);
    }
}
