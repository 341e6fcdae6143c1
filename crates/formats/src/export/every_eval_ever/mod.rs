//! Export to the *Every Eval Ever* format, schema 0.3.0.
//!
//! The output is a JSON file for the run and a JSONL file with the rows. They are written to the folder that the
//! format's validator expects: `data/DATASET/DEVELOPER/MODEL/UUID.json` and `UUID_samples.jsonl`.
//!
//! The schemas of both files are in the `every-eval-ever` package, as `eval.schema.json` and
//! `instance_level_eval.schema.json`.

mod aggregate;
mod instance;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::run::{ExportedRun, LeftOut};
use crate::FormatError;
use crate::evaluate::report::OutputFile;
use crate::messages::escape;
use crate::messages::hash::hexadecimal;
use sha2::{Digest, Sha256};

/// The version of both schemas.
const SCHEMA_VERSION: &str = "0.3.0";

/// The tags with a value of the schema.
const TAGS_WITH_VALUES: [(&str, &[&str]); 3] = [
    (
        "relationship",
        &["first_party", "third_party", "collaborative", "other"],
    ),
    (
        "deployment",
        &["self_deployed", "externally_managed", "unknown"],
    ),
    (
        "availability",
        &["open_weights", "closed_weights", "unknown"],
    ),
];

/// The names of the evaluation in both files, and their folder.
struct Names {
    evaluation_id: String,
    /// The model as `DEVELOPER/NAME`.
    model: String,
    organization: String,
    dataset: String,
    /// The folder below the one that the caller names.
    folder: PathBuf,
    uuid: String,
}

impl Names {
    /// Returns an error with all facts that are missing.
    fn of(run: &ExportedRun<'_>) -> Result<Self, FormatError> {
        let model = run
            .tag("model")
            .filter(|model| model.split('/').all(is_portable));
        let model = model.filter(|model| model.contains('/'));
        let organization = run.tag("organization");
        let (Some(model), Some(organization)) = (model, organization) else {
            let found = match run.tag("model") {
                Some(model) => format!(" (found the model `{}`)", escape::name(model)),
                None => String::new(),
            };
            let wanted_model = "--tag model=DEVELOPER/NAME, the model that was evaluated";
            let wanted_organization = "--tag organization=NAME, who evaluated it";
            let wanted = match (model, organization) {
                (None, None) => format!("{wanted_model}, and {wanted_organization}"),
                (None, _) => wanted_model.to_owned(),
                _ => wanted_organization.to_owned(),
            };
            let reason = format!("missing facts about the run{found}; pass {wanted}");
            return Err(facts_error(&reason));
        };
        for (tag, allowed) in TAGS_WITH_VALUES {
            if let Some(found) = run.tag(tag).filter(|found| !allowed.contains(found)) {
                let (found, allowed) = (escape::name(found), allowed.join(", "));
                let reason = format!("invalid tag {tag}={found}; write one of: {allowed}");
                return Err(facts_error(&reason));
            }
        }
        let dataset = run.dataset();
        let collection = dataset.replace('/', "_");
        if !is_portable(&collection) {
            let found = escape::name(&dataset);
            let reason = format!(
                "invalid data set name `{found}`: expected a folder name; pass --tag dataset=NAME"
            );
            return Err(facts_error(&reason));
        }
        let evaluation_id = format!("{dataset}/{model}/{}", run.ended_s());
        let (developer, name) = model.split_once('/').unwrap_or_default();
        let folder = Path::new("data")
            .join(collection)
            .join(developer)
            .join(name.replace('/', "_"));
        let uuid = run.uuid(&["every_eval_ever", model, &dataset]);
        let (model, organization) = (model.to_owned(), organization.to_owned());
        Ok(Self {
            evaluation_id,
            model,
            organization,
            dataset,
            folder,
            uuid,
        })
    }

    fn samples(&self) -> String {
        format!("{}_samples.jsonl", self.uuid)
    }
}

/// Returns `true` if all systems accept this as the name of a folder.
fn is_portable(name: &str) -> bool {
    let is_reserved = |name: &str| {
        let name = name
            .split('.')
            .next()
            .unwrap_or_default()
            .to_ascii_uppercase();
        ["CON", "PRN", "AUX", "NUL", "DATA"].contains(&&*name)
            || (name.len() == 4 && (name.starts_with("COM") || name.starts_with("LPT")))
    };
    !name.is_empty()
        && !name.ends_with(['.', ' '])
        && !name
            .chars()
            .any(|it| it.is_control() || "<>:\"/\\|?*".contains(it))
        && !is_reserved(name)
}

/// Writes both files, and returns their paths, the run first, with notes on what is not in them.
pub(super) fn write(
    run: &ExportedRun<'_>,
    folder: &Path,
) -> Result<(Vec<PathBuf>, Vec<String>), FormatError> {
    let names = Names::of(run)?;
    let (results, without_score) = aggregate::results(run, &names);
    if results.is_empty() {
        let reason = "no metric has a score".to_owned();
        return Err(facts_error(&reason));
    }
    let target = folder.join(&names.folder);
    let file_error = |file: &Path| {
        let file = file.to_owned();
        move |reason| unwritable(&file, &reason)
    };
    fs::create_dir_all(&target).map_err(file_error(&target))?;
    let mut notes: Vec<String> = without_score;
    let mut files = vec![target.join(format!("{}.json", names.uuid))];
    let path = target.join(names.samples());
    let samples = match write_samples(run, &names, &path)? {
        None => {
            notes.push("the rows are not exported, because the result file has no gold rows; write it with `score --with-rows`".to_owned());
            None
        }
        Some((samples, note)) => {
            notes.extend(note);
            files.push(path);
            Some(samples)
        }
    };
    let document = aggregate::document(run, &names, &results, samples);
    let out = OutputFile::create(&files[0]).map_err(file_error(&files[0]))?;
    let written = out.write(|out| {
        serde_json::to_writer_pretty(&mut *out, &document)?;
        out.write_all(b"\n")
    });
    written.map_err(file_error(&files[0]))?;
    Ok((files, notes))
}

fn unwritable(file: &Path, reason: &io::Error) -> FormatError {
    FormatError::at(file, format_args!("cannot be written: {reason}"))
}

/// The error of facts that neither the result file nor the caller states.
fn facts_error(reason: &str) -> FormatError {
    FormatError::new(format_args!("--to eee: {reason}"))
}

/// The file with the rows, for the file of the run.
struct Samples {
    rows: u64,
    sha256: String,
}

/// Writes the rows, and returns a note on the results that are not in the file. Without gold rows it writes no file and returns `None`.
fn write_samples(
    run: &ExportedRun<'_>,
    names: &Names,
    path: &Path,
) -> Result<Option<(Samples, Option<String>)>, FormatError> {
    let failed = |reason| unwritable(path, &reason);
    let out = OutputFile::create(path).map_err(failed)?;
    let (mut rows, mut hash, mut left_out) = (0, Sha256::new(), LeftOut::default());
    let (mut result, mut has_gold) = (Ok(()), true);
    let written = out.write(|file| {
        result = run.each_row(|row| {
            has_gold &= row.gold.is_some();
            if !has_gold {
                return Ok(());
            }
            for record in instance::of_row(run, names, row, &mut left_out)? {
                let line = format!("{record}\n");
                hash.update(&line);
                file.write_all(line.as_bytes()).map_err(failed)?;
                rows += 1;
            }
            Ok(())
        });
        // The file gets its name only if it is complete.
        if has_gold && result.is_ok() {
            Ok(())
        } else {
            Err(io::ErrorKind::Other.into())
        }
    });
    result?;
    if !has_gold {
        return Ok(None);
    }
    written.map_err(failed)?;
    let sha256 = hexadecimal(&hash.finalize());
    Ok(Some((Samples { rows, sha256 }, left_out.note())))
}
