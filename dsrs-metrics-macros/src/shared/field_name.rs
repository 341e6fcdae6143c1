//! Field names as types.

use proc_macro2::{Literal, Span, TokenStream};
use quote::quote_spanned;

/// The number of bytes that one constant holds of a field name.
const WIDTH: usize = 16;

/// Returns a field name as a type: its UTF-8 bytes in constants of sixteen bytes. The last constant is padded with
/// `0xff`, which never occurs in UTF-8.
pub(crate) fn name_type(name: &str, private: &TokenStream, span: Span) -> TokenStream {
    let parts = name.as_bytes().chunks(WIDTH).map(|bytes| {
        let mut packed = [0xff; WIDTH];
        packed[..bytes.len()].copy_from_slice(bytes);
        let packed = Literal::u128_unsuffixed(u128::from_be_bytes(packed));
        quote_spanned!(span=> #private::Name<#packed>)
    });
    let parts: Vec<_> = parts.collect();
    match &parts[..] {
        [part] => part.clone(),
        parts => quote_spanned!(span=> (#(#parts,)*)),
    }
}
