//! Numbers of calls: calls that a rule cannot tell apart have the same number.

use std::collections::HashMap;
use std::fmt::Write as _;

use foldhash::fast::RandomState;
use serde_json::{Number, Value};

use super::args::{ArgsRule, at};
use crate::json::equality::whole;
use crate::trajectory::message::ToolCall;

/// Consecutive numbers of keys.
#[derive(Default)]
pub(in crate::trajectory) struct Keys {
    numbers: HashMap<String, usize, RandomState>,
    /// The memory of the last key.
    key: String,
}

impl Keys {
    /// Returns the number of a call's tool.
    pub(super) fn of_tool(&mut self, call: &ToolCall) -> usize {
        self.of_parts(call, false, false)
    }

    /// Returns the number of a call's tool and arguments.
    pub(in crate::trajectory) fn of_call(&mut self, call: &ToolCall) -> usize {
        self.of_parts(call, true, false)
    }

    /// Returns the number of a call's tool and of its arguments as they are written: a function of the caller may tell 1 from 1.0.
    pub(super) fn as_written(&mut self, call: &ToolCall) -> usize {
        self.number(|key| {
            push_text(key, &call.name);
            // A string takes everything.
            let _ = write!(key, "{}", call.args);
        })
    }

    /// Returns the number of a call's tool, and of its arguments and its result if these count.
    pub(super) fn of_parts(&mut self, call: &ToolCall, args: bool, result: bool) -> usize {
        self.number(|key| {
            push_text(key, &call.name);
            if args {
                push(key, &call.args);
            }
            if let (true, Some(result)) = (result, &call.result) {
                push(key, result);
            }
        })
    }

    /// Returns the number of what a rule compares of a call; `None` if two calls that match a third one need not match each other.
    pub(super) fn by_rule(&mut self, call: &ToolCall, rule: &ArgsRule) -> Option<usize> {
        match rule {
            ArgsRule::Exact => Some(self.of_call(call)),
            ArgsRule::Ignore => Some(self.of_tool(call)),
            ArgsRule::Paths(_) if !call.args.is_object() => Some(self.number(|key| {
                key.push('!');
                push_text(key, &call.name);
                push(key, &call.args);
            })),
            ArgsRule::Paths(paths) => Some(self.number(|key| {
                push_text(key, &call.name);
                paths
                    .iter()
                    .for_each(|path| push(key, at(&call.args, path)));
            })),
            ArgsRule::Subset | ArgsRule::Superset | ArgsRule::Function(_) => None,
        }
    }

    /// Returns the number of keys.
    pub(in crate::trajectory) fn len(&self) -> usize {
        self.numbers.len()
    }

    fn number(&mut self, write: impl FnOnce(&mut String)) -> usize {
        self.key.clear();
        write(&mut self.key);
        if let Some(number) = self.numbers.get(&self.key) {
            return *number;
        }
        let next = self.numbers.len();
        self.numbers.insert(self.key.clone(), next);
        next
    }
}

/// Returns the group of a number, which is the next one or known.
pub(super) fn group<T: Default>(groups: &mut Vec<T>, number: usize) -> &mut T {
    if groups.len() <= number {
        groups.resize_with(number + 1, T::default);
    }
    &mut groups[number]
}

/// Appends a value such that two values are appended equally if and only if `same_value` returns true for them.
fn push(key: &mut String, value: &Value) {
    match value {
        Value::Null => key.push('n'),
        Value::Bool(value) => key.push(if *value { 't' } else { 'f' }),
        Value::Number(number) => push_number(key, number),
        Value::String(text) => push_text(key, text),
        Value::Array(items) => {
            // Writing to a string cannot fail.
            let _ = write!(key, "[{}:", items.len());
            items.iter().for_each(|item| push(key, item));
        }
        Value::Object(fields) => {
            let _ = write!(key, "{{{}:", fields.len());
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            for (name, value) in fields {
                push_text(key, name);
                push(key, value);
            }
        }
    }
}

fn push_number(key: &mut String, number: &Number) {
    let _ = match (whole(number), number.as_f64()) {
        (Some(whole), _) => write!(key, "i{whole};"),
        (None, Some(float)) => write!(key, "d{};", float.to_bits()),
        (None, None) => write!(key, "x{number};"),
    };
}

fn push_text(key: &mut String, text: &str) {
    let _ = write!(key, "s{}:{text}", text.len());
}
