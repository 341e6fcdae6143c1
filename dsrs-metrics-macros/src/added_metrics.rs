//! The metrics in `dsrs_metrics::main![..]`, each named by its function or struct, as in a composite.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse as _, ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Error, Path, Token, Type, token};

use crate::shared::errors::Errors;
use crate::shared::list;
use crate::shared::names::name_struct;
use crate::shared::tokens::as_written;

/// Expands `registry, first, second` to calls of `registry.add`.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let parser = |input: ParseStream<'_>| {
        let registry = input.parse::<Ident>()?;
        input.parse::<Token![,]>()?;
        Ok((registry, input.parse::<TokenStream>()?))
    };
    match parser.parse2(input) {
        Ok((registry, metrics)) => calls(&registry, metrics),
        Err(error) => error.into_compile_error(),
    }
}

fn calls(registry: &Ident, metrics: TokenStream) -> TokenStream {
    let (mut errors, mut calls) = (Errors::default(), TokenStream::new());
    list::for_each(metrics, &mut errors, |input, _, _| {
        let metric = metric(input)?;
        calls.extend(quote_spanned!(metric.span()=> #registry.add::<#metric>()?;));
        Ok(())
    });
    let errors = errors.finish();
    quote!({ #calls #errors ::core::result::Result::Ok(()) })
}

fn metric(input: ParseStream<'_>) -> syn::Result<Type> {
    let ahead = input.fork();
    if let Ok(path) = Path::parse_mod_style(&ahead)
        && ahead.peek(token::Paren)
    {
        let (name, last) = (as_written(&path), path.segments.last());
        let last = last.map(|last| last.ident.to_string()).unwrap_or_default();
        let message = format!(
            "parameters are not supported in `main!`; write `{name}` alone, and set them with `--param {last}.name=VALUE`"
        );
        return Err(Error::new_spanned(path, message));
    }
    let mut metric = Type::parse(input)?;
    if let Type::Path(path) = &mut metric {
        name_struct(&mut path.path);
    }
    Ok(metric)
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::expand;

    #[test]
    fn a_metric_is_named_by_its_function_or_its_struct() {
        let found = expand(quote!(
            registry,
            short,
            crate::rag::entity_f1,
            Em,
            Within<3>
        ));
        let expected = quote!({
            registry.add::<Short>()?;
            registry.add::<crate::rag::EntityF1>()?;
            registry.add::<Em>()?;
            registry.add::<Within<3>>()?;
            ::core::result::Result::Ok(())
        });
        let [found, expected] = [found, expected].map(|tokens| tokens.to_string().replace(' ', ""));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_parameter_is_a_mistake_and_the_other_metrics_are_still_added() {
        let found = expand(quote!(registry, short(max = 3), em)).to_string();
        let message = "parameters are not supported in `main!`; write `short` alone, and set them with `--param short.name=VALUE`";
        assert!(found.contains(message), "{found}");
        assert!(
            found.contains(&quote!(registry.add::<Em>()?;).to_string()),
            "{found}"
        );
    }
}
