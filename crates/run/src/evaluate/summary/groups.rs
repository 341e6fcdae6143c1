//! The groups of rows, for cluster-robust standard errors.

use std::collections::HashMap;
use std::sync::Arc;

use crate::contract::{Example, Prediction};
use crate::evaluate::row::RowResult;
use crate::json::{describe, path};

/// Returns the group of a row.
pub(crate) type GroupOf<G, P> = Arc<dyn Fn(&RowResult<G, P>) -> Option<String> + Send + Sync>;

/// Numbers the groups in order of first occurrence.
pub(crate) struct Groups<G, P> {
    of: GroupOf<G, P>,
    numbers: HashMap<String, u32>,
    next: u32,
    rows_without: u64,
}

impl<G, P> Groups<G, P> {
    pub(crate) fn new(of: GroupOf<G, P>) -> Self {
        Self {
            of,
            numbers: HashMap::new(),
            next: 0,
            rows_without: 0,
        }
    }

    /// Returns the number of the row's group. A row gets a group of its own if it has none or if the function panics.
    pub(crate) fn of(&mut self, row: &RowResult<G, P>) -> u32 {
        let group = crate::contract::panic::catch(false, || (self.of)(row))
            .ok()
            .flatten();
        let Some(group) = group else {
            self.rows_without += 1;
            return self.take_number();
        };
        if let Some(number) = self.numbers.get(&group) {
            return *number;
        }
        let number = self.take_number();
        self.numbers.insert(group, number);
        number
    }

    /// Returns the number of rows without a group.
    pub(crate) fn rows_without(&self) -> u64 {
        self.rows_without
    }

    fn take_number(&mut self) -> u32 {
        let number = self.next;
        self.next = self.next.saturating_add(1);
        number
    }
}

/// Returns the value at a path: `gold.FIELD`, `pred.FIELD` or an attribute. Dots lead into objects. A missing value and
/// `null` give `None`.
pub(crate) fn value_at(row: &RowResult<Example, Prediction>, path: &str) -> Option<String> {
    let in_attributes = || path::find(path, |name| row.attributes.get(name));
    let value = match path.split_once('.') {
        Some(("gold", field)) => {
            path::find(field, |name| row.gold.get(name)).or_else(in_attributes)
        }
        Some(("pred", field)) => {
            let pred = row.pred.as_ref();
            path::find(field, |name| pred?.get(name)).or_else(in_attributes)
        }
        _ => in_attributes(),
    };
    describe::text(value?.clone())
}
