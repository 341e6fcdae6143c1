//! The labelled example.

use dsrs_metrics::{Example, rows::Fields};

/// An [`Example`] with the lists of input and output fields that dspy-rs keeps for it.
///
/// An example of dspy-rs can be converted and converted back without a change. Its fields are in a hash map; here they are
/// in the order of the input keys, then of the output keys, then of their names.
///
/// ```
/// use dsrs_metrics_dspy_rs::ConvertedExample;
///
/// let original = dspy_rs::Example::new(
///     [("question".to_owned(), "Capital of France?".into()), ("answer".to_owned(), "Paris".into())].into(),
///     vec!["question".to_owned()],
///     vec!["answer".to_owned()],
/// );
/// let converted = ConvertedExample::from(&original);
/// assert_eq!(converted.example.get("answer").unwrap(), "Paris");
/// assert_eq!(converted.example.inputs().unwrap().keys().collect::<Vec<_>>(), ["question"]);
/// assert_eq!(dspy_rs::Example::from(converted).output_keys, original.output_keys);
/// ```
///
/// An example of dsrs-metrics can be converted to one of dspy-rs and back as well, if its cells are not
/// [textual](Fields::textual). Its order of fields is not kept, and an example without fields has no list of inputs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConvertedExample {
    /// The fields. The inputs are set, unless both lists are empty.
    pub example: Example,
    /// The names of the inputs.
    pub input_keys: Vec<String>,
    /// The names of the outputs.
    pub output_keys: Vec<String>,
}

impl From<dspy_rs::Example> for ConvertedExample {
    fn from(original: dspy_rs::Example) -> Self {
        let dspy_rs::Example {
            mut data,
            input_keys,
            output_keys,
        } = original;
        let mut fields = Fields::default();
        for key in input_keys.iter().chain(&output_keys) {
            if let Some((key, value)) = data.remove_entry(key) {
                fields.insert(key, value);
            }
        }
        let mut rest: Vec<_> = data.into_iter().collect();
        rest.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        rest.into_iter()
            .for_each(|(key, value)| _ = fields.insert(key, value));
        let mut example = Example::from(fields);
        if !(input_keys.is_empty() && output_keys.is_empty()) {
            example = example.with_inputs(&input_keys);
        }
        Self {
            example,
            input_keys,
            output_keys,
        }
    }
}

impl From<&dspy_rs::Example> for ConvertedExample {
    fn from(original: &dspy_rs::Example) -> Self {
        original.clone().into()
    }
}

/// The outputs are the labels. Both lists are empty if the example has no list of inputs.
impl From<Example> for ConvertedExample {
    fn from(example: Example) -> Self {
        let keys = example.input_keys().map(<[String]>::to_vec);
        let labels = || example.labels().keys().map(str::to_owned).collect();
        let (input_keys, output_keys) = keys.map(|keys| (keys, labels())).unwrap_or_default();
        Self {
            example,
            input_keys,
            output_keys,
        }
    }
}

impl From<ConvertedExample> for dspy_rs::Example {
    fn from(converted: ConvertedExample) -> Self {
        let ConvertedExample {
            example,
            input_keys,
            output_keys,
        } = converted;
        // Its `new` would fill in the output keys.
        Self {
            data: example.data.into_iter().collect(),
            input_keys,
            output_keys,
        }
    }
}
