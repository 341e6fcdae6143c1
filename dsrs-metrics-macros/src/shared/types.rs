//! Types as written: how a parameter is read from a row, which type owns it in the metric's struct, and questions about
//! a type's spelling.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::visit_mut::{self, VisitMut};
use syn::{GenericArgument, Lifetime, PathArguments, Type, TypeReference};

/// How a parameter is read.
pub(crate) enum Form<'a> {
    /// `&str`
    Text,
    /// `&Value`
    Raw,
    /// `&[T]`
    Slice(&'a Type),
    /// `&T`
    Ref(&'a Type),
    /// `T`
    Owned(&'a Type),
}

impl<'a> Form<'a> {
    /// Returns the form of a type, and `true` if the type is an `Option`.
    pub(crate) fn of(ty: &'a Type) -> (Self, bool) {
        match option_of(ty) {
            Some(inner) => (Self::plain(inner), true),
            None => (Self::plain(ty), false),
        }
    }

    fn plain(ty: &'a Type) -> Self {
        let Type::Reference(reference) = ungrouped(ty) else {
            return Self::Owned(ty);
        };
        match ungrouped(&reference.elem) {
            text if last_segment_is(text, "str") => Self::Text,
            value if last_segment_is(value, "Value") => Self::Raw,
            Type::Slice(slice) => Self::Slice(&slice.elem),
            other => Self::Ref(other),
        }
    }

    pub(crate) fn is_borrowed(&self) -> bool {
        !matches!(self, Self::Owned(_))
    }

    /// Returns the form as a type from the runtime crate, with the field's type as its parameter.
    pub(crate) fn read_as(&self, private: &TokenStream, ty: &TokenStream) -> TokenStream {
        let span = private.span();
        match self {
            Self::Text => quote_spanned!(span=> #private::Text),
            Self::Raw => quote_spanned!(span=> #private::Raw),
            Self::Slice(_) => quote_spanned!(span=> #private::Slice<#ty>),
            Self::Ref(_) => quote_spanned!(span=> #private::Ref<#ty>),
            Self::Owned(_) => quote_spanned!(span=> #private::Owned<#ty>),
        }
    }

    /// Returns the type that a field is deserialized to, if its `Deserialize` impl must be checked.
    pub(crate) fn read_type(&self) -> Option<&'a Type> {
        match self {
            Self::Text | Self::Raw => None,
            Self::Slice(ty) | Self::Ref(ty) | Self::Owned(ty) => Some(ty),
        }
    }

    /// Returns the type that owns a `#[param]` of this form in the metric's struct.
    pub(crate) fn owner(&self, private: &TokenStream) -> TokenStream {
        match self {
            Self::Text => quote_spanned!(private.span()=> #private::string::String),
            Self::Raw => quote_spanned!(private.span()=> #private::Value),
            Self::Slice(ty) => quote_spanned!(ty.span()=> #private::vec::Vec<#ty>),
            Self::Ref(ty) | Self::Owned(ty) => quote!(#ty),
        }
    }
}

/// Returns `true` if the last segment of the type is `String`.
pub(crate) fn is_string(ty: &Type) -> bool {
    last_segment_is(ty, "String")
}

/// Returns the type with every lifetime except `'static`, named or elided, replaced by `row`.
pub(crate) fn in_lifetime(ty: &Type, row: &Lifetime) -> Type {
    let mut ty = ty.clone();
    InLifetime(row).visit_type_mut(&mut ty);
    ty
}

struct InLifetime<'a>(&'a Lifetime);

impl VisitMut for InLifetime<'_> {
    fn visit_type_reference_mut(&mut self, reference: &mut TypeReference) {
        let row = Lifetime {
            apostrophe: self.0.apostrophe,
            ident: self.0.ident.clone(),
        };
        reference.lifetime = Some(row);
        visit_mut::visit_type_mut(self, &mut reference.elem);
    }

    fn visit_generic_argument_mut(&mut self, argument: &mut GenericArgument) {
        match argument {
            GenericArgument::Lifetime(lifetime) if lifetime.ident == "static" => {}
            GenericArgument::Lifetime(lifetime) => *lifetime = self.0.clone(),
            other => visit_mut::visit_generic_argument_mut(self, other),
        }
    }

    // Lifetimes inside a function pointer or a closure bound are bound there.
    fn visit_type_fn_ptr_mut(&mut self, _: &mut syn::TypeFnPtr) {}

    fn visit_parenthesized_generic_arguments_mut(
        &mut self,
        _: &mut syn::ParenthesizedGenericArguments,
    ) {
    }
}

/// Returns a type without the invisible groups and parentheses that macros add.
pub(crate) fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        Type::Paren(paren) => ungrouped(&paren.elem),
        ty => ty,
    }
}

/// Returns `T` for `Option<T>`. Any path that ends in `Option` is taken for the standard one.
pub(crate) fn option_of(ty: &Type) -> Option<&Type> {
    only_argument(ty, "Option")
}

/// Returns `T` for `Vec<T>`.
pub(crate) fn vec_of(ty: &Type) -> Option<&Type> {
    only_argument(ty, "Vec")
}

/// Returns `T` for `Vec<T>` and `&[T]`.
pub(crate) fn list_item(ty: &Type) -> Option<&Type> {
    match ungrouped(ty) {
        Type::Reference(reference) => match ungrouped(&reference.elem) {
            Type::Slice(slice) => Some(&slice.elem),
            _ => None,
        },
        ty => vec_of(ty),
    }
}

/// Returns the first `T` for `name<T, ..>`.
pub(crate) fn first_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ungrouped(ty) else {
        return None;
    };
    let last = path.path.segments.last()?;
    match (&last.arguments, last.ident == name) {
        (PathArguments::AngleBracketed(arguments), true) => match arguments.args.first() {
            Some(GenericArgument::Type(inner)) => Some(ungrouped(inner)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns `T` for `name<T>`.
fn only_argument<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ungrouped(ty) else {
        return None;
    };
    let last = path
        .path
        .segments
        .last()
        .filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) if arguments.args.len() == 1 => Some(ungrouped(inner)),
        _ => None,
    }
}

/// Returns `true` if a type is a path that ends in `name`, without generic arguments.
pub(crate) fn last_segment_is(ty: &Type, name: &str) -> bool {
    match ungrouped(ty) {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == name && last.arguments.is_empty()),
        _ => false,
    }
}

/// Returns `true` if a type has the name of a string, `bool` or a number. Either it implements `Deserialize`, or the
/// metric has an error there.
pub(crate) fn is_plain(ty: &Type) -> bool {
    is_integer(ty)
        || ["String", "bool", "f32", "f64"]
            .iter()
            .any(|name| last_segment_is(ty, name))
}

/// Returns `true` if a type is `judge::Panel`, which is several parameters on the command line.
pub(crate) fn is_panel(ty: &Type) -> bool {
    let Type::Path(path) = ungrouped(ty) else {
        return false;
    };
    let names: Vec<_> = path
        .path
        .segments
        .iter()
        .rev()
        .take(2)
        .map(|it| &it.ident)
        .collect();
    matches!(names[..], [panel, judge] if panel == "Panel" && judge == "judge")
}

pub(crate) fn is_integer(ty: &Type) -> bool {
    integer_name(ty).is_some()
}

pub(crate) fn integer_name(ty: &Type) -> Option<&'static str> {
    const WHOLE: [&str; 10] = [
        "i8", "i16", "i32", "i64", "isize", "u8", "u16", "u32", "u64", "usize",
    ];
    WHOLE.into_iter().find(|name| last_segment_is(ty, name))
}

/// Returns `true` if a type has a reference inside, which nothing could own.
pub(crate) fn borrows_inside(ty: &Type) -> bool {
    let inner = match ungrouped(ty) {
        Type::Reference(reference) => ungrouped(&reference.elem),
        ty => ty,
    };
    let mut ty = inner.clone();
    let mut owned = Owned { has_changed: false };
    owned.visit_type_mut(&mut ty);
    owned.has_changed
}

/// Returns the type with `String` for each `&str` inside, and `T` for each other `&T`.
pub(crate) fn owned(ty: &Type) -> Type {
    let mut ty = ty.clone();
    let inside = match &mut ty {
        Type::Reference(reference) => {
            reference.lifetime = None;
            &mut *reference.elem
        }
        ty => ty,
    };
    Owned { has_changed: false }.visit_type_mut(inside);
    ty
}

struct Owned {
    has_changed: bool,
}

impl VisitMut for Owned {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::Reference(reference) = ty {
            self.has_changed = true;
            *ty = match last_segment_is(&reference.elem, "str") {
                true => syn::parse_quote!(String),
                false => (*reference.elem).clone(),
            };
        }
        visit_mut::visit_type_mut(self, ty);
    }

    // Lifetimes inside a function pointer are bound there.
    fn visit_type_fn_ptr_mut(&mut self, _: &mut syn::TypeFnPtr) {}
}
