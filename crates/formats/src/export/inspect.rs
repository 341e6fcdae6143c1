//! Export to inspect_ai logs.
//!
//! A log is an archive that contains a header, the samples and their summaries.

use std::io::{self, Write};

use rawzip::{CompressionMethod, ZipArchiveWriter};
use serde_json::{Map, Value, json};

use super::run::{ExportedRun, Sample, fields, present, stem, token_usage};
use crate::FormatError;
use crate::contract::{Fields, ScoreKind};
use crate::import::as_string;
use crate::results::{ResultOutcome, ResultRow, ResultScore};
use crate::trajectory::Trajectory;

/// The version of the format.
const VERSION: u32 = 2;

/// The maximum length of a member's name, in bytes.
const MAX_NAME: usize = 65_535;

/// Stands for `NaN`, which JSON does not have, as the value of a metric without a score. Its character is one that
/// Unicode excludes.
const NOT_SCORED: &str = "\u{10FFFF}NaN";

pub(super) fn write(
    run: &ExportedRun<'_>,
    out: &mut impl Write,
) -> Result<Vec<String>, FormatError> {
    let mut archive = ZipArchiveWriter::new(out);
    let header = header(run);
    let start = json!({ "version": VERSION, "eval": header["eval"], "plan": header["plan"] });
    member(&mut archive, "_journal/start.json", |out| {
        write_json(out, &start)
    })?;
    run.each_row(|row| {
        let sample = run.sample(row)?;
        member(&mut archive, &member_name(row)?, |out| {
            write_json(out, &sample)
        })
    })?;
    member(&mut archive, "summaries.json", |out| {
        let mut separator = b"[";
        run.each_row(|row| {
            out.write_all(separator)?;
            separator = b",";
            write_json(out, &run.summary(row)?)
        })?;
        out.write_all(if separator == b"[" { b"[]" } else { b"]" })?;
        Ok(())
    })?;
    member(&mut archive, "header.json", |out| write_json(out, &header))?;
    archive.finish().map_err(zip_error)?;
    Ok(Vec::new())
}

/// Returns the name of a sample's archive member, which contains the sample's id.
fn member_name(row: &ResultRow) -> Result<String, FormatError> {
    let name = format!("samples/{}_epoch_1.json", row.id);
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    if name.len() <= MAX_NAME && !name.contains(['\\', ':', '\0']) && name.split('/').all(is_plain)
    {
        return Ok(name);
    }
    let reason = "invalid id for an inspect_ai log, which uses ids as file names: expected a relative path; change the id";
    Err(FormatError::new(format_args!("{}: {reason}", row.at())))
}

/// Writes a member, compressed with Zstandard as in inspect_ai.
fn member<W: Write>(
    archive: &mut ZipArchiveWriter<W>,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let file = archive
        .new_file(name)
        .compression_method(CompressionMethod::ZSTD);
    let (mut entry, config) = file.start().map_err(zip_error)?;
    let mut encoder = zstd::Encoder::new(&mut entry, 0)?;
    let mut content = config.wrap(&mut encoder);
    write(&mut content)?;
    let (_, descriptor) = content.finish().map_err(zip_error)?;
    encoder.finish()?;
    entry.finish(descriptor).map_err(zip_error)?;
    Ok(())
}

fn zip_error(error: rawzip::Error) -> FormatError {
    io::Error::other(error).into()
}

fn write_json(out: &mut dyn Write, value: &Value) -> Result<(), FormatError> {
    let json = value
        .to_string()
        .replace(&format!("\"{NOT_SCORED}\""), "NaN");
    Ok(out.write_all(json.as_bytes())?)
}

/// Returns the model, or the name that inspect_ai writes if no model was evaluated.
fn model<'a>(run: &'a ExportedRun<'_>) -> &'a str {
    run.tag("model").unwrap_or("none/none")
}

fn header(run: &ExportedRun<'_>) -> Value {
    let dataset = run.dataset();
    let is_complete = run.manifest.ending == "complete";
    let rows = run.rows;
    let [created, ended] = [run.started.unwrap_or(run.ended), run.ended].map(|time| {
        let time = humantime::format_rfc3339_seconds(time).to_string();
        format!("{}+00:00", &time[..19])
    });
    let scorers = run.metrics.keys();
    let scorers = scorers.map(|name| json!({ "name": name, "options": run.parameters(name) }));
    let scores = run.metrics.keys().map(|name| score(run, name));
    json!({
        "version": VERSION,
        "status": if is_complete { "success" } else { "cancelled" },
        "eval": {
            "eval_id": run.uuid(&["eval"]),
            "run_id": run.uuid(&["run"]),
            "task_id": run.uuid(&["task"]),
            "created": created,
            "task": run.tag("task").unwrap_or(&dataset),
            "dataset": { "name": dataset, "samples": rows },
            "model": model(run),
            "config": { "epochs": 1 },
            "packages": { "dsrs-metrics": run.manifest.library.version },
            "metadata": { "label": run.manifest.label, "tags": run.manifest.tags, "file": stem(run.file) },
            "scorers": scorers.collect::<Value>(),
        },
        "plan": { "name": "plan", "steps": [], "config": {} },
        "results": {
            "total_samples": rows,
            "completed_samples": rows.saturating_sub(run.manifest.failed_rows),
            "scores": scores.collect::<Value>(),
        },
        "stats": { "started_at": created, "completed_at": ended, "model_usage": {} },
    })
}

/// Returns a metric's results. inspect_ai leaves failed samples out of its means; here, they count as the failure
/// score.
fn score(run: &ExportedRun<'_>, name: &str) -> Value {
    let figures = &run.metrics[name];
    let counts = figures.counts;
    let mean = match figures.kind {
        ScoreKind::Bool => "accuracy",
        _ => "mean",
    };
    let mut metrics = Map::new();
    let stderr = figures.uncertainty.stderr();
    for (name, value) in [(mean, figures.score), ("stderr", stderr)] {
        let metric = value.map(|value| json!({ "name": name, "value": value, "params": {} }));
        metrics.extend(metric.map(|metric| (name.to_owned(), metric)));
    }
    let ci95 = figures.uncertainty.ci95();
    json!({
        "name": name,
        "scorer": name,
        "scored_samples": counts.scored + counts.failed,
        "unscored_samples": counts.gated + counts.skipped + counts.abstained + counts.not_needed + counts.not_sampled,
        "params": run.parameters(name),
        "metrics": metrics,
        "metadata": {
            "failed": counts.failed, "failure_score": run.manifest.failure_score,
            "ci95": ci95.map(|interval| [interval.low, interval.high]), "ci95_method": figures.method,
            "identity": run.identity(name).map(ToString::to_string),
        },
    })
}

/// Methods for a log's samples and their summaries.
impl ExportedRun<'_> {
    fn sample(&self, row: &ResultRow) -> Result<Value, FormatError> {
        let sample = Sample::of(row, self)?;
        let model = model(self);
        let choices = sample.output.iter().map(|text| {
            let message = json!({ "role": "assistant", "content": text, "source": "generate", "model": model });
            json!({ "message": message, "stop_reason": "stop" })
        });
        let output = json!({
            "model": model,
            "completion": sample.output.as_deref().unwrap_or_default(),
            "choices": choices.collect::<Value>(),
        });
        let error = failure_of_program(row);
        let error =
            error.map(|text| json!({ "message": text, "traceback": "", "traceback_ansi": "" }));
        let mut written = self.common(row, &sample);
        written.extend(fields(json!({
            "messages": messages(&sample),
            "output": output,
            "error": error,
        })));
        Ok(written.into())
    }

    fn summary(&self, row: &ResultRow) -> Result<Value, FormatError> {
        let sample = Sample::of(row, self)?;
        let message_count = match &sample.trajectory {
            Some(trajectory) => trajectory.messages().len(),
            None => 1 + usize::from(sample.output.is_some()),
        };
        let error = failure_of_program(row);
        let mut written = self.common(row, &sample);
        written.extend(fields(json!({
            "message_count": message_count,
            "completed": error.is_none(),
            "error": error,
        })));
        Ok(written.into())
    }

    /// Returns the fields that a sample and its summary share.
    fn common(&self, row: &ResultRow, sample: &Sample) -> Map<String, Value> {
        let scores = row.scores.iter();
        let scores = scores.map(|(name, it)| (name.clone(), self.score(name, it)));
        let usage = token_usage(row).map(|tokens| (model(self).to_owned(), tokens));
        let target = match &*sample.target {
            [] => "".into(),
            [target] => target.as_str().into(),
            targets => json!(targets),
        };
        fields(json!({
            "id": row.id,
            "epoch": 1,
            "input": sample.input,
            "target": target,
            "scores": scores.collect::<Map<_, _>>(),
            "metadata": attributes(&row.attributes),
            "model_usage": usage.into_iter().collect::<Map<_, _>>(),
            "total_time": row.latency_s,
            "working_time": row.latency_s,
            "uuid": self.uuid(&["sample", &row.id]),
        }))
    }

    fn score(&self, name: &str, score: &ResultScore) -> Value {
        let is_verdict = self.is_verdict(name);
        let value = match score.value {
            Some(value) if is_verdict => json!(if value >= 1.0 { "C" } else { "I" }),
            Some(value) => json!(value),
            None => NOT_SCORED.into(),
        };
        let mut metadata = score.metadata.clone();
        metadata.extend(fields(json!({
            "passed": score.passed.filter(|_| score.value.is_some() && !is_verdict),
            "parts": Some(&score.parts).filter(|it| !it.is_empty()),
            "cost_msats": Some(score.cost_msats).filter(|it| *it > 0),
            // inspect_ai has only one value, "not scored", for all outcomes without a score.
            "dsrs_metrics_outcome": score.value.is_none().then(|| score.outcome.name()),
        })));
        present(json!({
            "value": value,
            "explanation": score.explanation(),
            "metadata": Some(metadata).filter(|it| !it.is_empty()),
        }))
    }
}

/// Returns a row's attributes. The attribute `metadata`, which rows from inspect_ai have, becomes the metadata itself.
fn attributes(attributes: &Fields) -> Map<String, Value> {
    let mut metadata = Map::new();
    for (name, value) in attributes.iter() {
        match value {
            Value::Object(fields) if name == "metadata" => metadata.extend(fields.clone()),
            value => drop(metadata.insert(name.to_owned(), value.clone())),
        }
    }
    metadata
}

/// Returns the program's error, if it failed.
fn failure_of_program(row: &ResultRow) -> Option<String> {
    let mut scores = row.scores.values();
    let failed = scores.find(|it| it.outcome == ResultOutcome::ProgramFailed)?;
    let name = || failed.outcome.name().to_owned();
    Some(failed.error.clone().unwrap_or_else(name))
}

/// Returns the trajectory, or if there is none, the input and the answer, as inspect_ai messages.
fn messages(sample: &Sample) -> Vec<Value> {
    match &sample.trajectory {
        Some(trajectory) => of_trajectory(trajectory),
        None => {
            let question = json!({ "role": "user", "content": sample.input, "source": "input" });
            let answer =
                |text| json!({ "role": "assistant", "content": text, "source": "generate" });
            let answer = sample.output.as_ref().map(answer);
            [question].into_iter().chain(answer).collect()
        }
    }
}

fn of_trajectory(trajectory: &Trajectory) -> Vec<Value> {
    let calls = trajectory.tool_calls();
    let failed = |id: &String| {
        let mut calls = calls.iter();
        calls.any(|it| it.failed && it.id.as_ref() == Some(id))
    };
    let messages = trajectory.messages().iter().enumerate();
    let messages = messages.map(|(turn, message)| {
        let calls = message.tool_calls.iter().enumerate().map(|(number, call)| {
            let id = call.id.clone();
            let (arguments, error) = match &call.args {
                args @ Value::Object(_) => (args.clone(), None),
                malformed => (json!({}), Some(as_string(malformed))),
            };
            present(json!({
                "id": id.unwrap_or_else(|| format!("{turn}-{number}")),
                "function": call.name,
                "arguments": arguments,
                "type": "function",
                "parse_error": error,
            }))
        });
        let calls: Vec<Value> = calls.collect();
        let error = message.tool_call_id.as_ref().filter(|id| failed(id));
        present(json!({
            "role": message.role.as_str(),
            "content": message.text,
            "tool_calls": Some(calls).filter(|it| !it.is_empty()),
            "tool_call_id": message.tool_call_id,
            "error": error.map(|_| json!({ "type": "unknown", "message": message.text })),
        }))
    });
    messages.collect()
}
