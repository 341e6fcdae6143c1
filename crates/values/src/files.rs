//! Files that a metric's score depends on, such as tests, graphs and schemas. Their contents are part of the score's
//! key in a store.

use std::collections::BTreeMap;
use std::fs::{self, File, FileType};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::messages::hash;

/// The maximum number of entries in a folder.
const MAX_ENTRIES: usize = 100_000;

/// The maximum total size of a folder's files, in bytes.
const MAX_BYTES: u64 = 4 << 30;

/// A file or folder that a metric reads.
///
/// A folder includes everything in it. For the files of a metric, see `Metric::files`.
#[derive(Debug, Clone)]
pub struct MetricFile {
    parameter: String,
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    /// A file or folder that is read when a run begins.
    Path(PathBuf),
    /// A file that the metric has already read, represented by its name and hash.
    Loaded { name: String, hash: String },
}

impl MetricFile {
    /// Creates an entry for a file, or for a folder and everything in it.
    ///
    /// The run reads the content when it begins. Messages refer to the file by `parameter`, such as `Sandbox.folder`.
    pub fn new(parameter: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self {
            parameter: parameter.into(),
            source: Source::Path(path.into()),
        }
    }

    /// Creates an entry for a file that the metric has already loaded.
    ///
    /// The entry describes the content as it was loaded, even if the file changes later.
    pub fn loaded(
        parameter: impl Into<String>,
        name: impl Into<String>,
        content: impl AsRef<[u8]>,
    ) -> Self {
        Self::hashed(parameter, name, hash::of_bytes(content.as_ref()))
    }

    #[doc(hidden)]
    pub fn hashed(
        parameter: impl Into<String>,
        name: impl Into<String>,
        hash: impl Into<String>,
    ) -> Self {
        let source = Source::Loaded {
            name: name.into(),
            hash: hash.into(),
        };
        Self {
            parameter: parameter.into(),
            source,
        }
    }

    /// Returns the parameter name and the path of the file or folder.
    ///
    /// Returns `None` for a file that the metric has already loaded.
    pub fn path(&self) -> Option<(&str, &Path)> {
        match &self.source {
            Source::Path(path) => Some((&self.parameter, path)),
            Source::Loaded { .. } => None,
        }
    }
}

/// Hashes of file contents, grouped by parameter name and keyed by file name.
///
/// In a folder, each file is named by its path relative to the folder.
pub type Contents = BTreeMap<String, BTreeMap<String, String>>;

/// Returns a hash of each file's content.
///
/// If a file does not exist, its hash is `missing`.
///
/// # Errors
/// Returns a one-line message if a file cannot be read or a folder is too large.
pub fn contents(files: Vec<MetricFile>) -> Result<Contents, String> {
    let mut all = Contents::new();
    for MetricFile { parameter, source } in files {
        let mut read = Vec::new();
        match source {
            Source::Loaded { name, hash } => read.push((name, hash)),
            Source::Path(path) => add_path(&path, &mut read)
                .map_err(|error| format!("parameter `{parameter}`: {error}"))?,
        }
        let of_parameter = all.entry(parameter).or_default();
        for (name, content) in read {
            of_parameter.insert(unique(of_parameter, name), content);
        }
    }
    Ok(all)
}

/// Returns a name that is not yet in `all`.
///
/// If `all` already contains the name, a number is appended. For example, files in different folders can have the same
/// name.
pub fn unique<V>(all: &BTreeMap<String, V>, name: String) -> String {
    let numbered = (2_u64..).map(|number| format!("{name}#{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| !all.contains_key(name)).unwrap_or(name)
}

/// Adds a file under its name, or each entry of a folder under its path within the folder.
fn add_path(path: &Path, all: &mut Vec<(String, String)>) -> Result<(), String> {
    let failed = |error: io::Error| format!("cannot read `{}`: {error}", path.display());
    let name = || text(path.file_name().map_or(path, Path::new));
    let kind = match fs::metadata(path) {
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            all.push((name(), "missing".to_owned()));
            return Ok(());
        }
        Err(error) => return Err(failed(error)),
    };
    if kind.is_dir() {
        return add_folder(path, all);
    }
    if !kind.is_file() {
        return Err(format!(
            "expected a file or folder, found a pipe, socket or device `{}`",
            path.display()
        ));
    }
    let hash = File::open(path).and_then(hash::of_reader).map_err(failed)?;
    all.push((name(), hash));
    Ok(())
}

/// Adds the entries of a folder. Symbolic links are not followed: runs compare the path that a link points to.
fn add_folder(root: &Path, all: &mut Vec<(String, String)>) -> Result<(), String> {
    let (mut folders, mut left) = (vec![PathBuf::new()], MAX_BYTES);
    while let Some(folder) = folders.pop() {
        let path = root.join(&folder);
        let failed =
            |path: &Path, error: io::Error| format!("cannot read `{}`: {error}", path.display());
        for entry in fs::read_dir(&path).map_err(|error| failed(&path, error))? {
            let entry = entry.map_err(|error| failed(&path, error))?;
            let (path, inner) = (entry.path(), folder.join(entry.file_name()));
            let kind = entry.file_type().map_err(|error| failed(&path, error))?;
            let content = content(&path, kind, &mut left).map_err(|error| failed(&path, error))?;
            all.push((text(&inner), content));
            if kind.is_dir() {
                folders.push(inner);
            }
            if all.len() > MAX_ENTRIES || left == 0 {
                return Err(format!(
                    "expected a folder of at most {MAX_ENTRIES} files and {} GiB, found a larger one, `{}`; choose a smaller folder",
                    MAX_BYTES >> 30,
                    root.display()
                ));
            }
        }
    }
    Ok(())
}

/// Returns the string that represents a folder entry when runs are compared. `left` is the number of bytes that may
/// still be read, plus one.
fn content(path: &Path, kind: FileType, left: &mut u64) -> io::Result<String> {
    if kind.is_dir() {
        return Ok("folder".to_owned());
    }
    if kind.is_symlink() {
        return Ok(format!("link to {}", text(&fs::read_link(path)?)));
    }
    if !kind.is_file() {
        return Ok("pipe, socket or device".to_owned());
    }
    let mut file = File::open(path)?.take(*left);
    let hash = hash::of_reader(&mut file)?;
    *left = file.limit();
    Ok(match is_executable(path)? {
        true => format!("{hash}, executable"),
        false => hash,
    })
}

#[cfg(unix)]
fn is_executable(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    Ok(fs::metadata(path)?.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Returns a path as a string that differs for different paths, with `/` between its parts.
fn text(path: &Path) -> String {
    let parts = path.iter().map(|part| match part.to_str() {
        Some(part) => part.to_owned(),
        None => part.as_encoded_bytes().escape_ascii().to_string(),
    });
    parts.collect::<Vec<_>>().join("/")
}

/// A metric parameter type whose values can name files.
///
/// `#[metric]` adds these files to `Metric::files`. If one of the files changes, stored scores are not reused.
///
/// [`PathBuf`] implements this trait, and so do options and lists of types that implement it. An empty path does not
/// name a file.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::contract::{MetricFile, NamesFiles};
/// # use serde::{Deserialize, Serialize};
///
/// /// The path of a JSON schema.
/// #[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
/// struct Schema(String);
///
/// impl NamesFiles for Schema {
///     fn files(&self, parameter: &str, all: &mut Vec<MetricFile>) {
///         all.push(MetricFile::new(parameter, &self.0));
///     }
/// }
///
/// /// The answer matches the schema.
/// #[metric]
/// fn valid(#[pred] answer: &str, #[param] schema: &Schema) -> bool {
///     std::fs::read_to_string(&schema.0).is_ok_and(|schema| schema.contains(answer))
/// }
///
/// let valid = Valid::builder().schema(Schema("schema.json".to_owned())).build();
/// let mut files = Vec::new();
/// Metric::<Example, Prediction>::files(&valid, &mut files);
/// assert_eq!(files.len(), 1);
/// ```
pub trait NamesFiles {
    /// Adds to `all` the files that this value names.
    ///
    /// `parameter` is the parameter's name.
    fn files(&self, parameter: &str, all: &mut Vec<MetricFile>);
}

impl NamesFiles for PathBuf {
    fn files(&self, parameter: &str, all: &mut Vec<MetricFile>) {
        if !self.as_os_str().is_empty() {
            all.push(MetricFile::new(parameter, self));
        }
    }
}

impl<T: NamesFiles> NamesFiles for Option<T> {
    fn files(&self, parameter: &str, all: &mut Vec<MetricFile>) {
        self.iter().for_each(|file| file.files(parameter, all));
    }
}

impl<T: NamesFiles> NamesFiles for Vec<T> {
    fn files(&self, parameter: &str, all: &mut Vec<MetricFile>) {
        self.iter().for_each(|file| file.files(parameter, all));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_folder_is_compared_by_names_and_contents_and_its_links_are_not_followed() {
        let root = std::env::temp_dir().join(format!("dsrs-metrics-files-{}", std::process::id()));
        fs::create_dir_all(root.join("fold/empty")).unwrap();
        fs::create_dir_all(root.join("fold/in")).unwrap();
        fs::write(root.join("fold/in/t.sh"), "exit 0").unwrap();
        fs::write(root.join("secret"), "outside").unwrap();
        std::os::unix::fs::symlink("../secret", root.join("fold/link")).unwrap();
        std::os::unix::fs::symlink("../fold", root.join("fold/loop")).unwrap();
        let read = || {
            let files =
                ["fold", "secret", "none"].map(|name| MetricFile::new("S.f", root.join(name)));
            let mut all = contents(files.into()).unwrap();
            all.remove("S.f").unwrap().into_iter().collect::<Vec<_>>()
        };
        let hash = |content: &str| hash::of_bytes(content.as_bytes());
        let expected = |script: String| {
            [
                ("empty", "folder".to_owned()),
                ("in", "folder".to_owned()),
                ("in/t.sh", script),
                ("link", "link to ../secret".to_owned()),
                ("loop", "link to ../fold".to_owned()),
                ("none", "missing".to_owned()),
                ("secret", hash("outside")),
            ]
            .map(|(name, content)| (name.to_owned(), content))
        };
        assert_eq!(read(), expected(hash("exit 0")));
        fs::write(root.join("fold/in/t.sh"), "exit 1").unwrap();
        assert_eq!(read(), expected(hash("exit 1")));
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        fs::set_permissions(root.join("fold/in/t.sh"), mode).unwrap();
        assert_eq!(read(), expected(format!("{}, executable", hash("exit 1"))));
        let socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
        let error = contents(vec![MetricFile::new("S.f", root.join("socket"))]).unwrap_err();
        let expected =
            "parameter `S.f`: expected a file or folder, found a pipe, socket or device `";
        assert!(error.starts_with(expected), "{error}");
        drop(socket);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn files_of_one_name_are_numbered() {
        let file = |content: &str| MetricFile::loaded("S.f", "a.nt", content);
        let all = contents(vec![file("1"), file("2"), file("3")]).unwrap();
        let names: Vec<_> = all["S.f"].keys().map(String::as_str).collect();
        assert_eq!(names, ["a.nt", "a.nt#2", "a.nt#3"]);
    }
}
