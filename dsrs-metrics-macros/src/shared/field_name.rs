//! Names of fields as types.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

/// Returns a field name as a type: a tuple of its characters.
pub(crate) fn name_type(name: &str, private: &TokenStream, span: Span) -> TokenStream {
    let chars = name.chars().map(|c| quote_spanned!(span=> #private::Char<#c>));
    quote_spanned!(span=> (#(#chars,)*))
}
