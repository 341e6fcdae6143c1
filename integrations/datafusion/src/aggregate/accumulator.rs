//! The states of the aggregates: of all rows, and of the rows of each group.

use std::mem::{size_of, size_of_val};
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, BinaryBuilder, BooleanArray};
use datafusion::common::{Result, ScalarValue, internal_datafusion_err};
use datafusion::logical_expr::{Accumulator, EmitTo, GroupsAccumulator};
use dsrs_metrics::contract::{ScoreKind, ScoreRange};

use super::function::Figure;
use super::input::Input;
use super::tally::{Figures, Row, Tally};

/// What the states of all groups have in common.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) figure: Figure,
    pub(crate) kind: ScoreKind,
    pub(crate) range: Option<ScoreRange>,
    /// The identity of the metric, if the plan shows it.
    pub(crate) identity: Option<Arc<str>>,
}

impl Settings {
    fn figures(&self, tally: &Tally) -> Figures {
        tally.figures(self.kind)
    }

    fn column(&self, groups: &[Figures]) -> ArrayRef {
        self.figure.column(groups, self.identity.as_deref())
    }
}

/// The state of all rows.
#[derive(Debug)]
pub(crate) struct All {
    settings: Settings,
    tally: Tally,
}

impl All {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            tally: Tally::new(settings.range),
            settings,
        }
    }
}

impl Accumulator for All {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let column = first(values)?;
        let input = Input::new(column)?;
        (0..column.len()).for_each(|row| self.tally.record(input.row(row)));
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        each_state(first(states)?, |_, state| self.tally.merge(state))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::Binary(Some(self.tally.to_bytes()))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let figures = self.settings.figures(&self.tally);
        ScalarValue::try_from_array(&self.settings.column(&[figures]), 0)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.tally.heap_size()
    }
}

/// The states of groups.
#[derive(Debug)]
pub(crate) struct Groups {
    settings: Settings,
    tallies: Vec<Tally>,
    /// The groups that were emitted at the end of the last batch are no longer counted.
    heap_size: usize,
}

impl Groups {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            tallies: Vec::new(),
            heap_size: 0,
        }
    }

    fn grow(&mut self, groups: usize) {
        let range = self.settings.range;
        self.tallies.resize_with(groups, || Tally::new(range));
    }

    fn change(&mut self, group: usize, change: impl FnOnce(&mut Tally)) {
        let tally = &mut self.tallies[group];
        let before = tally.heap_size();
        change(tally);
        self.heap_size += tally.heap_size() - before;
    }

    fn take(&mut self, emit_to: EmitTo) -> Vec<Tally> {
        let taken = emit_to.take_needed(&mut self.tallies);
        self.heap_size -= taken.iter().map(Tally::heap_size).sum::<usize>();
        taken
    }
}

impl GroupsAccumulator for Groups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        groups: &[usize],
        filter: Option<&BooleanArray>,
        total_groups: usize,
    ) -> Result<()> {
        self.grow(total_groups);
        let input = Input::new(first(values)?)?;
        for (row, group) in groups.iter().enumerate() {
            if is_kept(filter, row) {
                self.change(*group, |tally| tally.record(input.row(row)));
            }
        }
        Ok(())
    }

    fn merge_batch(
        &mut self,
        states: &[ArrayRef],
        groups: &[usize],
        total_groups: usize,
    ) -> Result<()> {
        self.grow(total_groups);
        each_state(first(states)?, |row, state| {
            self.change(groups[row], |tally| tally.merge(state));
        })
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let tallies = self.take(emit_to);
        let figures: Vec<_> = tallies
            .iter()
            .map(|tally| self.settings.figures(tally))
            .collect();
        Ok(self.settings.column(&figures))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![states(self.take(emit_to).iter().map(Tally::to_bytes))])
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let column = first(values)?;
        let input = Input::new(column)?;
        let state = |row: usize| {
            let mut tally = Tally::new(self.settings.range);
            let scored: Option<Row> = is_kept(filter, row).then(|| input.row(row));
            scored.into_iter().for_each(|row| tally.record(row));
            tally.to_bytes()
        };
        Ok(vec![states((0..column.len()).map(state))])
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.tallies.capacity() * size_of::<Tally>() + self.heap_size
    }
}

fn is_kept(filter: Option<&BooleanArray>, row: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
}

fn first(columns: &[ArrayRef]) -> Result<&ArrayRef> {
    columns
        .first()
        .ok_or_else(|| internal_datafusion_err!("an aggregate without a column"))
}

fn states(bytes: impl Iterator<Item = Vec<u8>>) -> ArrayRef {
    let mut column = BinaryBuilder::new();
    bytes.for_each(|state| column.append_value(state));
    Arc::new(column.finish())
}

fn each_state(column: &ArrayRef, mut merge: impl FnMut(usize, &Tally)) -> Result<()> {
    let column = column.as_binary::<i32>();
    for row in (0..column.len()).filter(|row| column.is_valid(*row)) {
        let tally = Tally::from_bytes(column.value(row)).ok_or_else(|| {
            internal_datafusion_err!(
                "expected the state of a metric's aggregate, found other bytes; \
                 use the same version of dsrs-metrics-datafusion in all processes"
            )
        })?;
        merge(row, &tally);
    }
    Ok(())
}
