#![allow(unused_variables, clippy::too_many_arguments)]

use dsrs_metrics::prelude::*;

#[metric(threshold = 0.5)]
fn many(
    #[pred] field_0: &str,
    #[gold] field_1: f64,
    #[pred] field_2: Option<&[String]>,
    #[gold] field_3: u8,
    #[pred] field_4: &str,
    #[gold] field_5: f64,
    #[pred] field_6: Option<&[String]>,
    #[gold] field_7: u8,
    #[pred] field_8: &str,
    #[gold] field_9: f64,
    #[pred] field_10: Option<&[String]>,
    #[gold] field_11: u8,
    #[pred] field_12: &str,
    #[gold] field_13: f64,
    #[pred] field_14: Option<&[String]>,
    #[gold] field_15: u8,
    #[pred] field_16: &str,
    #[gold] field_17: f64,
    #[pred] field_18: Option<&[String]>,
    #[gold] field_19: u8,
    #[pred] field_20: &str,
    #[gold] field_21: f64,
    #[pred] field_22: Option<&[String]>,
    #[gold] field_23: u8,
    #[pred] field_24: &str,
    #[gold] field_25: f64,
    #[pred] field_26: Option<&[String]>,
    #[gold] field_27: u8,
    #[pred] field_28: &str,
    #[gold] field_29: f64,
    #[pred] field_30: Option<&[String]>,
    #[gold] field_31: u8,
    #[pred] field_32: &str,
    #[gold] field_33: f64,
    #[pred] field_34: Option<&[String]>,
    #[gold] field_35: u8,
    #[pred] field_36: &str,
    #[gold] field_37: f64,
    #[pred] field_38: Option<&[String]>,
    #[gold] field_39: u8,
    #[pred] field_40: &str,
    #[gold] field_41: f64,
    #[pred] field_42: Option<&[String]>,
    #[gold] field_43: u8,
    #[pred] field_44: &str,
    #[gold] field_45: f64,
    #[pred] field_46: Option<&[String]>,
    #[gold] field_47: u8,
    #[param(default = 0.5)] param_0: f64,
    #[param(default = 1.5)] param_1: f64,
    #[param(default = 2.5)] param_2: f64,
    #[param(default = 3.5)] param_3: f64,
    #[param(default = 4.5)] param_4: f64,
    #[param(default = 5.5)] param_5: f64,
    #[param(default = 6.5)] param_6: f64,
    #[param(default = 7.5)] param_7: f64,
    #[param(default = 8.5)] param_8: f64,
    #[param(default = 9.5)] param_9: f64,
    #[param(default = 10.5)] param_10: f64,
    #[param(default = 11.5)] param_11: f64,
    #[param(default = 12.5)] param_12: f64,
    #[param(default = 13.5)] param_13: f64,
    #[param(default = 14.5)] param_14: f64,
    #[param(default = 15.5)] param_15: f64,
    #[param(default = 16.5)] param_16: f64,
    #[param(default = 17.5)] param_17: f64,
    #[param(default = 18.5)] param_18: f64,
    #[param(default = 19.5)] param_19: f64,
    #[param(default = 20.5)] param_20: f64,
    #[param(default = 21.5)] param_21: f64,
    #[param(default = 22.5)] param_22: f64,
    #[param(default = 23.5)] param_23: f64,
) -> f64 {
    param_0
        + param_1
        + param_2
        + param_3
        + param_4
        + param_5
        + param_6
        + param_7
        + param_8
        + param_9
        + param_10
        + param_11
        + param_12
        + param_13
        + param_14
        + param_15
        + param_16
        + param_17
        + param_18
        + param_19
        + param_20
        + param_21
        + param_22
        + param_23
}

/// Runs the items above.
pub fn main() {
    assert_eq!(
        (Many::SPEC.gold.len(), Many::SPEC.pred.len(), Many::SPEC.params.len()),
        (24, 24, 24)
    );
    assert_eq!(Many::builder().param_3(0.0).param_20(1.0).build().param_3, 0.0);
}
