//! Unicode normal forms: whether "é" as one code point equals "é" as two.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfc_quick, is_nfkc_quick};

/// The Unicode normal form in which strings are compared.
///
/// ```
/// use dsrs_metrics::text::NormalForm;
///
/// assert_eq!(NormalForm::Nfc.apply("e\u{301}"), "é");
/// assert_eq!(NormalForm::Nfkc.apply("ﬁｎｅ"), "fine");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NormalForm {
    /// Code point by code point, as the Python packages compare: composed "é" and decomposed "é"
    /// differ.
    AsIs,
    /// Canonical composition: composed and decomposed letters are equal.
    #[default]
    Nfc,
    /// Compatibility composition: also ligatures, full-width letters, superscripts.
    Nfkc,
}

impl NormalForm {
    /// Returns the string in this form, borrowed if it already is.
    pub fn apply(self, text: &str) -> Cow<'_, str> {
        let quick = |answer: IsNormalized| answer == IsNormalized::Yes;
        match self {
            _ if text.is_ascii() => Cow::Borrowed(text),
            Self::AsIs => Cow::Borrowed(text),
            Self::Nfc if quick(is_nfc_quick(text.chars())) => Cow::Borrowed(text),
            Self::Nfc => Cow::Owned(text.nfc().collect()),
            Self::Nfkc if quick(is_nfkc_quick(text.chars())) => Cow::Borrowed(text),
            Self::Nfkc => Cow::Owned(text.nfkc().collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::NormalForm::{AsIs, Nfc, Nfkc};

    #[test]
    fn a_string_in_its_form_is_borrowed_and_another_is_composed() {
        for (form, text, composed) in [
            (AsIs, "e\u{301}", "e\u{301}"),
            (Nfc, "é", "é"),
            (Nfc, "e\u{301}", "é"),
            (Nfc, "ﬁ", "ﬁ"),
            (Nfkc, "é", "é"),
            (Nfkc, "e\u{301}", "é"),
            (Nfkc, "ﬁ", "fi"),
        ] {
            let applied = form.apply(text);
            assert_eq!(applied, composed);
            assert_eq!(
                matches!(applied, Cow::Borrowed(_)),
                text == composed,
                "{form:?} {text}"
            );
        }
    }
}
