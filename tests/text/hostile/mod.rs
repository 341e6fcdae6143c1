//! Text and retrieval metrics on hostile input: empty strings, a megabyte, lists of thousands of items, invalid grades.
//! Each row has the expected value or failure within seconds.

mod long;
mod ranks;
mod short;
