//! The two halves of a gate, as written: proxies with their bound, and truths.

use proc_macro2::TokenStream;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Error, Expr, Ident, Token, token};

use super::expression::{Gate, Part, content, number, parts};
use crate::errors::Errors;
use crate::list;

/// `proxy(..) >= 0.5` or `truth(..)`, as far as it was understood.
#[derive(Default)]
struct Halves {
    proxies: Option<(Vec<Part>, Option<Expr>)>,
    truths: Option<Vec<Part>>,
    broken: bool,
}

impl Gate {
    pub(super) fn parse(
        word: Ident,
        content: TokenStream,
        errors: &mut Errors,
    ) -> syn::Result<Self> {
        let mut halves = Halves::default();
        list::for_each(content, errors, |input, seen, errors| {
            let read = halves.half(input, seen, errors);
            halves.broken |= read.is_err();
            read
        });
        let at = |message: &str| Error::new(word.span(), message);
        let incomplete = match &halves {
            Halves { broken: true, .. } => None,
            Halves { proxies: None, .. } => {
                Some("the gate has no proxies: write `gate(proxy(cheap) >= 0.5, truth(dear))`")
            }
            Halves { truths: None, .. } => {
                Some("the gate leads to nothing: write `gate(proxy(cheap) >= 0.5, truth(dear))`")
            }
            _ => None,
        };
        if let Some(message) = incomplete {
            return Err(at(message));
        }
        let (proxies, at_least) = halves.proxies.unwrap_or_default();
        let truths = halves.truths.unwrap_or_default();
        let at_least = at_least.unwrap_or_else(|| syn::parse_quote!(0.5));
        Ok(Self { word, proxies, at_least, truths })
    }
}

impl Halves {
    fn half(
        &mut self,
        input: ParseStream<'_>,
        seen: &mut list::Seen,
        errors: &mut Errors,
    ) -> syn::Result<()> {
        let expects = "a gate has two halves: write `gate(proxy(cheap) >= 0.5, truth(dear))`";
        let word = input.call(Ident::parse_any).map_err(|_| input.error(expects))?;
        let is_proxy = match word.to_string().as_str() {
            "proxy" | "proxies" => true,
            "truth" | "truths" => false,
            _ => return Err(Error::new(word.span(), expects)),
        };
        let right = if is_proxy { "proxy" } else { "truth" };
        if word != right || !input.peek(token::Paren) {
            return Err(Error::new(word.span(), format!("write `{right}(..)`")));
        }
        seen.note(&word, errors);
        let content = content(input)?;
        if content.is_empty() {
            let message = format!("`{word}` has no parts: write `{word}(name)`");
            return Err(Error::new(word.span(), message));
        }
        let (parts, _) = parts(content, errors);
        if !is_proxy {
            self.truths = Some(parts);
            return self.no_bound(input);
        }
        if !input.peek(Token![>=]) {
            let message = "from where on do the proxies pass? write `proxy(..) >= 0.5`";
            return Err(Error::new(word.span(), message));
        }
        let operator = input.parse::<Token![>=]>()?;
        self.proxies = Some((parts, Some(number(&operator, input, "proxy(..) >= 0.5")?)));
        Ok(())
    }

    fn no_bound(&self, input: ParseStream<'_>) -> syn::Result<()> {
        if list::at_end(input) || input.peek(Ident::peek_any) {
            return Ok(());
        }
        Err(input.error("truths are behind the gate, where nothing waits for a bound; for one on the whole write `threshold = 0.5` behind the gate"))
    }
}
