//! Whether rows have the fields that a metric requires.

use crate::rows::dynamic::{Example, Prediction};
use crate::rows::named_values::Fields;
use crate::spec::{FieldSpec, MetricSpec};

impl MetricSpec<'_> {
    /// Returns whether the rows have every required field, except fields without which a prediction is scored. The
    /// fields' types are checked by [`Metric::can_evaluate`](crate::Metric::can_evaluate).
    ///
    /// ```
    /// # use dsrs_metrics::{example, prediction, contract::FieldSpec, contract::MetricSpec};
    /// let answer = [FieldSpec::new("answer", "&str", true)];
    /// let spec = MetricSpec::new("brevity").with_fields(&[], &answer);
    /// assert!(!spec.can_evaluate(&example! {}, &prediction! { "text" => "Paris" }));
    /// assert!(spec.can_evaluate(&example! {}, &prediction! { "answer" => 7 }), "types are not checked");
    /// ```
    pub fn can_evaluate(&self, gold: &Example, pred: &Prediction) -> bool {
        let has = |row: &Fields, fields: &[FieldSpec<'_>]| {
            fields
                .iter()
                .all(|field| !field.is_needed() || row.contains_key(field.name))
        };
        has(&gold.data, self.gold) && has(&pred.data, self.pred)
    }
}
