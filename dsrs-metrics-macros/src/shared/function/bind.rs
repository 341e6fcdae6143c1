//! Binds each parameter, by its attribute or by its name and type.
//!
//! The file is long because each mistake in a parameter has its own message.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt as _;
use syn::{PatType, Type, TypeReference};

use super::param::{Binding, Config, FieldParam};
use super::role::{DefaultValue, Role, RoleAttr};
use super::side::Side;
use crate::shared::errors::Errors;
use crate::shared::settings::Settings;
use crate::shared::tokens::{as_written, find, is_ident};
use crate::shared::types::{last_segment_is, option_of, ungrouped};

impl Binding {
    pub(crate) fn of(
        role: Option<RoleAttr>,
        ident: Option<&Ident>,
        typed: &PatType,
        attrs: &Settings,
        errors: &mut Errors,
    ) -> Self {
        match role {
            Some(RoleAttr {
                role: Role::Param,
                default,
                into,
                flatten,
                ..
            }) => {
                if ident.is_none() {
                    errors.at(&typed.pat, "expected a plain name for a `#[param]`, found a pattern; write `name: Type`, because the builder and the command line use the name");
                }
                if let Some(flatten) = flatten {
                    return Self::group(default, into, flatten, errors);
                }
                Self::Config(Config {
                    default,
                    into: into.is_some(),
                    is_group: false,
                })
            }
            Some(RoleAttr {
                role: Role::Trace, ..
            }) => steps(ungrouped(&typed.ty), errors),
            Some(role) => Self::field(role, ident, typed, attrs, errors),
            None => Self::by_name(ident, typed, attrs, errors),
        }
    }

    /// Binds `#[param(flatten)] settings: &Settings`, whose default is the struct's default.
    fn group(
        default: Option<DefaultValue>,
        into: Option<Span>,
        flatten: Span,
        errors: &mut Errors,
    ) -> Self {
        if let Some(default) = default {
            errors.at_span(default.span, "`default` is not supported with `flatten`, because each parameter of the struct has its own; remove `default`");
        }
        if let Some(into) = into {
            errors.at_span(into, "`into` is not supported with `flatten`; remove it, and write `#[param(into)]` on a field of the struct");
        }
        let default = Some(DefaultValue {
            span: flatten,
            expr: None,
        });
        Self::Config(Config {
            default,
            into: false,
            is_group: true,
        })
    }

    fn field(
        mut attr: RoleAttr,
        ident: Option<&Ident>,
        typed: &PatType,
        attrs: &Settings,
        errors: &mut Errors,
    ) -> Self {
        let side = if attr.role == Role::Gold {
            Side::Gold
        } else {
            Side::Pred
        };
        if let Some(row) = dynamic_row(&typed.ty) {
            let role = side.name();
            errors.at(&typed.ty, format!("`#[{role}]` reads a field, but `&{row}` is a whole row; remove `#[{role}]`, and write `{}: &{row}`", Side::name_of(row)));
            return Self::Nothing;
        }
        let renamed = attr.rename.is_some();
        let (name, name_span) = match (attr.rename, ident) {
            (Some(rename), _) => (rename.value(), rename.span()),
            (None, Some(ident)) => (ident.unraw().to_string(), ident.span()),
            (None, None) => {
                let side = side.name();
                errors.at(
                    &typed.pat,
                    format!("a pattern has no field name; write `#[{side}(\"field\")]`"),
                );
                return Self::Nothing;
            }
        };
        if let (Some(default), Some(_)) = (&attr.default, &attr.missing) {
            errors.at_span(default.span, "expected either `default` or `missing` on a field, found both; write `missing` if a prediction without the field is counted");
        }
        let is_counted = attr.missing.is_some();
        if is_counted && option_of(ungrouped(&typed.ty)).is_none() && attr.named_by.is_none() {
            attr.default = attr.missing.take();
        }
        if let Some(missing) = &attr.missing {
            check_missing(missing, attr.named_by.is_some(), errors);
        }
        let (named_by, default) = (attr.named_by, attr.default);
        let field = FieldParam {
            name,
            name_span,
            renamed,
            named_by,
            default,
            is_counted,
        };
        check_field(side, &field, typed, attrs, errors);
        Self::Field(side, field)
    }

    fn by_name(
        ident: Option<&Ident>,
        typed: &PatType,
        attrs: &Settings,
        errors: &mut Errors,
    ) -> Self {
        let name = ident
            .map(|ident| ident.unraw().to_string())
            .unwrap_or_default();
        let ty = ungrouped(&typed.ty);
        match name.trim_start_matches('_') {
            "gold" | "example" => row(Side::Gold, &name, ty, errors),
            "pred" | "prediction" => row(Side::Pred, &name, ty, errors),
            "trace" => expect(
                is_optional_ref(ty, "Trace"),
                Self::Trace,
                "trace",
                "Option<&Trace>",
                ty,
                errors,
            ),
            "pred_trace" => expect(
                is_optional_ref(ty, "Trace"),
                Self::PredTrace,
                "pred_trace",
                "Option<&Trace>",
                ty,
                errors,
            ),
            "pred_name" => expect(
                is_optional_ref(ty, "str"),
                Self::PredName,
                "pred_name",
                "Option<&str>",
                ty,
                errors,
            ),
            "run" => run(ty, errors),
            _ => unbound(typed, ty, attrs, errors),
        }
    }
}

/// Binds `#[trace] steps: Option<&Trace>` or `#[trace] steps: &Trace`.
fn steps(ty: &Type, errors: &mut Errors) -> Binding {
    let is_required = is_ref(ty, "Trace");
    if !is_required && !is_optional_ref(ty, "Trace") {
        let found = as_written(ty);
        errors.at(ty, format!("expected `Option<&Trace>` or `&Trace` for a `#[trace]`, found `{found}`; write `Option<&Trace>`, or `&Trace` if the metric requires a trace"));
        return Binding::Nothing;
    }
    Binding::Steps { is_required }
}

/// Binds `run: Option<&ProgramRun>`.
fn run(ty: &Type, errors: &mut Errors) -> Binding {
    if !is_optional_ref(ty, "ProgramRun") {
        errors.at(ty, "`run` is reserved for the program's run; write `run: Option<&ProgramRun>`, or `#[gold]` or `#[pred]` to read a field of that name");
        return Binding::Nothing;
    }
    Binding::Run
}

fn row(side: Side, name: &str, ty: &Type, errors: &mut Errors) -> Binding {
    let other = side.other().dynamic();
    let dynamic = side.dynamic();
    match ty {
        Type::Reference(TypeReference {
            mutability: Some(mutability),
            ..
        }) => {
            errors.at(mutability, "rows are read-only; remove `mut`");
            Binding::Nothing
        }
        Type::Reference(reference) if last_segment_is(&reference.elem, other) => {
            errors.at(
                &reference.elem,
                format!("expected `&{dynamic}` for the {} row, found `&{other}`; write `{name}: &{dynamic}`", side.name()),
            );
            Binding::Nothing
        }
        _ if is_field_type(ty) => {
            let written = as_written(ty);
            errors.at(
                ty,
                format!(
                    "expected a row for `{name}`, found `{written}`; write `#[{}]` before it to read a field",
                    side.name()
                ),
            );
            Binding::Nothing
        }
        Type::Reference(_) => Binding::Row(side),
        _ => {
            let inner = option_of(ty).unwrap_or(ty);
            let reference = as_written(inner);
            let amp = if reference.starts_with('&') { "" } else { "&" };
            let (found, side) = (as_written(ty), side.name());
            errors.at(ty, format!("expected a reference to a row, found `{found}`; write `{name}: {amp}{reference}`, or `#[{side}]` to read a field"));
            Binding::Nothing
        }
    }
}

/// Returns `true` if a type can be a field but not a row: a string, a list, a number or a JSON value.
fn is_field_type(ty: &Type) -> bool {
    const NAMES: [&str; 17] = [
        "str", "String", "bool", "char", "f32", "f64", "i8", "i16", "i32", "i64", "isize", "u8",
        "u16", "u32", "u64", "usize", "Value",
    ];
    let inner = option_of(ty).unwrap_or(ty);
    let inner = match inner {
        Type::Reference(reference) => ungrouped(&reference.elem),
        other => other,
    };
    let is_list = match inner {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == "Vec"),
        other => matches!(other, Type::Slice(_) | Type::Array(_) | Type::Tuple(_)),
    };
    is_list || NAMES.iter().any(|name| last_segment_is(inner, name))
}

fn expect(
    fits: bool,
    binding: Binding,
    name: &str,
    form: &str,
    ty: &Type,
    errors: &mut Errors,
) -> Binding {
    if !fits {
        errors.at(ty, format!("`{name}` is reserved for the optimizer's argument; write `{name}: {form}`, or `#[gold]` or `#[pred]` to read a field of that name"));
        return Binding::Nothing;
    }
    binding
}

fn unbound(typed: &PatType, ty: &Type, attrs: &Settings, errors: &mut Errors) -> Binding {
    let name = as_written(&typed.pat);
    let row = match ty {
        Type::Reference(reference) => Some(&*reference.elem),
        _ => None,
    };
    let whole = row.and_then(|row| Some((row, side_of(row, attrs)?)));
    let is_group = |attr: &syn::Attribute| {
        let tokens = quote::ToTokens::to_token_stream(&attr.meta);
        find(tokens, &|word| word == "flatten").is_some()
    };
    if typed.attrs.iter().any(is_group) {
        errors.at(&typed.pat, format!("the parameter `{name}` has no source; write `#[param(flatten)]` for a parameter struct"));
        return Binding::Nothing;
    }
    let message = match (row, whole) {
        (_, Some((row, Side::Gold))) => {
            let row = as_written(row);
            format!(
                "expected the name `gold` or `example` for the gold row, found `{name}`; write `gold: &{row}`"
            )
        }
        (_, Some((row, Side::Pred))) => {
            let row = as_written(row);
            format!(
                "expected the name `pred` or `prediction` for the prediction, found `{name}`; write `pred: &{row}`"
            )
        }
        (Some(row), None) if !is_field_type(ty) && matches!(row, Type::Path(_)) => {
            let row = as_written(row);
            format!(
                "the parameter `{name}` has no source; name it `gold` or `pred` if `{row}` is the type of a whole row, write `#[gold]` or `#[pred]` to read a field of a row, `#[param]` for configuration, or `#[param(flatten)]` for a parameter struct"
            )
        }
        _ => format!(
            "the parameter `{name}` has no source; write `#[gold]` or `#[pred]` to read a field of a row, or `#[param]` for configuration"
        ),
    };
    errors.at(&typed.pat, message);
    Binding::Nothing
}

/// Returns the side that this row type belongs to: a dynamic row, or the type in `gold = T` or `pred = T`.
fn side_of(row: &Type, attrs: &Settings) -> Option<Side> {
    let written = as_written(row);
    Side::BOTH
        .into_iter()
        .find(|side| match side.declared(attrs) {
            Some(declared) => as_written(declared) == written,
            None => last_segment_is(row, side.dynamic()),
        })
}

/// Checks for a `missing` that has no value to use, because it is on an `Option` or on a field with a configurable
/// name.
fn check_missing(missing: &DefaultValue, is_named: bool, errors: &mut Errors) {
    if is_named {
        errors.at_span(missing.span, "`missing` is not supported with `named_by`; write `#[metric(missing = 0.0)]` for the score of a prediction without the field");
    } else if missing.expr.is_some() {
        errors.at_span(
            missing.span,
            "an `Option` is `None` if the prediction has no such field; write `missing` alone",
        );
    }
}

fn check_field(
    side: Side,
    field: &FieldParam,
    typed: &PatType,
    attrs: &Settings,
    errors: &mut Errors,
) {
    if field.name.is_empty() {
        errors.at_span(
            field.name_span,
            "empty field name; write the name of a field",
        );
    }
    if let Some((outer, inner)) = field.name.split_once('.') {
        let side = side.name();
        errors.at_span(
            field.name_span,
            format!(
                "a field name cannot contain `.`, found `{}`; write `#[{side}({outer:?})]` and read `{inner}` from a `&Value` or a type that implements `Deserialize`",
                field.name
            ),
        );
    }
    let ty = ungrouped(&typed.ty);
    if let (Some(_), Some(default)) = (option_of(ty), &field.default) {
        errors.at_span(
            default.span,
            "an `Option` is `None` if the row has no such field; remove `default` or the `Option`",
        );
    }
    if side.declared(attrs).is_none() {
        return;
    }
    if field.is_counted {
        errors.at_span(field.name_span, "`missing` is not supported for a typed row; remove `pred = ..`, because the metric still scores every row that derives `Record`");
    } else if let Some(default) = &field.default {
        errors.at_span(default.span, "`default` is not supported for a typed row; make the field an `Option` in the row's type and here");
    }
    if field.renamed && !is_ident(&field.name) {
        errors.at_span(
            field.name_span,
            format!(
                "`{}` is not the name of a struct field; write the name of a field in the row's type",
                field.name
            ),
        );
    }
}

/// Returns the dynamic row that a type is, or borrows.
fn dynamic_row(ty: &Type) -> Option<&'static str> {
    let ty = match ungrouped(ty) {
        Type::Reference(reference) => &*reference.elem,
        ty => ty,
    };
    ["Example", "Prediction"]
        .into_iter()
        .find(|row| last_segment_is(ty, row))
}

fn is_optional_ref(ty: &Type, name: &str) -> bool {
    option_of(ty).is_some_and(|ty| is_ref(ty, name))
}

fn is_ref(ty: &Type, name: &str) -> bool {
    matches!(ty, Type::Reference(reference) if last_segment_is(&reference.elem, name))
}
