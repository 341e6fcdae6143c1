//! Statistics of scores: compared with scipy and statsmodels, and in simulated studies.

mod parity;
mod simulated;
