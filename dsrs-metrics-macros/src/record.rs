//! `#[derive(Record)]`: for each named field of a struct, implements the type-level field that metrics read.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{DeriveInput, Field, GenericParam, Generics, LitStr};

use crate::shared::attrs::{self, Attribute, Key, Kind};
use crate::shared::derive_input::{arguments, crate_path, named_fields};
use crate::shared::errors::Errors;
use crate::shared::field_name::name_type;
use crate::shared::names::runtime;
use crate::shared::settings::Settings;
use crate::shared::tokens::as_written;

/// Expands `#[derive(Record)]`.
pub(crate) fn expand(input: &DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let krate = crate_path::<StructAttrs>(&input.attrs, "record", &mut errors);
    let fields = fields(input, &mut errors);
    let runtime = runtime(krate.as_ref(), input.ident.span());
    let mut generics = input.generics.clone();
    for param in &mut generics.params {
        match param {
            GenericParam::Type(param) => param.default = None,
            GenericParam::Const(param) => param.default = None,
            GenericParam::Lifetime(_) => {}
        }
    }
    let expansion = Expansion {
        input,
        fields,
        runtime,
        generics,
    };
    if errors.is_empty() {
        expansion.all()
    } else {
        let (stub, errors) = (expansion.stub(), errors.finish());
        quote!(#stub #errors)
    }
}

struct NamedField<'a> {
    name: String,
    field: &'a Field,
}

fn fields<'a>(input: &'a DeriveInput, errors: &mut Errors) -> Vec<NamedField<'a>> {
    let message = |found: &str| {
        format!(
            "expected a struct with named fields, found {found}; write `struct Row {{ answer: String }}`, because metrics look up fields by name"
        )
    };
    let mut named: Vec<NamedField<'a>> = Vec::new();
    for field in named_fields(input, message, errors) {
        let Some(ident) = &field.ident else { continue };
        let FieldAttrs { rename: renamed } = FieldAttrs::parse(&field.attrs, errors);
        let (name, span) = match &renamed {
            Some(rename) => (rename.value(), rename.span()),
            None => (ident.unraw().to_string(), ident.span()),
        };
        if name.is_empty() {
            errors.at_span(span, "empty field name; write the name that metrics use");
        }
        if named.iter().any(|other| other.name == name) {
            errors.at_span(
                span,
                format!("duplicate field name `{name}`; rename one of the fields"),
            );
        }
        named.push(NamedField { name, field });
    }
    named
}

/// `#[record(rename = "..")]` on a field.
#[derive(Default)]
struct FieldAttrs {
    rename: Option<LitStr>,
}

impl Attribute for FieldAttrs {
    const NAME: &'static str = "`#[record]` on a field";
    const EXAMPLE: &'static str = "rename = \"name\"";
    const KEYS: &'static [Key<Self>] = &[Key::new(
        "rename",
        Kind::Text,
        "rename = \"name\"",
        "a string",
        |field, argument, _| argument.value(&mut field.rename),
    )];
}

impl FieldAttrs {
    fn parse(attrs: &[syn::Attribute], errors: &mut Errors) -> Self {
        let mut field = Self::default();
        let alone = "missing arguments for `#[record]`; write `#[record(rename = \"name\")]`";
        for tokens in arguments(attrs, "record", alone, errors) {
            attrs::parse_into(&mut field, tokens, errors);
        }
        field
    }
}

/// `#[record(crate = path)]` on the struct.
#[derive(Default)]
struct StructAttrs(Settings);

impl AsMut<Settings> for StructAttrs {
    fn as_mut(&mut self) -> &mut Settings {
        &mut self.0
    }
}

impl Attribute for StructAttrs {
    const NAME: &'static str = "`#[record]` on a struct";
    const EXAMPLE: &'static str = "crate = ::dsrs_metrics";
    const KEYS: &'static [Key<Self>] = &[Key::CRATE];

    fn unknown(&mut self, word: &Ident, _: Option<&str>, _: ParseStream<'_>) -> Option<String> {
        word.to_string().starts_with("rename").then(|| {
            format!(
                "unexpected `{word}` on a struct; write `#[record(rename = \"name\")]` on a field"
            )
        })
    }
}

struct Expansion<'a> {
    input: &'a DeriveInput,
    fields: Vec<NamedField<'a>>,
    runtime: TokenStream,
    /// The struct's generics without their defaults.
    generics: Generics,
}

impl Expansion<'_> {
    /// After an error, expands to a row that has any field, so its uses cause no further errors.
    fn stub(&self) -> TokenStream {
        let (ident, runtime) = (&self.input.ident, &self.runtime);
        let span = ident.span();
        let (impl_generics, ty_generics, where_clause) = self.generics.split_for_impl();
        let unreachable = quote_spanned!(span=> ::core::unreachable!());
        let reads = self.read(None, &unreachable);
        quote_spanned! {span=>
            const _: () = {
                impl #impl_generics #runtime::Record for #ident #ty_generics #where_clause {
                    const FIELDS: &'static [#runtime::__private::FieldSpec<'static>] = &[];
                }
                #reads
            };
        }
    }

    fn all(&self) -> TokenStream {
        let (ident, runtime) = (&self.input.ident, &self.runtime);
        let span = ident.span();
        let (impl_generics, ty_generics, where_clause) = self.generics.split_for_impl();
        let specs = self.fields.iter().map(|field| {
            let (name, ty) = (&field.name, as_written(&field.field.ty));
            let described = &field.field.ty;
            quote_spanned!(span=> #runtime::__private::FieldSpec::new(#name, #ty, true).with_help({
                use #runtime::__private::FallbackValueType as _;
                #runtime::__private::MaybeValueType::<#described>::HELP
            }))
        });
        let given = self.fields.iter().map(|field| {
            let (name, place) = (&field.name, &field.field.ident);
            quote_spanned! {span=>
                #name => ::core::option::Option::Some((&#runtime::__private::Maybe(&self.#place)).given()),
            }
        });
        let fields = self.fields.iter().map(|field| self.field(field));
        let reads = self.reads();
        quote_spanned! {span=>
            #[doc(hidden)]
            #[allow(unused_imports, unused_qualifications, clippy::all, clippy::pedantic, clippy::nursery)]
            const _: () = {
                #[automatically_derived]
                impl #impl_generics #runtime::Record for #ident #ty_generics #where_clause {
                    const FIELDS: &'static [#runtime::__private::FieldSpec<'static>] = &[#(#specs),*];

                    fn given(
                        &self,
                        name: &::core::primitive::str,
                    ) -> ::core::option::Option<#runtime::__private::Given<'_>> {
                        #[allow(unused_imports)]
                        use #runtime::__private::{FallbackOpaque as _, FallbackSerialize as _};
                        match name {
                            #(#given)*
                            _ => ::core::option::Option::None,
                        }
                    }
                }
                #(#fields)*
                #reads
            };
        }
    }

    fn field(&self, field: &NamedField<'_>) -> TokenStream {
        let (ident, runtime) = (&self.input.ident, &self.runtime);
        let span = ident.span();
        let (impl_generics, ty_generics, where_clause) = self.generics.split_for_impl();
        let private = quote_spanned!(span=> #runtime::__private);
        let name = name_type(&field.name, &private, span);
        let (place, ty) = (field.field.ident.to_token_stream(), &field.field.ty);
        quote_spanned! {span=>
            #[automatically_derived]
            impl #impl_generics #private::Field<#name> for #ident #ty_generics #where_clause {
                type Type = #ty;
                fn field(&self) -> &#ty {
                    &self.#place
                }
            }
        }
    }

    /// Emits `ReadField` for every field and form that the struct's fields support.
    fn reads(&self) -> TokenStream {
        let runtime = &self.runtime;
        let span = self.input.ident.span();
        let bounds = quote_spanned! {span=>
            Self: #runtime::__private::Field<__Name>,
            <Self as #runtime::__private::Field<__Name>>::Type:
                #runtime::__private::Provide<'__row, __Form> + '__row,
        };
        let body = quote_spanned! {span=>
            ::core::result::Result::Ok(#runtime::__private::Provide::<'_, __Form>::provide(
                #runtime::__private::Field::<__Name>::field(self),
            ))
        };
        self.read(Some(&bounds), &body)
    }

    /// Emits `ReadField` for all fields that the bounds allow.
    fn read(&self, bounds: Option<&TokenStream>, body: &TokenStream) -> TokenStream {
        let (ident, runtime) = (&self.input.ident, &self.runtime);
        let span = ident.span();
        let params = &self.generics.params;
        let params = (!params.is_empty()).then(|| quote!(#params,));
        let (_, ty_generics, where_clause) = self.generics.split_for_impl();
        let predicates = where_clause
            .map(|clause| clause.predicates.iter())
            .into_iter()
            .flatten();
        quote_spanned! {span=>
            #[automatically_derived]
            impl<'__row, #params __Name, __Form: #runtime::__private::ReadAs<'__row>>
                #runtime::__private::ReadField<'__row, __Name, __Form> for #ident #ty_generics
            where
                #bounds
                #(#predicates,)*
            {
                fn read_field(
                    &'__row self,
                    _: &#runtime::__private::FieldSpec<'static>,
                ) -> ::core::result::Result<__Form::Output, #runtime::__private::boxed::Box<#runtime::__private::FieldError>> {
                    #body
                }
            }
        }
    }
}
