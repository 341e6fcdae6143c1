//! Stores that execute queries: a dataset in memory, or an endpoint.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use oxigraph::io::{RdfFormat, RdfParser};
use oxigraph::model::Dataset;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

#[cfg(feature = "sparql-http")]
use super::endpoint::Endpoint;

/// A store that executes predicted queries: an embedded Oxigraph with the data of RDF files, or an
/// HTTP endpoint.
///
/// Cheap to clone; clones share the data. On the command line it is the path of a file, a JSON list
/// of paths, or the URL of an endpoint (`http://localhost:7878/query`, in a build with the feature
/// `sparql-http`).
#[derive(Clone)]
pub struct SparqlStore(pub(super) Backend);

#[derive(Clone)]
pub(super) enum Backend {
    Embedded(Arc<Dataset>),
    #[cfg(feature = "sparql-http")]
    Endpoint(Arc<Endpoint>),
}

/// Data that cannot be loaded, or an invalid endpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The file's extension is not that of a known RDF format.
    #[error("{}: unknown RDF file extension; expected ttl, nt, nq, trig, rdf, jsonld or n3", .0.display())]
    UnknownFormat(PathBuf),
    /// The data is not valid in its format.
    #[error("{name}: {reason}")]
    InvalidData {
        /// The file, or the format of a string.
        name: String,
        /// The parser's message, with the line.
        reason: String,
    },
    /// The URL is invalid, or this build does not support endpoints.
    #[error("{0}")]
    InvalidEndpoint(String),
}

/// The datasets that are in use, by their files, so that the metrics of a run share them.
static LOADED: Mutex<Option<HashMap<FileState, Weak<Dataset>>>> = Mutex::new(None);

type FileState = Vec<(PathBuf, Option<SystemTime>, u64)>;

impl SparqlStore {
    /// Loads a file. Its extension determines the format (`ttl`, `nt`, `nq`, `trig`, `rdf`,
    /// `jsonld`, `n3`).
    ///
    /// A file that another store has loaded, and that has not changed since, is not loaded again.
    ///
    /// # Errors
    /// [`StoreError`] with the file and, for bad data, the line.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::from_paths([path])
    }

    /// Loads several files into one dataset.
    ///
    /// # Errors
    /// As [`from_path`](Self::from_path), for the first that cannot be loaded.
    pub fn from_paths(
        paths: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> Result<Self, StoreError> {
        let state = paths.into_iter().map(|path| state(path.as_ref())).collect::<Result<_, _>>()?;
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = loaded.get_or_insert_default();
        loaded.retain(|_, dataset| dataset.strong_count() > 0);
        if let Some(dataset) = loaded.get(&state).and_then(Weak::upgrade) {
            return Ok(Self(Backend::Embedded(dataset)));
        }
        let dataset = Arc::new(load(&state)?);
        loaded.insert(state, Arc::downgrade(&dataset));
        Ok(Self(Backend::Embedded(dataset)))
    }

    /// Loads a string in Turtle format.
    ///
    /// # Errors
    /// [`StoreError::InvalidData`] with the line.
    ///
    /// ```
    /// use dsrs_metrics::sparql::SparqlStore;
    ///
    /// let store = SparqlStore::from_turtle("<a:louvre> <a:city> 'Paris', 'France' .")?;
    /// assert_eq!(store.triples(), Some(2));
    /// # Ok::<(), dsrs_metrics::sparql::StoreError>(())
    /// ```
    pub fn from_turtle(turtle: &str) -> Result<Self, StoreError> {
        let mut dataset = Dataset::new();
        read(&mut dataset, RdfFormat::Turtle, turtle.as_bytes(), "Turtle".to_owned())?;
        Ok(Self(Backend::Embedded(Arc::new(dataset))))
    }

    /// Uses an endpoint of the SPARQL 1.1 protocol, by the URL that accepts queries.
    ///
    /// # Errors
    /// [`StoreError::InvalidEndpoint`] if the URL is invalid.
    #[cfg(feature = "sparql-http")]
    pub fn from_endpoint(url: &str) -> Result<Self, StoreError> {
        Ok(Self(Backend::Endpoint(Arc::new(Endpoint::new(url)?))))
    }

    #[cfg(not(feature = "sparql-http"))]
    fn from_endpoint(url: &str) -> Result<Self, StoreError> {
        Err(StoreError::InvalidEndpoint(format!(
            "{url}: this build does not support endpoints; build it with the feature `sparql-http`"
        )))
    }

    /// The number of loaded triples; `None` for an endpoint.
    #[must_use]
    pub fn triples(&self) -> Option<usize> {
        match &self.0 {
            Backend::Embedded(dataset) => Some(dataset.len()),
            #[cfg(feature = "sparql-http")]
            Backend::Endpoint(_) => None,
        }
    }
}

fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
    let path = path.to_owned();
    |error| StoreError::Unreadable { path, error }
}

fn state(path: &Path) -> Result<(PathBuf, Option<SystemTime>, u64), StoreError> {
    let real = path.canonicalize().map_err(unreadable(path))?;
    let metadata = real.metadata().map_err(unreadable(path))?;
    Ok((real, metadata.modified().ok(), metadata.len()))
}

fn load(files: &FileState) -> Result<Dataset, StoreError> {
    let mut dataset = Dataset::new();
    for (path, ..) in files {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let format = extension
            .and_then(|extension| RdfFormat::from_extension(&extension.to_ascii_lowercase()))
            .ok_or_else(|| StoreError::UnknownFormat(path.clone()))?;
        let bytes = std::fs::read(path).map_err(unreadable(path))?;
        read(&mut dataset, format, &bytes, path.display().to_string())?;
    }
    Ok(dataset)
}

fn read(
    dataset: &mut Dataset,
    format: RdfFormat,
    bytes: &[u8],
    name: String,
) -> Result<(), StoreError> {
    // Blank nodes of different files are distinct.
    for quad in RdfParser::from_format(format).rename_blank_nodes().for_slice(bytes) {
        match quad {
            Ok(quad) => dataset.insert(&quad),
            Err(error) => return Err(StoreError::InvalidData { name, reason: error.to_string() }),
        };
    }
    Ok(())
}

impl fmt::Debug for SparqlStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Backend::Embedded(dataset) => write!(f, "SparqlStore({} triples)", dataset.len()),
            #[cfg(feature = "sparql-http")]
            Backend::Endpoint(endpoint) => write!(f, "SparqlStore({endpoint:?})"),
        }
    }
}

/// The JSON form of a [`SparqlStore`].
#[derive(Deserialize)]
#[serde(untagged)]
enum JsonStore {
    PathOrUrl(String),
    Paths(Vec<String>),
}

impl<'de> Deserialize<'de> for SparqlStore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let store = match JsonStore::deserialize(deserializer)? {
            JsonStore::PathOrUrl(url)
                if ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme)) =>
            {
                Self::from_endpoint(&url)
            }
            JsonStore::PathOrUrl(path) => Self::from_path(path),
            JsonStore::Paths(paths) => Self::from_paths(paths),
        };
        store.map_err(D::Error::custom)
    }
}
