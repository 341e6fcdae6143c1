//! Export to the *Every Eval Ever* format, schema 0.3.0.
//!
//! The output is a JSON file for the run and a JSONL file with the rows. They are written to the folder where the
//! format's validator expects them: `data/DATASET/DEVELOPER/MODEL/UUID.json` and `UUID_samples.jsonl`.
//!
//! The schemas of both files are in the `every-eval-ever` package, as `eval.schema.json` and
//! `instance_level_eval.schema.json`.

mod documents;

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::run::{ExportedRun, LeftOut, since_1970};
use crate::FormatError;
use crate::evaluate::report::OutputFile;
use crate::messages::escape;
use crate::messages::hash::hexadecimal;

/// The version of both schemas.
const SCHEMA_VERSION: &str = "0.3.0";

/// The tags whose values the schema restricts, with the allowed values.
const TAGS_WITH_VALUES: [(&str, &str); 3] = [
    (
        "relationship",
        "first_party, third_party, collaborative, other",
    ),
    ("deployment", "self_deployed, externally_managed, unknown"),
    ("availability", "open_weights, closed_weights, unknown"),
];

/// The names of the evaluation in both files, and their folder.
struct Names {
    evaluation_id: String,
    /// The model as `DEVELOPER/NAME`.
    model: String,
    organization: String,
    dataset: String,
    /// The folder below the one that the caller specified.
    folder: String,
    uuid: String,
}

impl Names {
    /// Returns an error that lists all missing facts.
    fn of(run: &ExportedRun<'_>) -> Result<Self, FormatError> {
        let is_valid = |model: &&str| model.contains('/') && model.split('/').all(is_portable);
        let model = run.tag("model").filter(is_valid);
        let (Some(model), Some(organization)) = (model, run.tag("organization")) else {
            return Err(facts_error(
                "missing facts about the run; pass --tag model=DEVELOPER/NAME, the model that was evaluated, and --tag organization=NAME, who evaluated it",
            ));
        };
        for (tag, allowed) in TAGS_WITH_VALUES {
            let is_allowed = |found: &str| allowed.split(", ").any(|it| it == found);
            if let Some(found) = run.tag(tag).filter(|found| !is_allowed(found)) {
                let found = escape::name(found);
                return Err(facts_error(format_args!(
                    "invalid tag {tag}={found}; write one of: {allowed}"
                )));
            }
        }
        let dataset = run.dataset();
        let collection = dataset.replace('/', "_");
        if !is_portable(&collection) {
            let found = escape::name(&dataset);
            return Err(facts_error(format_args!(
                "invalid data set name `{found}`: expected a folder name; pass --tag dataset=NAME"
            )));
        }
        let (developer, name) = model.split_once('/').unwrap_or_default();
        let name = name.replace('/', "_");
        Ok(Self {
            evaluation_id: format!("{dataset}/{model}/{}", since_1970(run.ended).as_secs()),
            model: model.to_owned(),
            organization: organization.to_owned(),
            folder: format!("data/{collection}/{developer}/{name}"),
            uuid: run.uuid(&["every_eval_ever", model, &dataset]),
            dataset,
        })
    }

    fn samples(&self) -> String {
        format!("{}_samples.jsonl", self.uuid)
    }
}

/// Returns `true` if all systems accept this string as a folder name.
fn is_portable(name: &str) -> bool {
    let device = name.split('.').next().unwrap_or_default();
    let device = device.to_ascii_uppercase();
    let is_port = device.starts_with("COM") || device.starts_with("LPT");
    let is_reserved =
        ["CON", "PRN", "AUX", "NUL", "DATA"].contains(&&*device) || (is_port && device.len() == 4);
    let is_invalid = |it: char| it.is_control() || "<>:\"/\\|?*".contains(it);
    !name.is_empty() && !name.ends_with(['.', ' ']) && !name.contains(is_invalid) && !is_reserved
}

/// Writes both files. Returns their paths, the run's file first, and notes on anything the files leave out.
pub(super) fn write(
    run: &ExportedRun<'_>,
    folder: &Path,
) -> Result<(Vec<PathBuf>, Vec<String>), FormatError> {
    let names = Names::of(run)?;
    let (results, mut notes) = documents::results(run, &names);
    if results.is_empty() {
        return Err(facts_error("no metric has a score"));
    }
    let target = folder.join(&names.folder);
    fs::create_dir_all(&target).map_err(|reason| unwritable(&target, &reason))?;
    let mut files = vec![target.join(format!("{}.json", names.uuid))];
    let path = target.join(names.samples());
    let samples = write_samples(run, &names, &path, &mut notes)?;
    files.extend(samples.is_some().then_some(path));
    let document = documents::document(run, &names, &results, samples.as_ref());
    write_file(&files[0], |out| {
        serde_json::to_writer_pretty(&mut *out, &document).map_err(io::Error::from)?;
        Ok(out.write_all(b"\n")?)
    })?;
    Ok((files, notes))
}

fn write_file(
    file: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let failed = |reason| unwritable(file, &reason);
    let written = OutputFile::create(file).map_err(failed)?.write(write);
    written.map_err(|error| error.into_output().map_or_else(|error| error, failed))
}

fn unwritable(file: &Path, reason: &io::Error) -> FormatError {
    FormatError::at(file, format_args!("cannot be written: {reason}"))
}

/// Returns the error for facts that neither the result file nor the caller provides.
fn facts_error(reason: impl Display) -> FormatError {
    FormatError::new(format_args!("--to eee: {reason}"))
}

const NO_GOLD: &str = "the rows are not exported, because the result file has no gold rows; write it with `score --with-rows`";

/// Writes the rows and notes the results that the file leaves out. Returns what the run's file says about the rows'
/// file. If there are no gold rows, it writes no file and returns `None`.
fn write_samples(
    run: &ExportedRun<'_>,
    names: &Names,
    path: &Path,
    notes: &mut Vec<String>,
) -> Result<Option<Value>, FormatError> {
    let (mut rows, mut hash, mut left_out) = (0_u64, Sha256::new(), LeftOut::default());
    let mut lacks_gold = false;
    let written = write_file(path, |file| {
        run.each_row(|row| {
            lacks_gold |= row.gold.is_none();
            if lacks_gold {
                return Err(FormatError::new(NO_GOLD));
            }
            for record in documents::of_row(run, names, row, &mut left_out)? {
                let line = format!("{record}\n");
                hash.update(&line);
                file.write_all(line.as_bytes())?;
                rows += 1;
            }
            Ok(())
        })
    });
    if lacks_gold {
        notes.push(NO_GOLD.to_owned());
        return Ok(None);
    }
    written?;
    notes.extend(left_out.note());
    Ok(Some(json!({
        "format": "jsonl",
        "file_path": format!("{}/{}", names.folder, names.samples()),
        "hash_algorithm": "sha256",
        "checksum": hexadecimal(&hash.finalize()),
        "total_rows": rows,
    })))
}
