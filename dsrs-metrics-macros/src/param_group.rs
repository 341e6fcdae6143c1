//! `#[derive(ParamGroup)]`: a struct of parameters that several metrics share. The struct is lowered to a function whose
//! parameters are its fields: parse -> model -> check -> expand.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Data, DeriveInput, Field, Fields};

use crate::shared::attributes::is_cfg;
use crate::shared::attrs::{Attribute, Key};
use crate::shared::derive_input::{crate_path, named_fields};
use crate::shared::errors::Errors;
use crate::shared::function::check::check_params;
use crate::shared::function::expand::group;
use crate::shared::function::item::Function;
use crate::shared::function::model::Model;
use crate::shared::function::param::{Config, Param};
use crate::shared::settings::Settings;
use crate::shared::tokens::{as_written, find};
use crate::shared::types::{Form, option_of};

/// Expands `#[derive(ParamGroup)]`.
pub(crate) fn expand(input: &DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let Some(model) = model(input, &mut errors) else {
        return errors.finish();
    };
    check(input, &model, &mut errors);
    if errors.is_empty() {
        return group::expand(&model);
    }
    let is_generic = !input.generics.params.is_empty();
    let (stub, errors) = ((!is_generic).then(|| group::stub(&model)), errors.finish());
    quote!(#stub #errors)
}

/// `#[param_group(crate = path)]` on the struct.
#[derive(Default)]
struct StructAttrs(Settings);

impl AsMut<Settings> for StructAttrs {
    fn as_mut(&mut self) -> &mut Settings {
        &mut self.0
    }
}

impl Attribute for StructAttrs {
    const NAME: &'static str = "`#[param_group]`";
    const EXAMPLE: &'static str = "crate = ::dsrs_metrics";
    const KEYS: &'static [Key<Self>] = &[Key::CRATE];
}

/// Returns the model of a function with the struct's name, visibility and `cfg`s, and its fields as parameters.
fn model(input: &DeriveInput, errors: &mut Errors) -> Option<Model> {
    let krate = crate_path::<StructAttrs>(&input.attrs, "param_group", errors);
    let (vis, ident) = (&input.vis, &input.ident);
    let cfgs = input.attrs.iter().filter(|attr| is_cfg(attr));
    let params = fields(input, errors)
        .into_iter()
        .map(|field| param(field, errors));
    let params: Vec<_> = params.collect();
    let function = quote_spanned!(ident.span()=> #(#cfgs)* #vis fn #ident(#(#params),*) {});
    let function = Function::parse(function, errors)?;
    let attrs = Settings {
        struct_name: Some(ident.clone()),
        krate,
        ..Settings::default()
    };
    Some(Model::new(function, attrs, errors))
}

fn fields<'a>(input: &'a DeriveInput, errors: &mut Errors) -> Vec<&'a Field> {
    let message = |found: &str| {
        format!(
            "expected a struct with named fields, found {found}; write `struct {} {{ case_sensitive: bool }}`, because each field is a parameter",
            input.ident
        )
    };
    if let Data::Struct(data) = &input.data
        && matches!(&data.fields, Fields::Named(fields) if fields.named.is_empty())
    {
        errors.at(&input.ident, message("no field"));
    }
    named_fields(input, message, errors)
}

/// Returns a field as a parameter of the function. `#[param]` without arguments can be omitted.
fn param(field: &Field, errors: &mut Errors) -> TokenStream {
    let Field {
        attrs, ident, ty, ..
    } = field;
    for cfg in attrs.iter().filter(|attr| is_cfg(attr)) {
        errors.at(
            cfg,
            "`cfg` is not supported on a field of a parameter struct; write it on the struct",
        );
    }
    let ours = attrs
        .iter()
        .filter(|it| it.path().is_ident("doc") || it.path().is_ident("param"));
    let is_bare = !attrs.iter().any(|attr| attr.path().is_ident("param"));
    let role = is_bare.then(|| quote!(#[param]));
    quote!(#(#ours)* #role #ident: #ty)
}

fn check(input: &DeriveInput, model: &Model, errors: &mut Errors) {
    if !input.generics.params.is_empty() {
        let found = as_written(&input.generics);
        errors.at(&input.generics, format!("a parameter struct cannot have lifetimes or type parameters; remove `{found}`, and write owned types such as `String`"));
    }
    check_params(&model.params, errors);
    let fields = match &input.data {
        Data::Struct(data) => data.fields.iter(),
        _ => return,
    };
    for (field, (_, param, config)) in fields.zip(model.configs()) {
        check_field(param, config, errors);
        if config.default.is_none() && option_of(&param.ty).is_none() && !has_other_key(field) {
            let name = &param.ident;
            let name = name.as_ref().map(ToString::to_string).unwrap_or_default();
            errors.at_span(param.span, format!("the parameter `{name}` has no default; write `#[param(default = ..)]`, or move a required parameter to the metric functions"));
        }
    }
}

/// Returns `true` if a field has a key other than `into`: `default`, or an unknown one, which is reported.
fn has_other_key(field: &Field) -> bool {
    let keys = field
        .attrs
        .iter()
        .filter(|attr| attr.path().is_ident("param"));
    keys.filter_map(|attr| attr.meta.require_list().ok())
        .any(|list| find(list.tokens.clone(), &|word| word != "into").is_some())
}

fn check_field(param: &Param, config: &Config, errors: &mut Errors) {
    let ty = &param.ty;
    if config.is_group {
        let span = config
            .default
            .as_ref()
            .map_or_else(Span::call_site, |flatten| flatten.span);
        errors.at_span(span, "`flatten` is not supported inside a parameter struct; add a second `#[param(flatten)]` to each metric function");
    }
    let (form, is_option) = Form::of(ty);
    if form.is_borrowed() {
        let owned = match &form {
            Form::Text => "String".to_owned(),
            Form::Slice(item) => format!("Vec<{}>", as_written(item)),
            Form::Raw => "serde_json::Value".to_owned(),
            Form::Ref(inner) | Form::Owned(inner) => as_written(inner),
        };
        let owned = if is_option {
            format!("Option<{owned}>")
        } else {
            owned
        };
        let found = as_written(ty);
        errors.at(ty, format!("expected an owned type for a field of a parameter struct, found `{found}`; write `{owned}`"));
    }
}
