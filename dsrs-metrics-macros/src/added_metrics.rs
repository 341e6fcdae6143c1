//! The metrics in `dsrs_metrics::main![..]`, each named by its function or struct, as in a composite.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::parse::{Parse as _, ParseStream, Parser as _};
use syn::spanned::Spanned as _;
use syn::{Error, Token, Type};

use crate::shared::errors::Errors;
use crate::shared::list;
use crate::shared::meant;
use crate::shared::names::{lower_snake, name_struct};
use crate::shared::tokens::as_written;

/// Expands `registry, first, second` to calls to `registry.add`.
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
    let mut seen = Vec::new();
    list::for_each(metrics, &mut errors, |input, _, _| {
        let metric = metric(input)?;
        let written = as_written(&metric);
        if seen.contains(&written) {
            let message = format!("duplicate metric `{written}`; write it once");
            return Err(Error::new_spanned(metric, message));
        }
        seen.push(written);
        calls.extend(quote_spanned!(metric.span()=> #registry.add::<#metric>()?;));
        Ok(())
    });
    let errors = errors.finish();
    quote!({ #calls #errors ::core::result::Result::Ok(()) })
}

fn metric(input: ParseStream<'_>) -> syn::Result<Type> {
    if input.peek(Token![|]) {
        let found: TokenStream = input.parse()?;
        let message = "expected the name of a metric, found a closure; turn it into a function with `#[metric]`, and write its name here";
        return Err(Error::new_spanned(found, message));
    }
    let found = list::to_comma(&input.fork())?;
    let ahead = input.fork();
    let is_name = matches!(Type::parse(&ahead), Ok(Type::Path(_))) && list::at_end(&ahead);
    if !is_name {
        list::to_comma(input)?;
        return Err(Error::new_spanned(&found, not_a_name(&found)));
    }
    let mut metric = Type::parse(input)?;
    if let Type::Path(path) = &mut metric {
        name_struct(&mut path.path);
    }
    Ok(metric)
}

/// Returns the message for tokens that are not a metric's name.
fn not_a_name(found: &TokenStream) -> String {
    let written = as_written(found);
    let meant = meant::metrics(found).unwrap_or_default();
    let call = syn::parse2::<syn::ExprCall>(found.clone());
    let has_arguments = call.is_ok_and(|call| !call.args.is_empty());
    match (&meant[..], syn::parse2::<syn::ExprAssign>(found.clone())) {
        (_, Ok(assigned)) => {
            let (name, value) = (as_written(&assigned.left), as_written(&assigned.right));
            format!(
                "expected the name of a metric, found `{written}`; write `{name}` alone for a metric, or set a parameter with `--param NAME.{name}={value}`"
            )
        }
        ([metric], _)
            if !metric.args.is_empty() || (has_arguments && written.starts_with(&metric.name)) =>
        {
            let name = &metric.name;
            let last = name.rsplit("::").next().unwrap_or(name);
            let (last, set) = (lower_snake(last), metric.args.first());
            let set = set.map_or_else(
                || "name=VALUE".to_owned(),
                |(key, value)| format!("{key}={value}"),
            );
            format!(
                "parameters are not supported in `main!`; write `{name}` alone, and set them with `--param {last}.{set}`"
            )
        }
        ([], _) => format!(
            "expected the name of a metric, found `{written}`; write the name of its function or struct"
        ),
        (meant, _) => {
            let names: Vec<_> = meant.iter().map(|metric| &*metric.name).collect();
            format!(
                "expected the name of a metric, found `{written}`; write `main![{}]`",
                names.join(", ")
            )
        }
    }
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
