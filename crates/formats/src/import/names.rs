//! Names of metrics, made from the names in another program.

use indexmap::IndexMap;

/// The names of metrics by what another program calls them.
#[derive(Default)]
pub(super) struct MetricNames(IndexMap<String, String>);

impl MetricNames {
    /// Returns the name of a metric, or of an element of its score after a colon. The command line separates names with commas,
    /// and a dot is followed by a part, so both are replaced.
    pub(super) fn name(&mut self, metric: &str, element: Option<&str>) -> String {
        let original = match element {
            Some(element) => format!("{metric}:{element}"),
            None => metric.to_owned(),
        };
        if let Some(name) = self.0.get(&original) {
            return name.clone();
        }
        let allowed = |found: char| match found {
            '.' | ',' | '=' => '_',
            found if found.is_whitespace() || found.is_control() => '_',
            found => found,
        };
        let mut name: String = original.chars().map(allowed).collect();
        while name.is_empty() || self.0.values().any(|other| *other == name) {
            name.push('_');
        }
        self.0.insert(original, name.clone());
        name
    }
}

#[cfg(test)]
mod tests {
    use super::MetricNames;

    #[test]
    fn each_metric_has_a_name_of_its_own_without_characters_of_the_command_line() {
        let mut names = MetricNames::default();
        assert_eq!(
            names.name("exact_match", Some("strict-match")),
            "exact_match:strict-match"
        );
        assert_eq!(names.name("a.b, c", None), "a_b__c");
        assert_eq!(names.name("a,b. c", None), "a_b__c_");
        assert_eq!(names.name("a.b, c", None), "a_b__c");
        assert_eq!(names.name("", None), "_");
    }
}
