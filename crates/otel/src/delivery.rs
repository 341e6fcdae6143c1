//! Counts how much of what was sent the collector accepted.

use std::fmt;

use dsrs_metrics_values::messages::escape;

/// Counts the events and spans of [`OtelEvents`](crate::OtelEvents), and how many of each the collector accepted.
///
/// [`Display`](fmt::Display) writes a sentence such as `12 of 500 events were not delivered to http://localhost:4318:
/// connection refused`, or `500 events were delivered to ..`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delivery {
    /// The collector's base URL.
    pub url: String,
    /// The number of score events.
    pub events: u64,
    /// The number of score events that the collector accepted.
    pub delivered_events: u64,
    /// The number of model call spans.
    pub spans: u64,
    /// The number of model call spans that the collector accepted.
    pub delivered_spans: u64,
    /// The last error, if any. It is kept even if the batch was delivered later.
    pub error: Option<String>,
}

impl Delivery {
    /// Returns `true` if the collector accepted all events and spans.
    ///
    /// ```
    /// # use dsrs_metrics::runs::otel::Delivery;
    /// assert!(Delivery::default().is_complete(), "there was nothing to send");
    /// ```
    pub fn is_complete(&self) -> bool {
        self.lost_events() == 0 && self.lost_spans() == 0
    }

    /// Returns the number of score events that the collector did not accept.
    ///
    /// ```
    /// # use dsrs_metrics::runs::otel::Delivery;
    /// assert_eq!(Delivery::default().lost_events(), 0);
    /// ```
    pub fn lost_events(&self) -> u64 {
        self.events.saturating_sub(self.delivered_events)
    }

    /// Returns the number of model call spans that the collector did not accept.
    ///
    /// ```
    /// # use dsrs_metrics::runs::otel::Delivery;
    /// assert_eq!(Delivery::default().lost_spans(), 0);
    /// ```
    pub fn lost_spans(&self) -> u64 {
        self.spans.saturating_sub(self.delivered_spans)
    }
}

impl fmt::Display for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = escape::escaped(&self.url);
        if self.is_complete() {
            f.write_str(&counted(self.events, "event"))?;
            if self.spans > 0 {
                write!(f, " and {}", counted(self.spans, "span"))?;
            }
            let were = if self.events == 1 && self.spans == 0 {
                "was"
            } else {
                "were"
            };
            return write!(f, " {were} delivered to {url}");
        }
        let lost = [
            (self.lost_events(), counted(self.events, "event")),
            (self.lost_spans(), counted(self.spans, "span")),
        ];
        let lost = lost.into_iter().filter(|(lost, _)| *lost > 0);
        let lost: Vec<_> = lost.map(|(lost, all)| format!("{lost} of {all}")).collect();
        write!(f, "{} were not delivered to {url}", lost.join(" and "))?;
        let error = self
            .error
            .as_deref()
            .unwrap_or("the collector did not reply in time");
        write!(f, ": {}", escape::escaped(error))
    }
}

/// Returns `1 event` or `2 events`.
fn counted(count: u64, name: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {name}{plural}")
}

#[cfg(test)]
mod tests {
    use super::Delivery;

    #[test]
    fn a_delivery_is_a_sentence() {
        let url = "http://localhost:4318".to_owned();
        let all = Delivery {
            url,
            events: 1,
            delivered_events: 1,
            ..Delivery::default()
        };
        assert_eq!(
            all.to_string(),
            "1 event was delivered to http://localhost:4318"
        );
        let both = Delivery {
            spans: 2,
            delivered_spans: 2,
            ..all.clone()
        };
        assert_eq!(
            both.to_string(),
            "1 event and 2 spans were delivered to http://localhost:4318"
        );
        let lost = Delivery {
            events: 9,
            spans: 3,
            error: Some("status\n500".to_owned()),
            ..all
        };
        assert_eq!(
            lost.to_string(),
            "8 of 9 events and 3 of 3 spans were not delivered to http://localhost:4318: status\\n500"
        );
    }
}
