//! The share of items with a property, for the scores of judges with `each`.

/// Returns the share of the items for which `is_counted` holds, in [0, 1]; NaN without items, for which a judge declares what the
/// row is: `#[output(each = statements, empty = ..)]`.
///
/// ```
/// use dsrs_metrics::judge::share;
///
/// assert_eq!(share([true, false, true, true], |is_supported| is_supported), 0.75);
/// assert!(share(Vec::<bool>::new(), |is_supported| is_supported).is_nan());
/// ```
pub fn share<T>(items: impl IntoIterator<Item = T>, is_counted: impl Fn(T) -> bool) -> f64 {
    let (mut counted, mut all) = (0_u32, 0_u32);
    for item in items {
        all += 1;
        counted += u32::from(is_counted(item));
    }
    f64::from(counted) / f64::from(all)
}
