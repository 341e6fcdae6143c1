//! The events and spans of a run.

use std::path::Path;

use dsrs_metrics_otel::{Delivery, OtelError, OtelEvents};

use super::Builder;
use super::args::OtlpArguments;
use crate::error::CliError;
use crate::lm::Ledger;
use crate::messages::escape;
use crate::results::Results;
use crate::stdio::print_error;

/// The collector of a command, if it has one.
pub(crate) struct Otlp(Option<OtelEvents>);

impl Otlp {
    pub(crate) fn new(args: &OtlpArguments) -> Result<Self, CliError> {
        let Some(url) = &args.otlp else {
            return Ok(Self(None));
        };
        let builder = OtelEvents::builder().endpoint(url);
        let events = builder
            .texts(args.otlp_texts)
            .unscored(args.otlp_unscored)
            .build();
        let events = events.map_err(|error| match error {
            error @ OtelError::Url { .. } => CliError::Otlp(format!("--otlp: {error}")),
            error => CliError::Otlp(error.to_string()),
        });
        events.map(|events| Self(Some(events)))
    }

    /// Adds the observer of a run, and of the models whose calls the ledger counts.
    pub(crate) fn observe(&self, builder: Builder, ledger: Option<&Ledger>) -> Builder {
        let Some(events) = &self.0 else {
            return builder;
        };
        if let Some(ledger) = ledger {
            events.observe_calls(ledger);
        }
        builder.observer(events.clone())
    }

    /// Sends what remains, and prints what was not delivered. `file` is the result file that was written.
    pub(crate) fn finish(&self, file: Option<&Path>) {
        let Some(delivery) = self.0.as_ref().map(OtelEvents::finish) else {
            return;
        };
        if !delivery.is_complete() {
            print_error(format_args!("{delivery}{}", next(&delivery, file)));
        }
    }

    /// Sends the events of a result file. Returns a sentence, and whether all were delivered.
    pub(crate) fn send(&self, results: &Results) -> (String, bool) {
        let delivery = self
            .0
            .as_ref()
            .map(|events| events.send(results))
            .unwrap_or_default();
        let again = if delivery.is_complete() {
            ""
        } else {
            "; run the same command again later"
        };
        (format!("{delivery}{again}"), delivery.is_complete())
    }
}

/// Returns what to do about a delivery that is not complete.
fn next(delivery: &Delivery, file: Option<&Path>) -> String {
    let url = escape::escaped(&delivery.url);
    let spans = if delivery.lost_spans() > 0 {
        "; spans cannot be sent again"
    } else {
        ""
    };
    // `export` reads no Parquet files.
    let is_readable = |file: &&Path| file.extension().is_none_or(|it| it != "parquet");
    let events = match (delivery.lost_events(), file.filter(is_readable)) {
        (0, _) => String::new(),
        (_, Some(file)) => {
            let file = file.display().to_string();
            format!(
                "; send all events again with `export {} --otlp {url}`",
                escape::escaped(&file)
            )
        }
        (_, None) => format!(
            "; write the scores to a .jsonl file with --out, from which `export FILE --otlp {url}` sends them again"
        ),
    };
    format!("{events}{spans}")
}
