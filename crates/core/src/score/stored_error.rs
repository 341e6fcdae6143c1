//! The serialization of the fields of an error that serde does not derive: floats that are not numbers, and the error of a component.

/// NaN and infinities are not JSON numbers, so these values are stored as strings.
pub(super) mod any_float {
    use serde::{Deserialize, Deserializer, Serializer, de};

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes a reference"
    )]
    pub(in crate::score) fn serialize<S: Serializer>(
        value: &f64,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{value:?}"))
    }

    pub(in crate::score) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<f64, D::Error> {
        String::deserialize(from)?
            .parse()
            .map_err(de::Error::custom)
    }
}

/// The stored source of an error: the error of a component. Any other source is a type of the metric's author.
pub(super) mod component {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::score::error::{MetricError, Source};

    pub(in crate::score) fn of(source: &Source) -> Option<&MetricError> {
        source.as_deref()?.downcast_ref()
    }

    pub(in crate::score) fn is_none(source: &Source) -> bool {
        of(source).is_none()
    }

    pub(in crate::score) fn serialize<S: Serializer>(
        source: &Source,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        of(source).serialize(to)
    }

    pub(in crate::score) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Source, D::Error> {
        let error = Option::<MetricError>::deserialize(from)?;
        Ok(error.map(|error| Arc::new(error) as _))
    }
}
