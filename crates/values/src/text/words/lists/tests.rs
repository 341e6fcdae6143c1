//! Tests the word numbers against a map, and tests which memory is kept.

use std::collections::HashMap;

use proptest::prelude::*;

use super::{MAX_LONG_BYTES, MAX_REPLACED, Replacement, SPARE, WordLists};

/// Returns the word numbers of each list and the number of distinct words, using a map of strings.
fn by_map(lists: &[Vec<String>]) -> (Vec<Vec<u32>>, usize) {
    let mut numbers = HashMap::new();
    let mut number = |word| {
        let next = numbers.len() as u32;
        *numbers.entry(word).or_insert(next)
    };
    let lists = lists
        .iter()
        .map(|list| list.iter().map(&mut number).collect())
        .collect();
    (lists, numbers.len())
}

fn numbered(words: &mut WordLists) -> (Vec<Vec<u32>>, usize) {
    words.number();
    (
        words.lists().map(<[u32]>::to_vec).collect(),
        words.distinct(),
    )
}

#[test]
fn many_words_are_numbered_as_they_occur() {
    let text: Vec<String> = (0..12_000).map(|n| format!("{}", n % 1_000)).collect();
    let expected: Vec<u32> = (0..12_000).map(|n| n % 1_000).collect();
    for _ in 0..2 {
        WordLists::with(|words| {
            words.add(text.iter().map(String::as_str));
            words.add([]);
            words.add(["999", "", "a"]);
            let lists = vec![expected.clone(), vec![], vec![999, 1_000, 1_001]];
            assert_eq!(numbered(words), (lists, 1_002));
            let inner = WordLists::with(|others| {
                others.add(["b"]);
                numbered(others)
            });
            assert_eq!(inner, (vec![vec![0]], 1));
        });
    }
}

#[test]
fn memory_is_kept_for_the_next_lists_unless_it_is_large() {
    let kept = |count: usize| {
        let words: Vec<String> = (0..count).map(|n| format!("{n:032}")).collect();
        WordLists::with(|lists| lists.add(words.iter().map(String::as_str)));
        SPARE.take().map(|lists| lists.long_bytes)
    };
    let most = MAX_LONG_BYTES / 32;
    assert_eq!([1, most].map(kept), [Some(32), Some(MAX_LONG_BYTES)]);
    assert_eq!([most + 1, 11_000].map(kept), [Some(0), None]);
}

#[test]
fn replaced_words_are_kept_unless_there_are_many() {
    let kept = |count: usize| {
        WordLists::with(|lists| {
            for n in 0..count {
                lists.push_replaced(Replacement::Stem, &format!("{n}"), str::to_owned);
            }
        });
        SPARE.take().map(|lists| lists.replaced[1].len())
    };
    let most = MAX_REPLACED;
    assert_eq!([most, most + 1].map(kept), [Some(most), Some(0)]);
}

/// Words of all lengths that keys treat differently, with shared bytes.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab\0]{0,3}",
        "[Aa]a{15}|a{6,9}\0?",
        "(ab){7,9}[a\0]?",
        "é{3,9}",
        "[A-Za-z0-9]{0,20}",
        "\\PC{0,6}",
    ]
}

proptest! {
    #[test]
    fn equal_words_have_equal_numbers(
        lists in prop::collection::vec(prop::collection::vec(word(), 0..50), 0..5),
    ) {
        let found = WordLists::with(|words| {
            for list in &lists {
                words.add(list.iter().map(String::as_str));
            }
            numbered(words)
        });
        prop_assert_eq!(found, by_map(&lists));
    }

    #[test]
    fn words_are_replaced_by_the_words_between_spaces(
        words in prop::collection::vec("[a-c ]{1,3}|[ab]{14,18}", 0..50),
    ) {
        let by = |word: &str| format!("{} {word}", &word[..word.len() / 2]);
        let replaced = words.iter().flat_map(|word| by(word).split(' ').map(str::to_owned).collect::<Vec<_>>());
        let replaced = replaced.filter(|word| !word.is_empty()).collect();
        let found = WordLists::with(|lists| {
            for word in &words {
                lists.push_replaced(Replacement::Stem, word, by);
            }
            lists.end_list();
            numbered(lists)
        });
        prop_assert_eq!(found, by_map(&[replaced]));
    }
}
