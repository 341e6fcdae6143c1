//! Collects every mistake of an item, so that all are reported at once, each at its own token.

use std::fmt::Display;

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The mistakes found so far. Must be emptied with [`Errors::finish`]: one that is dropped with
/// mistakes in it would lose them, so that is a panic of the macro.
#[derive(Default)]
pub(crate) struct Errors {
    found: Option<syn::Error>,
}

impl Errors {
    pub(crate) fn push(&mut self, error: syn::Error) {
        match &mut self.found {
            Some(found) => found.combine(error),
            None => self.found = Some(error),
        }
    }

    /// A mistake at these tokens.
    pub(crate) fn at(&mut self, tokens: impl ToTokens, message: impl Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// A mistake at this place.
    pub(crate) fn at_span(&mut self, span: Span, message: impl Display) {
        self.push(syn::Error::new(span, message));
    }

    /// The value, or `None` after noting the mistake.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_none()
    }

    /// `compile_error!` for each mistake.
    pub(crate) fn finish(mut self) -> TokenStream {
        self.found.take().map(syn::Error::into_compile_error).unwrap_or_default()
    }
}

impl Drop for Errors {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.found.is_none(), "mistakes were found but not reported");
        }
    }
}
