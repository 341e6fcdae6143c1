#[metric]
fn constant(#[param] value: f64) -> f64 {
    value
}
