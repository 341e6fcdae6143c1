//! Where queries are asked: a graph that is loaded once, or an endpoint.

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

/// Where predicted queries are asked: an embedded Oxigraph with the data of a file, or an HTTP endpoint.
///
/// Cheap to clone, and shared by all who have it. On a command line it is the path of a file, a JSON list of paths, or the
/// address of an endpoint (`http://localhost:7878/query`, in a build with the feature `sparql-http`).
#[derive(Clone)]
pub struct SparqlStore(pub(super) Source);

#[derive(Clone)]
pub(super) enum Source {
    Loaded(Arc<Dataset>),
    #[cfg(feature = "sparql-http")]
    Endpoint(Arc<Endpoint>),
}

/// Data that cannot be loaded, or an endpoint that cannot be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// The file's name does not say in which format it is.
    #[error("{}: no format of RDF is known by this extension; use ttl, nt, nq, trig, rdf, jsonld or n3", .0.display())]
    UnknownFormat(PathBuf),
    /// The data break the rules of their format.
    #[error("{name}: {reason}")]
    BadData {
        /// The file, or the format of a text.
        name: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// The address is none, or this build asks no endpoints.
    #[error("{0}")]
    BadEndpoint(String),
}

/// The files that some store holds at present, so that the metrics of a run share what they ask.
static LOADED: Mutex<Option<HashMap<FileState, Weak<Dataset>>>> = Mutex::new(None);

type FileState = Vec<(PathBuf, Option<SystemTime>, u64)>;

impl SparqlStore {
    /// Loads a file; its extension says the format (`ttl`, `nt`, `nq`, `trig`, `rdf`, `jsonld`, `n3`).
    ///
    /// A file that another store still holds, and that has not changed, is not loaded again.
    ///
    /// # Errors
    /// [`StoreError`] with the file and, for bad data, the line.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::from_paths([path])
    }

    /// Loads several files into one graph.
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
            return Ok(Self(Source::Loaded(dataset)));
        }
        let dataset = Arc::new(load(&state)?);
        loaded.insert(state, Arc::downgrade(&dataset));
        Ok(Self(Source::Loaded(dataset)))
    }

    /// Loads a text in Turtle.
    ///
    /// # Errors
    /// [`StoreError::BadData`] with the line.
    ///
    /// ```
    /// use dsrs_metrics::sparql::SparqlStore;
    ///
    /// let store = SparqlStore::from_turtle("<a:louvre> <a:city> 'Paris', 'France' .")?;
    /// assert_eq!(store.triples(), Some(2));
    /// # Ok::<(), dsrs_metrics::sparql::StoreError>(())
    /// ```
    pub fn from_turtle(text: &str) -> Result<Self, StoreError> {
        let mut dataset = Dataset::new();
        read(&mut dataset, RdfFormat::Turtle, text.as_bytes(), "Turtle".to_owned())?;
        Ok(Self(Source::Loaded(Arc::new(dataset))))
    }

    /// An endpoint of the SPARQL 1.1 protocol, by the address to which queries are sent.
    ///
    /// # Errors
    /// [`StoreError::BadEndpoint`] if that is no address.
    #[cfg(feature = "sparql-http")]
    pub fn at(address: &str) -> Result<Self, StoreError> {
        Ok(Self(Source::Endpoint(Arc::new(Endpoint::new(address)?))))
    }

    #[cfg(not(feature = "sparql-http"))]
    fn at(address: &str) -> Result<Self, StoreError> {
        Err(StoreError::BadEndpoint(format!(
            "{address}: this build asks no endpoints; build it with the feature `sparql-http`"
        )))
    }

    /// How many triples are loaded; nothing for an endpoint.
    #[must_use]
    pub fn triples(&self) -> Option<usize> {
        match &self.0 {
            Source::Loaded(dataset) => Some(dataset.len()),
            #[cfg(feature = "sparql-http")]
            Source::Endpoint(_) => None,
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
    // Blank nodes of two files are never the same.
    for quad in RdfParser::from_format(format).rename_blank_nodes().for_slice(bytes) {
        match quad {
            Ok(quad) => dataset.insert(&quad),
            Err(error) => return Err(StoreError::BadData { name, reason: error.to_string() }),
        };
    }
    Ok(())
}

impl fmt::Debug for SparqlStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::Loaded(dataset) => write!(f, "SparqlStore({} triples)", dataset.len()),
            #[cfg(feature = "sparql-http")]
            Source::Endpoint(endpoint) => write!(f, "SparqlStore({endpoint:?})"),
        }
    }
}

/// A store as a command line has it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    One(String),
    Several(Vec<String>),
}

impl<'de> Deserialize<'de> for SparqlStore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let store = match Written::deserialize(deserializer)? {
            Written::One(text)
                if ["http://", "https://"].iter().any(|scheme| text.starts_with(scheme)) =>
            {
                Self::at(&text)
            }
            Written::One(path) => Self::from_path(path),
            Written::Several(paths) => Self::from_paths(paths),
        };
        store.map_err(D::Error::custom)
    }
}
