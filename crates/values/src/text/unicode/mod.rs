//! Unicode properties of characters, normal forms, and scripts without spaces.

mod classes;
mod form;
mod lowered;
mod scripts;
mod tables;

pub use classes::digit_value;
pub(super) use classes::{
    DprClass, dpr_class, fold_case, is_invisible, is_mark, is_punctuation, is_space,
    is_superscript, is_symbol, is_vulgar_fraction, is_word, lower, nfd, sigma_is_final,
};
pub use form::NormalForm;
pub(super) use lowered::{Lowered, combining_class};
pub(super) use scripts::{piece_ranges, written_without_spaces};
