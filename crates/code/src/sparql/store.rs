//! Stores that execute queries: an in-memory dataset, or an endpoint.

use dsrs_metrics_values::files::{MetricFile, NamesFiles};
use dsrs_metrics_values::value_type::{TypeHelp, ValueType};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use oxigraph::io::{RdfFormat, RdfParser, RdfSyntaxError};
use oxigraph::model::Dataset;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[cfg(feature = "sparql-http")]
use super::endpoint::Endpoint;
use super::query::SparqlError;
use dsrs_metrics_values::messages::hash;

/// A store that executes predicted SPARQL queries.
///
/// The store is either an embedded Oxigraph database that contains the data from RDF files, or an HTTP endpoint.
///
/// Clones are cheap and share the data.
///
/// On the command line, write the path of a file, a JSON list of paths, or the URL of an endpoint, such as
/// `http://localhost:7878/query`. Endpoints require the `sparql-http` feature.
#[derive(Clone)]
pub struct SparqlStore {
    pub(super) backend: Backend,
    files: Arc<[LoadedFile]>,
}

/// A file that a [`SparqlStore`] has loaded.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LoadedFile {
    path: PathBuf,
    /// The hash of the file's content when it was loaded.
    #[doc(hidden)]
    pub hash: String,
}

impl LoadedFile {
    /// Returns the file's name, without its folder.
    #[doc(hidden)]
    pub fn name(&self) -> String {
        self.path
            .file_name()
            .unwrap_or(self.path.as_os_str())
            .to_string_lossy()
            .into_owned()
    }
}

#[derive(Clone)]
pub(super) enum Backend {
    Embedded(Arc<Dataset>),
    #[cfg(feature = "sparql-http")]
    Endpoint(Arc<Endpoint>),
}

/// The datasets in use, keyed by their files and contents, so that a run's metrics can share them.
static LOADED: Mutex<Option<Loaded>> = Mutex::new(None);

type Loaded = HashMap<Arc<[LoadedFile]>, Weak<Dataset>>;

impl SparqlStore {
    /// Creates a store from an RDF file.
    ///
    /// The file extension determines the format: `ttl`, `nt`, `nq`, `trig`, `rdf`, `jsonld` or `n3`.
    ///
    /// If another store already contains the same file with the same content, the file is not parsed again.
    ///
    /// # Errors
    /// Returns a [`SparqlError`] if the file cannot be loaded. The error names the file and, for invalid data, the
    /// line.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, SparqlError> {
        Self::from_paths([path])
    }

    /// Creates a store that contains the data from one or more RDF files.
    ///
    /// # Errors
    /// Returns a [`SparqlError`] for the first file that cannot be loaded, as in [`from_path`](Self::from_path).
    pub fn from_paths(
        paths: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<Self, SparqlError> {
        let (mut files, mut contents) = (Vec::new(), Vec::new());
        for path in paths {
            let read = || {
                let real = path.as_ref().canonicalize()?;
                std::fs::read(&real).map(|content| (real, content))
            };
            let (real, content) = read().map_err(|error| of_file(path.as_ref(), error))?;
            let hash = hash::of_bytes(&content);
            files.push(LoadedFile { path: real, hash });
            contents.push(content);
        }
        let files: Arc<[LoadedFile]> = files.into();
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = loaded.get_or_insert_default();
        loaded.retain(|_, dataset| dataset.strong_count() > 0);
        let dataset = match loaded.get(&files).and_then(Weak::upgrade) {
            Some(dataset) => dataset,
            None => {
                let dataset = Arc::new(load(&files, &contents)?);
                loaded.insert(Arc::clone(&files), Arc::downgrade(&dataset));
                dataset
            }
        };
        Ok(Self {
            backend: Backend::Embedded(dataset),
            files,
        })
    }

    /// Creates a store from RDF data in Turtle format.
    ///
    /// # Errors
    /// Returns a [`SparqlError`] with the line number if the string is not valid Turtle.
    ///
    /// ```
    /// use dsrs_metrics::sparql::SparqlStore;
    ///
    /// let store = SparqlStore::from_turtle("<a:louvre> <a:city> 'Paris', 'France' .")?;
    /// assert_eq!(store.triples(), Some(2));
    /// # Ok::<(), dsrs_metrics::sparql::SparqlError>(())
    /// ```
    pub fn from_turtle(turtle: &str) -> Result<Self, SparqlError> {
        let mut dataset = Dataset::new();
        let (path, hash) = (PathBuf::from("Turtle"), hash::of_bytes(turtle.as_bytes()));
        read(&mut dataset, RdfFormat::Turtle, turtle.as_bytes())
            .map_err(|error| of_file(&path, error))?;
        let files = Arc::new([LoadedFile { path, hash }]);
        Ok(Self {
            backend: Backend::Embedded(Arc::new(dataset)),
            files,
        })
    }

    /// Creates a store that sends its queries to a SPARQL 1.1 endpoint.
    ///
    /// `url` is the URL that accepts queries.
    ///
    /// # Errors
    /// Returns a [`SparqlError`] if the URL is invalid.
    #[cfg(feature = "sparql-http")]
    pub fn from_endpoint(url: &str) -> Result<Self, SparqlError> {
        let backend = Backend::Endpoint(Arc::new(Endpoint::new(url)?));
        Ok(Self {
            backend,
            files: Arc::new([]),
        })
    }

    #[cfg(not(feature = "sparql-http"))]
    fn from_endpoint(url: &str) -> Result<Self, SparqlError> {
        Err(SparqlError::new(format_args!(
            "{url}: this build does not support endpoints; build it with the `sparql-http` feature"
        )))
    }

    /// Returns the files that this store has loaded.
    #[doc(hidden)]
    pub fn loaded_files(&self) -> &[LoadedFile] {
        &self.files
    }

    /// Returns the number of triples in the store, or `None` for an endpoint.
    pub fn triples(&self) -> Option<usize> {
        match &self.backend {
            Backend::Embedded(dataset) => Some(dataset.len()),
            #[cfg(feature = "sparql-http")]
            Backend::Endpoint(_) => None,
        }
    }
}

fn of_file(path: &Path, reason: impl fmt::Display) -> SparqlError {
    SparqlError::new(format_args!("{}: {reason}", path.display()))
}

fn load(files: &[LoadedFile], contents: &[Vec<u8>]) -> Result<Dataset, SparqlError> {
    let mut dataset = Dataset::new();
    for (LoadedFile { path, .. }, content) in files.iter().zip(contents) {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        let format = extension.to_str().and_then(RdfFormat::from_extension);
        let expected = "unknown RDF file extension; expected ttl, nt, nq, trig, rdf, jsonld or n3";
        let format = format.ok_or_else(|| of_file(path, expected))?;
        read(&mut dataset, format, content).map_err(|error| of_file(path, error))?;
    }
    Ok(dataset)
}

fn read(dataset: &mut Dataset, format: RdfFormat, bytes: &[u8]) -> Result<(), RdfSyntaxError> {
    // Blank nodes from different files are different nodes.
    let parser = RdfParser::from_format(format).rename_blank_nodes();
    for quad in parser.for_slice(bytes) {
        dataset.insert(&quad?);
    }
    Ok(())
}

impl fmt::Debug for SparqlStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.backend {
            Backend::Embedded(dataset) => write!(f, "SparqlStore({} triples)", dataset.len()),
            #[cfg(feature = "sparql-http")]
            Backend::Endpoint(endpoint) => write!(f, "SparqlStore({endpoint:?})"),
        }
    }
}

/// Serializes the store as it appears in messages: the names of the files, or the endpoint's address without secrets.
impl Serialize for SparqlStore {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.backend {
            Backend::Embedded(_) => to.collect_seq(self.files.iter().map(LoadedFile::name)),
            #[cfg(feature = "sparql-http")]
            Backend::Endpoint(endpoint) => to.collect_str(&format_args!("{endpoint:?}")),
        }
    }
}

/// The JSON form of a [`SparqlStore`].
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a path, a URL, or a list of paths")]
enum JsonStore {
    PathOrUrl(String),
    Paths(Vec<String>),
}

impl<'de> Deserialize<'de> for SparqlStore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let store = match JsonStore::deserialize(deserializer)? {
            JsonStore::PathOrUrl(url)
                if url.starts_with("http://") || url.starts_with("https://") =>
            {
                Self::from_endpoint(&url)
            }
            JsonStore::PathOrUrl(path) => Self::from_path(path),
            JsonStore::Paths(paths) => Self::from_paths(paths),
        };
        store.map_err(D::Error::custom)
    }
}

impl NamesFiles for SparqlStore {
    fn files(&self, parameter: &str, all: &mut Vec<MetricFile>) {
        let files = self.loaded_files().iter();
        all.extend(files.map(|file| MetricFile::hashed(parameter, file.name(), &*file.hash)));
    }
}

impl ValueType for SparqlStore {
    const HELP: TypeHelp = TypeHelp::new("an RDF file, a list of RDF files, or an endpoint URL");
}

#[cfg(test)]
mod tests {
    use super::{Arc, Backend, Dataset, SparqlStore};

    /// Returns the dataset if the store contains files.
    fn dataset(store: &SparqlStore) -> Option<&Arc<Dataset>> {
        match &store.backend {
            Backend::Embedded(dataset) => Some(dataset),
            #[cfg(feature = "sparql-http")]
            Backend::Endpoint(_) => None,
        }
    }

    #[test]
    fn a_file_that_is_loaded_again_shares_the_dataset_until_its_content_changes() {
        let name = format!("dsrs-metrics-store-{}.nt", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, "<a:s> <a:p> <a:o> .\n").unwrap();
        let (first, again) = ["first", "again"]
            .map(|_| SparqlStore::from_path(&path).unwrap())
            .into();
        std::fs::write(&path, "<a:s> <a:z> <a:o> .\n").unwrap();
        let changed = SparqlStore::from_path(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let is_shared = |other| match (dataset(&first), dataset(other)) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        assert_eq!((is_shared(&again), is_shared(&changed)), (true, false));
    }
}
