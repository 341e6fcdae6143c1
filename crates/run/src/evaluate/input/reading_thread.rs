//! A thread that reads rows, since reading a pipe may block.

use std::thread;

use futures_util::{StreamExt, stream};
use tokio::sync::mpsc;

use super::numbering::input_panicked;
use super::source::Source;
use super::source_row::Input;
use crate::core::panic;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::rows::pair::Pair;
use crate::evaluate::error::EvaluateError;

/// Reads rows on a separate thread, a few of them ahead, since reading a pipe may block.
pub(crate) fn read_on_thread(
    rows: impl Iterator<Item = Result<Box<Pair>, EvaluateError>> + Send + 'static,
) -> Result<Source<'static, Example, Prediction>, EvaluateError> {
    const AHEAD: usize = 8;
    let (send, receive) = mpsc::channel(AHEAD);
    let read = move || {
        let result = panic::catch(false, || {
            for row in rows {
                if send.blocking_send(row.map(Input::Predicted)).is_err() {
                    // The run has ended.
                    break;
                }
            }
        });
        if let Err(panic) = result {
            // Without an error, the closed channel would look like the end of the rows.
            let _ = send.blocking_send(Err(input_panicked(panic)));
        }
    };
    thread::Builder::new()
        .name("rows".to_owned())
        .spawn(read)
        .map_err(EvaluateError::no_thread)?;
    let rows = stream::unfold(receive, |mut receive| async {
        receive.recv().await.map(|row| (row, receive))
    });
    Ok(Source::stream(rows.boxed(), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::input::Stop;

    #[test]
    fn a_panic_of_the_reader_is_an_error_and_not_the_end_of_the_rows() {
        let source = read_on_thread(std::iter::from_fn(|| panic!("out of paper"))).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let row = runtime.block_on(source.next(&Stop::default()));
        let error = source.error().map(|error| error.to_string());
        assert_eq!((row.is_none(), source.error_at()), (true, 0));
        assert_eq!(
            error.as_deref(),
            Some("reading the rows panicked: out of paper")
        );
    }
}
