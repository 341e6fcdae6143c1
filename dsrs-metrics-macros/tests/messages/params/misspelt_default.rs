#[metric]
fn share(#[gold(defualt = 3)] limit: u8, #[pred(mising = 0.5)] value: f64, #[param(itno)] unit: String) -> f64 {
    value
}
