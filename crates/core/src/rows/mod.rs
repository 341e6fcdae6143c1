//! Rows, and how metric parameters are read from their fields.

pub mod by_name;
pub mod dynamic;
pub mod field_error;
pub mod field_types;
pub mod fields;
pub mod inputs;
pub mod missing;
pub mod named_values;
pub mod pair;
pub mod provide;
pub(crate) mod text_cell;

pub use self::by_name::{Given, NamedFields};
pub use self::dynamic::{Example, Prediction, Trace, TraceStep};
pub use self::field_error::FieldError;
pub use self::fields::{
    FieldType, MaybeOwned, Optional, Owned, Raw, ReadAs, ReadField, Record, Ref, RowType, Slice,
    Text,
};
pub use self::missing::{Absent, MissingFields};
pub use self::named_values::Fields;
pub use self::provide::Provide;
pub(crate) use self::text_cell::{Cell, read_fields};
