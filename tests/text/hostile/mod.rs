//! Text and retrieval metrics on what nobody meant to compare: nothing at all, a megabyte, lists of thousands, grades that are
//! no grades. Each has the value or the failure that is written here, and soon.

mod long;
mod ranks;
mod short;
