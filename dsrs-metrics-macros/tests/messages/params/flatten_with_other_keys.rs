use dsrs_metrics::prelude::*;

#[metric]
fn overlap(
    #[pred] given: f64,
    #[param(flatten, default)] one: &One,
    #[param(into, flatten)] two: &Two,
    #[param(flatten = Three)] three: &Three,
    #[param(flatten(default = 3))] four: &Four,
    #[param(flaten)] five: &Five,
    #[param(flatten, flatten)] six: &Six,
    #[gold(flatten)] row: &Row,
) -> bool {
    given > 0.0
}
