//! The missing fields of one call that are replaced by a value. The score of such a call is in `score/missing.rs`.

use crate::rows::field_error::FieldError;
use crate::rows::missing::MissingFields;
use crate::spec::FieldSpec;

/// Collects the missing fields of one call that `#[pred(missing = value)]` replaces by a value.
#[derive(Debug, Default)]
pub struct Absent(pub(crate) Option<Box<MissingFields>>);

impl Absent {
    /// Adds a field, as [`MissingFields::add`].
    #[cold]
    pub(crate) fn add(
        &mut self,
        field: &FieldSpec<'static>,
        present: Option<Vec<String>>,
        is_visible: bool,
    ) {
        self.0
            .get_or_insert_default()
            .add(field.name, present, is_visible);
    }
}

/// Returns whether a metric that scores predictions without the field can score the row.
#[doc(hidden)]
pub fn is_scored<T>(read: &Result<T, Box<FieldError>>) -> bool {
    match read {
        Ok(_) => true,
        Err(error) => matches!(
            **error,
            FieldError::Missing { .. } | FieldError::Null { .. }
        ),
    }
}
