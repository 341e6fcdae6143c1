//! Errors of stores.

use std::path::PathBuf;

/// Data that cannot be loaded, or an invalid endpoint.
#[derive(thiserror::Error)]
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
    /// No known RDF format has the file's extension.
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

dsrs_metrics_values::debug_as_display!(StoreError);
