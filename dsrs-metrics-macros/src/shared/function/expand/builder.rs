//! The builder of a metric with parameters. `build` compiles only if every parameter without a
//! default is set; the error names the missing one.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Type;
use syn::ext::IdentExt as _;

use super::context::Context;
use super::definition::{default_fn, docs, is_unit, marker, marker_value};
use super::fields;
use super::spec::group_item;
use crate::shared::function::param::Param;
use crate::shared::names::upper_camel;
use crate::shared::types::{Form, is_string, option_of, ungrouped, vec_of};

/// A parameter in the builder.
struct Slot<'a> {
    name: &'a Ident,
    param: &'a Param,
    /// The type parameter for the state of a required parameter, and the trait that `build` requires of it. `None` if
    /// the parameter has a default.
    required: Option<(Ident, Ident)>,
    default: Option<Ident>,
    /// `true` if the setter accepts every type that converts into the parameter's type.
    into: bool,
}

fn slots<'a>(cx: &'a Context<'_>) -> Vec<Slot<'a>> {
    let slot = |(name, param, config)| {
        let default = default_fn(cx, name, param, config);
        let into = config.into;
        let camel = upper_camel(&name.unraw().to_string());
        let state = Ident::new(&cx.fresh.name(&format!("{camel}State")), cx.span);
        let required = format_ident!("{}Has{camel}", cx.ident, span = cx.span);
        Slot {
            name,
            param,
            required: default.is_none().then_some((state, required)),
            default,
            into,
        }
    };
    cx.model.configs().map(slot).collect()
}

fn states(slots: &[Slot<'_>]) -> Vec<Ident> {
    slots
        .iter()
        .filter_map(|slot| Some(slot.required.as_ref()?.0.clone()))
        .collect()
}

/// Returns the type parameters of the builder, one for each required parameter.
pub(super) fn params(cx: &Context<'_>) -> Vec<Ident> {
    states(&slots(cx))
}

fn ident(cx: &Context<'_>) -> Ident {
    format_ident!("{}Builder", cx.ident, span = cx.span)
}

/// Returns the type of a builder before any parameter is set.
pub(super) fn unstarted(cx: &Context<'_>) -> TokenStream {
    let (builder, (_, ty_generics, _)) = (ident(cx), cx.split());
    let arguments = fields::inside(&ty_generics);
    let missing = states(&slots(cx))
        .into_iter()
        .map(|_| quote_spanned!(cx.span=> Missing));
    quote_spanned!(cx.span=> #builder<#arguments #(#missing),*>)
}

/// Emits the builder's struct.
pub(super) fn definition(cx: &Context<'_>) -> TokenStream {
    if is_unit(cx) {
        return TokenStream::new();
    }
    let Context { span, model, .. } = cx;
    let (slots, builder) = (slots(cx), ident(cx));
    let (cfgs, debug_cfgs) = (cx.cfgs(), cx.cfgs());
    let doc = format!("Builds [`{}`].", cx.ident);
    if model.has_only_a_panel() {
        let (vis, runtime, metric) = (&model.function.vis, &cx.runtime, cx.ident);
        return quote_spanned! {*span=>
            #(#cfgs)*
            #[doc = #doc]
            #vis type #builder = #runtime::judge::JudgeBuilder<#metric>;
        };
    }
    let name = builder.to_string();
    let (_, ty_generics, _) = cx.split();
    let arguments = fields::inside(&ty_generics);
    let vis = &model.function.vis;
    let (params, (_, _, where_clause)) = (fields::trailing(&cx.generics), cx.split());
    let states = states(&slots);
    let fields = slots.iter().map(|slot| {
        let (name, owner) = (slot.name, cx.owner(slot.param));
        quote_spanned!(*span=> #name: ::core::option::Option<#owner>)
    });
    let marker = marker(cx);
    quote_spanned! {*span=>
        #(#cfgs)*
        #[doc = #doc]
        #[must_use = "a builder does nothing before `build`"]
        #vis struct #builder<#params #(#states),*> #where_clause {
            #(#fields,)*
            __given: ::core::marker::PhantomData<fn() -> (#(#states,)*)>,
            #marker
        }
        #(#debug_cfgs)*
        #[automatically_derived]
        impl<#params #(#states),*> ::core::fmt::Debug for #builder<#arguments #(#states),*> #where_clause {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.debug_struct(#name).finish_non_exhaustive()
            }
        }
    }
}

/// Emits `builder`, the setters, and `build`.
pub(super) fn impls(cx: &Context<'_>) -> TokenStream {
    if is_unit(cx) {
        return TokenStream::new();
    }
    let Context {
        span,
        ident: metric,
        ..
    } = cx;
    let (slots, builder) = (slots(cx), ident(cx));
    let states = states(&slots);
    let vis = &cx.model.function.vis;
    if cx.model.has_only_a_panel() {
        let panel = slots.iter().map(|slot| slot.name);
        let runtime = &cx.runtime;
        return quote_spanned! {*span=>
            impl #metric {
                /// Returns a builder for the metric.
                #vis fn builder() -> #builder {
                    #runtime::judge::JudgeBuilder::new(|panel| Self { #(#panel: panel)* })
                }
            }
        };
    }
    let (impl_generics, ty_generics, where_clause) = cx.split();
    let params = fields::trailing(&cx.generics);
    let arguments = fields::inside(&ty_generics);
    let unstarted = unstarted(cx);
    let names = slots.iter().map(|slot| slot.name);
    let marker = marker_value(cx);
    let required_traits = required_traits(cx, &slots);
    let setters = slots.iter().map(|slot| setter(cx, &slots, slot));
    let (build, groups) = (build(cx, &slots), groups(cx, &slots));
    quote_spanned! {*span=>
        #required_traits
        #groups

        impl #impl_generics #metric #ty_generics #where_clause {
            /// Returns a builder for the metric.
            #vis fn builder() -> #unstarted {
                #builder {
                    #(#names: ::core::option::Option::None,)*
                    __given: ::core::marker::PhantomData,
                    #marker
                }
            }
        }

        impl<#params #(#states),*> #builder<#arguments #(#states),*> #where_clause {
            #(#setters)*
            #build
        }
    }
}

/// For each struct of parameters, emits the impl that adds its setters to the builder.
fn groups(cx: &Context<'_>, slots: &[Slot<'_>]) -> TokenStream {
    let Context { span, private, .. } = cx;
    let (builder, states) = (ident(cx), states(slots));
    let params = fields::trailing(&cx.generics);
    let (_, ty_generics, where_clause) = cx.split();
    let arguments = fields::inside(&ty_generics);
    let groups = cx.model.groups().map(|(name, param)| {
        let (owner, defaults) = (cx.owner(param), group_item(cx, param, "defaults"));
        quote_spanned! {*span=>
            impl<#params #(#states),*> #private::HasParams<#owner> for #builder<#arguments #(#states),*> #where_clause {
                fn params_mut(&mut self) -> &mut #owner {
                    self.#name.get_or_insert_with(|| #defaults())
                }
            }
        }
    });
    groups.collect()
}

/// For each required parameter, emits the trait that its state implements once it is set.
fn required_traits(cx: &Context<'_>, slots: &[Slot<'_>]) -> TokenStream {
    let Context { span, .. } = cx;
    let (metric, component) = (&cx.model.names.metric, &cx.model.names.component);
    let vis = &cx.model.function.vis;
    let traits: Vec<_> = slots
        .iter()
        .filter_map(|slot| {
            let (name, required) = (slot.name, &slot.required.as_ref()?.1);
            let message = format!("missing value for the parameter `{name}` of metric `{metric}`");
            let label = format!("missing `{name}`");
            let note = format!(
                "write `.{name}(..)` before `.build()`, or `{component}({name} = ..)` in a composite"
            );
            Some(quote_spanned! {*span=>
                #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
                #vis trait #required {}
                impl #required for Given {}
            })
        })
        .collect();
    if traits.is_empty() {
        return TokenStream::new();
    }
    quote_spanned! {*span=>
        #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
        #vis struct Missing;
        #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
        #vis struct Given;
        #(#traits)*
    }
}

fn setter(cx: &Context<'_>, slots: &[Slot<'_>], slot: &Slot<'_>) -> TokenStream {
    let Context { span, .. } = cx;
    let vis = &cx.model.function.vis;
    let (name, docs) = (slot.name, docs(slot.name, slot.param));
    let (ty, value) = argument(cx, slot.param, slot.into);
    let Some((state, _)) = &slot.required else {
        return quote_spanned! {*span=>
            #(#docs)*
            #vis fn #name(mut self, value: #ty) -> Self {
                self.#name = ::core::option::Option::Some(#value);
                self
            }
        };
    };
    let (builder, (_, ty_generics, _)) = (ident(cx), cx.split());
    let arguments = fields::inside(&ty_generics);
    let states = slots.iter().filter_map(|other| {
        let other = &other.required.as_ref()?.0;
        Some(if other == state {
            quote_spanned!(*span=> Given)
        } else {
            quote!(#other)
        })
    });
    let others = slots
        .iter()
        .map(|slot| slot.name)
        .filter(|other| *other != name);
    let marker = marker_value(cx);
    quote_spanned! {*span=>
        #(#docs)*
        #vis fn #name(self, value: #ty) -> #builder<#arguments #(#states),*> {
            #builder {
                #name: ::core::option::Option::Some(#value),
                #(#others: self.#others,)*
                __given: ::core::marker::PhantomData,
                #marker
            }
        }
    }
}

/// Returns the type of a setter's argument, and its conversion to the parameter's type.
pub(super) fn argument(cx: &Context<'_>, param: &Param, into: bool) -> (TokenStream, TokenStream) {
    match option_of(&param.ty) {
        _ if into => converted(cx, &cx.owner(param)),
        Some(inner) => {
            let (ty, value) = setter_argument(cx, inner);
            (
                ty,
                quote_spanned!(cx.span=> ::core::option::Option::Some(#value)),
            )
        }
        None => {
            let (ty, value) = setter_argument(cx, &param.ty);
            (if ty.is_empty() { cx.owner(param) } else { ty }, value)
        }
    }
}

/// Returns the argument type of a setter, and its conversion to the owning type. Strings and lists are accepted as
/// `impl Into` or `impl IntoIterator`. Numbers are accepted only as their own type, to keep literals unambiguous.
fn setter_argument(cx: &Context<'_>, ty: &Type) -> (TokenStream, TokenStream) {
    let Context { span, private, .. } = cx;
    let (form, _) = Form::of(ty);
    let owner = if form.is_borrowed() {
        form.owner(private)
    } else {
        quote!(#ty)
    };
    let converts = [
        "String", "Vec", "PathBuf", "Box", "Arc", "Rc", "Cow", "Value",
    ];
    let named = match ungrouped(ty) {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    };
    let is_converted = matches!(form, Form::Text | Form::Slice(_) | Form::Raw)
        || named.is_some_and(|name| converts.contains(&name.as_str()));
    if is_list_of_strings(&form) {
        // Accepts `["a", "b"]` as well as an iterator of `String`.
        let texts = quote_spanned! {*span=>
            impl ::core::iter::IntoIterator<Item = impl ::core::convert::Into<#private::string::String>>
        };
        let collected = quote_spanned! {*span=>
            ::core::iter::IntoIterator::into_iter(value).map(::core::convert::Into::into).collect()
        };
        return (texts, collected);
    }
    if is_converted {
        converted(cx, &owner)
    } else {
        (owner, quote_spanned!(*span=> value))
    }
}

/// Returns the argument type of a setter that accepts every type that converts into `owner`, and the conversion.
fn converted(cx: &Context<'_>, owner: &TokenStream) -> (TokenStream, TokenStream) {
    let into = quote_spanned!(cx.span=> impl ::core::convert::Into<#owner>);
    (
        into,
        quote_spanned!(cx.span=> ::core::convert::Into::into(value)),
    )
}

/// Returns `true` if the type is `&[String]` or `Vec<String>`.
fn is_list_of_strings(form: &Form<'_>) -> bool {
    match form {
        Form::Slice(item) => is_string(item),
        Form::Owned(ty) => vec_of(ty).is_some_and(is_string),
        _ => false,
    }
}

fn build(cx: &Context<'_>, slots: &[Slot<'_>]) -> TokenStream {
    let Context {
        span,
        ident: metric,
        ..
    } = cx;
    let vis = &cx.model.function.vis;
    let (_, ty_generics, _) = cx.split();
    let bounds = slots.iter().filter_map(|slot| {
        let (state, required) = slot.required.as_ref()?;
        Some(quote_spanned!(*span=> #state: #required,))
    });
    let turbofish = ty_generics.as_turbofish();
    let values = slots.iter().map(|slot| {
        let name = slot.name;
        let absent = match &slot.default {
            Some(default) => quote_spanned!(*span=> #metric #turbofish::#default()),
            None => quote_spanned!(*span=> ::core::unreachable!()),
        };
        quote_spanned! {*span=>
            #name: match self.#name {
                ::core::option::Option::Some(value) => value,
                ::core::option::Option::None => #absent,
            }
        }
    });
    let marker = marker_value(cx);
    quote_spanned! {*span=>
        /// Builds the metric.
        #[must_use]
        #vis fn build(self) -> #metric #ty_generics
        where
            #(#bounds)*
        {
            #metric { #(#values,)* #marker }
        }
    }
}
