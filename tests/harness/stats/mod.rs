//! Statistics of scores: compared with scipy and statsmodels, and in simulated studies.

mod few_rows;
mod parity;
mod sampled;
mod sequential;
mod simulated;
