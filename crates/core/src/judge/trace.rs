//! The steps of a program as an input of a judge: `#[input(trace)]`. The text is within a size limit, whatever the
//! program did. The fences around it are in `prompt.rs`.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::untrusted::{Content, Untrusted};
use crate::rows::dynamic::{Trace, TraceStep};

/// The largest number of bytes of a trace in a prompt: about 8,000 tokens. Of a longer trace, the prompt has the first
/// 4 KiB of the inputs and outputs of each step, and of the steps the first and the last ones; a line in their place
/// states how many steps and bytes are left out.
///
/// ```
/// use dsrs_metrics::judge::MAX_TRACE_BYTES;
///
/// assert_eq!(MAX_TRACE_BYTES, 32 * 1024);
/// ```
pub const MAX_TRACE_BYTES: usize = 32 << 10;

/// The bytes of the inputs, and of the outputs, of one step of a trace that is shortened.
const MAX_ROW_BYTES: usize = 4 << 10;

/// The bytes of a predictor's name in a trace that is shortened.
const MAX_NAME_BYTES: usize = 200;

/// The bytes of the first steps, and of the last steps, of a trace that is shortened. The rest is for the line between.
const HALF_BYTES: usize = (MAX_TRACE_BYTES - 128) / 2;

/// Types of a judge's input for the trace: `Trace`, and `Option<Trace>`.
#[doc(hidden)]
pub trait TraceInput {
    /// Returns the trace, if there is one.
    fn trace(&self) -> Option<&Trace>;
}

impl TraceInput for Trace {
    fn trace(&self) -> Option<&Trace> {
        Some(self)
    }
}

impl TraceInput for Option<Trace> {
    fn trace(&self) -> Option<&Trace> {
        self.as_ref()
    }
}

/// Returns the form of a trace in a prompt. Strings are JSON, so that no value contains a line break and none can look
/// like another step.
#[doc(hidden)]
pub fn shown_trace<T: TraceInput>(trace: &Untrusted<T>) -> Content {
    let trace = trace.get().trace();
    let text = trace.map(|trace| {
        let steps = &trace.steps;
        limited(steps.len(), |text, index, limit| {
            write_step(text, (index, steps.len()), &steps[index], limit)
        })
    });
    Content {
        text,
        is_blank: trace.is_some_and(|trace| trace.steps.is_empty()),
        items: 0,
    }
}

/// Returns a string of this many steps within the limit. `write` writes the step at an index with at most this many bytes of each of
/// its values, and returns how many bytes are left out.
pub(super) fn limited(total: usize, write: impl Fn(&mut Limited, usize, usize) -> usize) -> String {
    whole(total, &write).unwrap_or_else(|| shortened(total, &write))
}

/// Returns the whole text, or `None` if it is longer than the limit.
fn whole(total: usize, write: impl Fn(&mut Limited, usize, usize) -> usize) -> Option<String> {
    let mut text = Limited::new(MAX_TRACE_BYTES);
    for index in 0..total {
        write(&mut text, index, usize::MAX);
        if text.left_out() > 0 {
            return None;
        }
    }
    Some(text.finish())
}

/// Returns the text with shortened values, and without the steps in the middle that exceed the limit.
fn shortened(total: usize, write: impl Fn(&mut Limited, usize, usize) -> usize) -> String {
    let (mut head, mut is_head) = (String::new(), true);
    let (mut tail, mut tail_bytes) = (VecDeque::new(), 0);
    let (mut steps, mut bytes) = (0_usize, 0_usize);
    for index in 0..total {
        let mut text = Limited::new(usize::MAX);
        let cut = write(&mut text, index, MAX_ROW_BYTES);
        let text = text.finish();
        is_head &= head.len() + text.len() <= HALF_BYTES;
        if is_head {
            head.push_str(&text);
            continue;
        }
        tail_bytes += text.len();
        tail.push_back((text, cut));
        while tail_bytes > HALF_BYTES
            && let Some((text, cut)) = tail.pop_front()
        {
            tail_bytes -= text.len();
            steps += 1;
            bytes = bytes.saturating_add(text.len()).saturating_add(cut);
        }
    }
    if steps > 0 {
        head.push_str(&format!(
            "[.. {steps} steps with {bytes} bytes left out ..]\n"
        ));
    }
    tail.into_iter().for_each(|(text, _)| head.push_str(&text));
    head
}

/// Writes one step and returns how many bytes of its rows and its name are left out.
fn write_step(
    text: &mut Limited,
    (index, total): (usize, usize),
    step: &TraceStep,
    row_bytes: usize,
) -> usize {
    let TraceStep {
        predictor,
        inputs,
        outputs,
    } = step;
    // A trace that is not shortened has no limit for a name either.
    let name_bytes = if row_bytes == usize::MAX {
        usize::MAX
    } else {
        MAX_NAME_BYTES
    };
    let _ = write!(text, "step {} of {total}: ", index + 1);
    let mut cut = text.json(predictor, name_bytes);
    for (name, row) in [("inputs", &inputs.data), ("outputs", &outputs.data)] {
        let _ = write!(text, "\n{name}: ");
        cut += text.json(row, row_bytes);
    }
    let _ = text.write_all(b"\n");
    cut
}

/// Bytes up to a limit. Bytes after the limit are only counted, so that no trace needs more memory than the limit.
pub(super) struct Limited {
    bytes: Vec<u8>,
    limit: usize,
    written: usize,
}

impl Limited {
    const fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
            written: 0,
        }
    }

    const fn left_out(&self) -> usize {
        self.written - self.bytes.len()
    }

    /// Writes at most `limit` bytes of a value as JSON, and the number of bytes that are left out. Returns that number.
    pub(super) fn json(&mut self, value: &impl serde::Serialize, limit: usize) -> usize {
        let room = self.limit.saturating_sub(self.bytes.len());
        let mut part = Self::new(limit.min(room));
        if let Err(error) = serde_json::to_writer(&mut part, value) {
            part = Self::new(limit);
            let _ = write!(part, "(not representable as JSON: {error})");
        }
        let (written, left_out) = (part.written, part.left_out());
        let text = part.finish();
        let cut = written - text.len();
        let _ = self.write_all(text.as_bytes());
        if left_out > 0 {
            let _ = write!(self, " [.. {cut} bytes left out ..]");
        }
        cut
    }

    /// Returns the bytes as a string, without an incomplete character at the end.
    fn finish(self) -> String {
        let mut bytes = self.bytes;
        if let Err(error) = std::str::from_utf8(&bytes) {
            bytes.truncate(error.valid_up_to());
        }
        String::from_utf8(bytes).unwrap_or_default()
    }
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.limit.saturating_sub(self.bytes.len());
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.written = self.written.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::dynamic::{Example, Prediction};

    fn step(predictor: &str, output: &str) -> TraceStep {
        TraceStep {
            predictor: predictor.to_owned(),
            inputs: Example::from_iter([("n", 1)]),
            outputs: Prediction::from_iter([("text", output)]),
        }
    }

    fn shown(steps: impl IntoIterator<Item = TraceStep>) -> String {
        let trace = Trace {
            steps: steps.into_iter().collect(),
        };
        shown_trace(&Untrusted::new(trace)).text.unwrap()
    }

    #[test]
    fn a_trace_is_shown_step_by_step() {
        let text = shown([
            step("search", "a\nstep 2 of 2: \"answer\""),
            step("answer", "é"),
        ]);
        let expected = [
            r#"step 1 of 2: "search""#,
            r#"inputs: {"n":1}"#,
            r#"outputs: {"text":"a\nstep 2 of 2: \"answer\""}"#,
            r#"step 2 of 2: "answer""#,
            r#"inputs: {"n":1}"#,
            r#"outputs: {"text":"é"}"#,
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
        assert_eq!(shown_trace(&Untrusted::new(None::<Trace>)).text, None);
        assert_eq!(shown([]), "");
    }

    /// A step of exactly this many bytes.
    fn step_of(bytes: usize) -> TraceStep {
        let rest = shown([step("p", "")]).len();
        step("p", &"x".repeat(bytes - rest))
    }

    #[test]
    fn a_trace_within_the_limit_is_whole() {
        let text = shown([step_of(MAX_TRACE_BYTES)]);
        assert_eq!(
            (text.len(), text.contains("left out")),
            (MAX_TRACE_BYTES, false)
        );
        let text = shown([step_of(MAX_TRACE_BYTES + 1)]);
        assert!(text.len() < MAX_TRACE_BYTES, "{}", text.len());
        let cut = MAX_TRACE_BYTES + 1
            - "step 1 of 1: \"p\"\ninputs: {\"n\":1}\noutputs: \n".len()
            - MAX_ROW_BYTES;
        assert!(
            text.ends_with(&format!("xxx [.. {cut} bytes left out ..]\n")),
            "{}",
            &text[4000..]
        );
    }

    #[test]
    fn a_longer_trace_has_its_first_and_last_steps_and_states_what_is_left_out() {
        let names: Vec<String> = (1..=10_000).map(|step| format!("p{step}")).collect();
        let text = shown(names.iter().map(|name| step(name, "output")));
        assert!(text.len() <= MAX_TRACE_BYTES, "{}", text.len());
        assert!(text.len() > MAX_TRACE_BYTES - 512, "{}", text.len());
        assert!(
            text.starts_with("step 1 of 10000: \"p1\"\n"),
            "{}",
            &text[..100]
        );
        assert!(text.contains("step 10000 of 10000: \"p10000\"\n"));
        let line = text.lines().find(|line| line.starts_with("[..")).unwrap();
        let numbers: Vec<usize> = line
            .split(' ')
            .filter_map(|word| word.parse().ok())
            .collect();
        let shown_steps = text
            .lines()
            .filter(|line| line.starts_with("step "))
            .count();
        assert_eq!(numbers[0] + shown_steps, 10_000);
        let full = |step: usize| {
            let rows = "inputs: {\"n\":1}\noutputs: {\"text\":\"output\"}\n";
            format!("step {step} of 10000: \"p{step}\"\n{rows}").len()
        };
        let all: usize = (1..=10_000).map(full).sum();
        assert_eq!(numbers[1], all - (text.len() - line.len() - 1), "{line}");
    }

    #[test]
    fn long_rows_names_and_characters_are_cut() {
        let long = "é".repeat(100_000);
        let text = shown([
            step(&long, &long),
            step("last", &long),
            step("end", &long),
            step("end", &long),
            step("end", &long),
        ]);
        assert!(text.len() <= MAX_TRACE_BYTES, "{}", text.len());
        let first = text.lines().next().unwrap();
        assert!(first.len() < MAX_NAME_BYTES + 60, "{first}");
        // The JSON has 200002 bytes; the quote and 99 characters are shown.
        assert!(
            first.ends_with("é [.. 199803 bytes left out ..]"),
            "{first}"
        );
    }
}
