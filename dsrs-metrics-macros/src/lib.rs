//! The macros of dsrs-metrics.
use proc_macro::TokenStream;

#[proc_macro_attribute]
#[allow(missing_docs)]
pub fn metric(_args: TokenStream, item: TokenStream) -> TokenStream {
    item
}

#[proc_macro_derive(Record, attributes(record))]
#[allow(missing_docs)]
pub fn record(_item: TokenStream) -> TokenStream {
    TokenStream::new()
}
