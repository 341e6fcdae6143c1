//! The `#[eval]` macro, which turns a program into a test with gates.
//!
//! The steps are attr -> gate -> check -> expand.

mod attr;
mod check;
mod expand;
mod gate;
mod metrics;
mod params;
mod rules;

use proc_macro2::TokenStream;
use quote::quote;

use crate::shared::errors::Errors;
use crate::shared::function::item::Function;

/// Expands `#[eval(args)] item`.
pub(crate) fn expand(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let attrs = attr::EvalAttrs::parse(args, &mut errors);
    let Some(mut function) = Function::parse_for("eval", item.clone(), &mut errors) else {
        let errors = errors.finish();
        return quote!(#item #errors);
    };
    let params = params::take(&mut function, &attrs, &mut errors);
    check::check(&function, &attrs, &params, &mut errors);
    let stripped = function.stripped();
    if !errors.is_empty() {
        let errors = errors.finish();
        // No test calls the program.
        return quote!(#[allow(dead_code)] #stripped #errors);
    }
    let test = expand::expand(&function, &attrs, &params);
    quote!(#stripped #test)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use quote::quote;

    /// Formats code with rustfmt.
    fn formatted(code: &str) -> String {
        let mut rustfmt = Command::new("rustfmt")
            .args(["--edition", "2024"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("rustfmt is a component of the toolchain; run `rustup component add rustfmt`");
        rustfmt
            .stdin
            .take()
            .unwrap()
            .write_all(code.as_bytes())
            .unwrap();
        let output = rustfmt.wait_with_output().unwrap();
        assert!(output.status.success(), "{code}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn an_eval_expands_to_fewer_than_90_lines() {
        let args = quote! {
            devset = "evals/capitals.jsonl",
            metrics(AnswerExactMatch, f1, PoliteJudge::default().with_lm(lm())),
            gate(
                f1 >= 0.80,
                lower(f1) >= 0.75,
                polite >= 0.95,
                answer_exact_match.no_worse(by = 0.02),
                each("topic", f1 >= 0.7)
            ),
            repeats = 3, budget = "50 sat", timeout = "30 s", baseline
        };
        let item = quote! {
            async fn capitals(question: String) -> Result<Prediction, Error> {
                answer_with_model(&question).await
            }
        };
        let expansion = formatted(&super::expand(args, &item).to_string());
        assert!(!expansion.contains("compile_error"), "{expansion}");
        assert!(expansion.contains("fn capitals_eval()"), "{expansion}");
        let lines = expansion.lines().count();
        assert!(lines < 90, "{lines} lines:\n{expansion}");
    }
}
