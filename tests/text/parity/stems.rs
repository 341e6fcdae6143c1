//! Replays the committed stems of some 40,000 words by nltk's stemmer, which rouge-score uses.

use dsrs_metrics::text::{RougeOptions, RougeTokens};

const VECTORS: &[u8] = include_bytes!("../../parity/stem_vectors.tsv.gz");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/make_stem_vectors.py");

#[test]
fn stems_agree_with_nltk() {
    let options = RougeOptions {
        tokens: RougeTokens::Unicode,
        use_stemmer: true,
    };
    let (mut compared, mut different) = (0, Vec::new());
    for line in dsrs_metrics_tests::lines(VECTORS) {
        let (word, stem) = line.split_once('\t').expect("a word and its stem a line");
        let found = options.words(word);
        if found != [stem] {
            different.push(format!("{word}: {found:?}, not {stem}"));
        }
        compared += 1;
    }
    assert_eq!((compared, different), (42_499, Vec::new()));
}

#[test]
fn nltk_still_returns_the_stems() {
    let Some(peer) = super::metrics::peers() else {
        return;
    };
    assert_eq!(peer.check(SCRIPT), "42499 words, as committed");
}
