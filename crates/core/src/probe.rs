//! Autoref specialization: a macro calls a method on a wrapper without knowing which traits the wrapped type implements.
//!
//! Each wrapper has an inherent method for types with the trait, and a trait method of the same name for all others.
//! Rust prefers the inherent method; a block that calls it imports the fallback trait.

use crate::files::{MetricFile, NamesFiles};
use crate::requirements::{Requirement, Requires};

/// Two values of one type, which may implement [`PartialEq`].
#[derive(Debug)]
#[doc(hidden)]
pub struct Compared<'a, T>(pub &'a T, pub &'a T);

impl<T: PartialEq> Compared<'_, T> {
    /// Returns whether the values are equal.
    #[must_use]
    pub fn are_equal(&self) -> bool {
        self.0 == self.1
    }
}

/// The fallback of [`Compared`]: values that cannot be compared are different.
#[doc(hidden)]
pub trait NotComparable {
    fn are_equal(&self) -> bool {
        false
    }
}

impl<T> NotComparable for Compared<'_, T> {}

/// A metric, which may implement [`Requires`].
#[derive(Debug)]
#[doc(hidden)]
pub struct Requiring<'a, M>(pub &'a M);

impl<M: Requires> Requiring<'_, M> {
    /// Adds what the metric requires.
    pub fn requirements(&self, all: &mut Vec<Requirement>) {
        self.0.requirements(all);
    }

    /// Adds the files that the metric reads.
    pub fn files(&self, all: &mut Vec<MetricFile>) {
        self.0.files(all);
    }

    /// Returns the largest expected cost of one call.
    #[must_use]
    pub fn max_cost(&self, declared_msats: u64) -> u64 {
        self.0.max_cost(declared_msats)
    }
}

/// The fallback of [`Requiring`]: a metric without requirements.
#[doc(hidden)]
pub trait RequiresNothing {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let _ = all;
    }

    fn files(&self, all: &mut Vec<MetricFile>) {
        let _ = all;
    }

    fn max_cost(&self, declared_msats: u64) -> u64 {
        declared_msats
    }
}

impl<M> RequiresNothing for Requiring<'_, M> {}

/// A parameter, whose type may implement [`NamesFiles`].
#[derive(Debug)]
#[doc(hidden)]
pub struct Naming<'a, T>(pub &'a T);

impl<T: NamesFiles> Naming<'_, T> {
    /// Adds the files that the parameter names.
    pub fn files(&self, parameter: &str, all: &mut Vec<MetricFile>) {
        self.0.files(parameter, all);
    }
}

/// The fallback of [`Naming`]: a parameter that names no files.
#[doc(hidden)]
pub trait NamesNothing {
    fn files(&self, parameter: &str, all: &mut Vec<MetricFile>) {
        let _ = (parameter, all);
    }
}

impl<T> NamesNothing for Naming<'_, T> {}
