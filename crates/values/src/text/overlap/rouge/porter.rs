//! Porter's stemmer (Porter 1980, "An algorithm for suffix stripping") in the variant of nltk's `PorterStemmer`, which
//! `rouge-score` uses. Snowball's English stemmer is a different algorithm with different stems.
//!
//! Expects words in lower case. Letters other than a to z count as consonants.

/// Endings and their replacements, separated by a colon.
const PLURALS: &str = "sses:ss ies:i ss:ss s:";

/// Step 2: double suffixes, longer endings before their own endings.
const DOUBLE_SUFFIXES: &str = "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e ousli:ous \
    ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous aliti:al iviti:ive \
    biliti:ble fulli:ful logi:log";

/// Step 3.
const SUFFIXES: &str = "icate:ic ative: alize:al iciti:ic ical:ic ful: ness:";

/// Step 4: endings that are removed.
const ENDINGS: &str = "al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ion: ou: ism: ate: iti: ous: ive: ize:";

/// Returns the stem of an irregular word.
fn irregular(word: &str) -> Option<&str> {
    match word {
        "skies" | "sky" => Some("sky"),
        "dying" => Some("die"),
        "lying" => Some("lie"),
        "tying" => Some("tie"),
        "innings" | "inning" => Some("inning"),
        "outings" | "outing" => Some("outing"),
        "cannings" | "canning" => Some("canning"),
        "news" | "howe" | "proceed" | "exceed" | "succeed" => Some(word),
        _ => None,
    }
}

/// Returns the stem of a lower-case word of more than two letters.
pub(super) fn stem(word: &str) -> String {
    if let Some(stem) = irregular(word) {
        return stem.to_owned();
    }
    let mut word = word.to_owned();
    plural(&mut word);
    past_or_participle(&mut word);
    final_y(&mut word);
    double_suffix(&mut word);
    apply(&mut word, SUFFIXES, |stem, _| measure(stem) > 0);
    apply(&mut word, ENDINGS, |stem, ending| {
        measure(stem) > 1 && (ending != "ion" || stem.ends_with(['s', 't']))
    });
    final_e(&mut word);
    final_ll(&mut word);
    word
}

/// Applies the first rule whose ending the word has, if the rest of the word allows it. Tries no other rule.
fn apply(word: &mut String, rules: &str, is_allowed: impl Fn(&str, &str) -> bool) {
    let mut rules = rules.split(' ').filter_map(|rule| rule.split_once(':'));
    let Some((ending, instead)) = rules.find(|(ending, _)| word.ends_with(ending)) else {
        return;
    };
    let length = word.len() - ending.len();
    if is_allowed(&word[..length], ending) {
        word.truncate(length);
        word.push_str(instead);
    }
}

/// Step 1a. "dies" becomes "die", but "flies" becomes "fli".
fn plural(word: &mut String) {
    if word.ends_with("ies") && word.chars().count() == 4 {
        word.pop();
    } else {
        apply(word, PLURALS, |_, _| true);
    }
}

/// Step 1b: "ied" like "ies", then "eed", "ed" and "ing".
fn past_or_participle(word: &mut String) {
    if word.ends_with("ied") {
        let is_short = word.chars().count() == 4;
        let rule = if is_short { "ied:ie" } else { "ied:i" };
        return apply(word, rule, |_, _| true);
    }
    if word.ends_with("eed") {
        return apply(word, "eed:ee", |stem, _| measure(stem) > 0);
    }
    let before = word.len();
    apply(word, "ed: ing:", |stem, _| {
        vowels(stem).any(|is_vowel| is_vowel)
    });
    if word.len() < before {
        restore(word);
    }
}

/// Repairs the word after "ed" or "ing" was removed: "hopp" becomes "hop", "fil" becomes "file".
fn restore(word: &mut String) {
    let shortened = ["at", "bl", "iz"];
    if shortened.iter().any(|ending| word.ends_with(ending)) {
        word.push('e');
    } else if ends_with_double_consonant(word) {
        if !word.ends_with(['l', 's', 'z']) {
            word.pop();
        }
    } else if measure(word) == 1 && ends_short(word) {
        word.push('e');
    }
}

/// Step 1c: replaces a "y" after a consonant by "i", unless the consonant is the first letter.
fn final_y(word: &mut String) {
    apply(word, "y:i", |stem, _| {
        stem.chars().nth(1).is_some() && vowels(stem).last() == Some(false)
    });
}

/// Step 2.
fn double_suffix(word: &mut String) {
    let stem = word.strip_suffix("alli");
    if stem.is_some_and(|stem| measure(stem) > 0) {
        // "al" may itself end a double suffix, as in "nationalli".
        word.truncate(word.len() - "li".len());
    }
    apply(word, DOUBLE_SUFFIXES, |stem, ending| match ending {
        // The "l" counts as part of the stem, so "geologi" and "archaeologi" are treated alike.
        "logi" => measure(&format!("{stem}l")) > 0,
        _ => measure(stem) > 0,
    });
}

/// Step 5a.
fn final_e(word: &mut String) {
    apply(word, "e:", |stem, _| match measure(stem) {
        0 => false,
        1 => !ends_short(stem),
        _ => true,
    });
}

/// Step 5b.
fn final_ll(word: &mut String) {
    apply(word, "ll:l", |stem, _| measure(&format!("{stem}l")) > 1);
}

/// Returns `true` for each letter that is a vowel. A "y" is a vowel after a consonant, and a consonant elsewhere.
fn vowels(word: &str) -> impl Iterator<Item = bool> {
    word.chars().scan(true, |is_vowel, letter| {
        *is_vowel = match letter {
            'y' => !*is_vowel,
            letter => matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u'),
        };
        Some(*is_vowel)
    })
}

/// Porter's m: the number of vowels that are followed by a consonant.
fn measure(stem: &str) -> usize {
    let after = vowels(stem).skip(1);
    vowels(stem)
        .zip(after)
        .filter(|pair| *pair == (true, false))
        .count()
}

fn ends_with_double_consonant(word: &str) -> bool {
    let mut backwards = word.chars().rev();
    let (last, before) = (backwards.next(), backwards.next());
    last.is_some() && last == before && vowels(word).last() == Some(false)
}

/// Porter's *o: ends with a consonant, a vowel and a consonant other than w, x and y, as in "hop";
/// here also a vowel and a consonant alone.
fn ends_short(word: &str) -> bool {
    match vowels(word).collect::<Vec<_>>()[..] {
        [.., false, true, false] => !word.ends_with(['w', 'x', 'y']),
        [true, false] => true,
        _ => false,
    }
}
