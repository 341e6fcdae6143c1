//! Values at the limits of an output.

use serde_json::{Map, Value, json};

use super::{Answer, Reply};
use crate::judge::output_spec::OutputSpec;
use crate::judge::signature::Signature;
use crate::judge::steps::Earlier;
use crate::spec::MetricSpec;

/// Reads the only output, `value`, of a reply without steps.
fn read<T: Answer>(output: OutputSpec, value: &Value) -> Result<T, String> {
    let signature = Signature::new(&MetricSpec::new("judge"), "Judge.").output(output);
    let earlier = Earlier::default();
    let fields = Map::from_iter([("value".to_owned(), value.clone())]);
    let mut reply = Reply::of(&signature, fields).after(&earlier);
    let answer = reply.take("value");
    reply.end(answer).map_err(|flaw| flaw.text)
}

#[test]
fn a_list_has_at_most_as_many_items_as_its_limit() {
    let list = || OutputSpec::new("value", "", Vec::<u8>::schema()).max_items(2);
    for items in [vec![], vec![1], vec![1, 2]] {
        assert_eq!(read(list(), &json!(items)), Ok(items));
    }
    let flaw = "`value` must have at most 2 items, found 3";
    assert_eq!(
        read::<Vec<u8>>(list(), &json!([1, 2, 3])),
        Err(flaw.to_owned())
    );
}

/// From 2^53 on, a double may be a different integer that was rounded.
#[test]
fn an_integer_may_have_decimals_if_they_are_zero_and_it_is_below_2_to_the_53() {
    let integer = || OutputSpec::new("value", "", i64::schema());
    for (value, expected) in [
        (json!(5.0), 5),
        (json!(-5.0), -5),
        (json!(9_007_199_254_740_991.0), (1 << 53) - 1),
        (json!(i64::MAX), i64::MAX),
    ] {
        assert_eq!(read(integer(), &value), Ok(expected));
    }
    for value in [json!(5.5), json!(9_007_199_254_740_992.0)] {
        let flaw = read::<i64>(integer(), &value).unwrap_err();
        assert!(
            flaw.starts_with(&format!("`value` is the number {value}: ")),
            "{flaw}"
        );
    }
}

#[test]
fn a_number_of_an_output_of_any_type_stays_as_it_is() {
    let any = || OutputSpec::new("value", "", Value::schema());
    for value in [json!(5.0), json!(5), json!(5.5)] {
        assert_eq!(read(any(), &value), Ok(value));
    }
}

#[test]
fn the_schemas_of_a_tuple_have_no_format() {
    let schema = <(u8, f64)>::schema();
    for (index, kind) in ["integer", "number"].into_iter().enumerate() {
        let item = &schema["prefixItems"][index];
        assert_eq!((&item["type"], item.get("format")), (&json!(kind), None));
    }
}
