"""Mistakes in `#[metric]` on a function: keys, parameters, return types."""

from forms import Mistake, bool_metric, camel, fn_with, form, number_metric, pair, with_param

ATTR, PARAM, RETURN = "metric: keys", "metric: parameters", "metric: return types"
VALUES = {
    "threshold": "threshold = 0.5",
    "tier": "tier = truth",
    "cost": 'cost = "5 msat"',
    "range": "range = 0.0..=1.0",
    "lower_is_better": "lower_is_better, threshold = 0.5",
    "strict": "strict, threshold = 0.5",
    "name": 'name = "tidy"',
    "struct": "struct = TidyAnswer",
    "missing": "missing = 0.0",
    "version": "version = 2",
}


@form(ATTR, 3)
def misspelt_key(w):
    key = w.choice(list(VALUES))
    good = VALUES[key]
    return pair(ATTR, number_metric(w), good.replace(key, w.typo(key), 1), good, [f"`{key}`"])


@form(ATTR, 2)
def string_for_number(w):
    key, value = w.choice([("threshold", w.number()), ("missing", w.choice(["0.0", "1.0", "0.5"]))])
    return pair(ATTR, number_metric(w), f'{key} = "{value}"', f"{key} = {value}")


@form(ATTR)
def number_for_cost(w):
    value = w.whole()
    return pair(ATTR, number_metric(w), f"cost = {value}", f'cost = "{value} msat"')


@form(ATTR, 2)
def cost_without_unit(w):
    value = w.choice(["0.01", "0.002", "0.5", "1.5"])
    return pair(ATTR, number_metric(w), f'cost = "{value}"', f'cost = "{value} usd"', [f"{value} usd"])


@form(ATTR, 2)
def cost_in_another_unit(w):
    value, good = w.choice([("$0.01", "0.01 usd"), ("0.01$", "0.01 usd"), ("0.01 eur", "0.01 usd"), ("0.01 dollars", "0.01 usd"), ("5 satoshi", "5 sat"), ("20 millisats", "20 msat"), ("3 cents", "0.03 usd"), ("100 tokens", "100 msat"), ("12 Sat", "12 sat"), ("7 MSAT", "7 msat")])
    return pair(ATTR, number_metric(w), f'cost = "{value}"', f'cost = "{good}"', [good])


@form(ATTR)
def cost_as_float(w):
    value = w.choice(["0.01", "0.5", "2.5"])
    return pair(ATTR, number_metric(w), f"cost = {value}", f'cost = "{value} usd"', [f"{value} usd"])


@form(ATTR, 2)
def word_in_quotes(w):
    good = w.choice(["tier = proxy", "tier = truth", "struct = TidyAnswer"])
    key, value = good.split(" = ")
    return pair(ATTR, number_metric(w), f'{key} = "{value}"', good)


@form(ATTR, 2)
def path_for_tier(w):
    tier, ty = w.choice(["Truth", "Proxy"]), w.choice(["MetricTier", "Tier", "dsrs_metrics::contract::MetricTier"])
    return pair(ATTR, number_metric(w), f"tier = {ty}::{tier}", f"tier = {tier.lower()}")


@form(ATTR)
def tier_in_other_words(w):
    bad, good = w.choice([("Truth", "truth"), ("PROXY", "proxy"), ("Proxy", "proxy"), ("TRUTH", "truth"), ("thruth", "truth"), ("proxi", "proxy"), ("cheap", "proxy"), ("expensive", "truth")])
    return pair(ATTR, number_metric(w), f"tier = {bad}", f"tier = {good}", [f"tier = {good}", f"`{good}`"])


@form(ATTR, 2)
def name_without_quotes(w):
    name = w.choice(["tidy", "exact", "my_metric"])
    return pair(ATTR, number_metric(w), f"name = {name}", f'name = "{name}"')


@form(ATTR, 2)
def name_in_another_case(w):
    bad, good = w.choice([("Tidy Answer", "tidy_answer"), ("TidyAnswer", "tidy_answer"), ("tidy-answer", "tidy_answer"), ("Exact match!", "exact_match"), ("RAG score", "rag_score")])
    return pair(ATTR, number_metric(w), f'name = "{bad}"', f'name = "{good}"', [good])


@form(ATTR, 3)
def range_in_another_form(w):
    low, high = w.choice([("0.0", "1.0"), ("0", "1"), ("0.0", "5.0"), ("-1.0", "1.0"), ("1", "10")])
    bad = w.choice([f"{low}..{high}", f"({low}, {high})", f"[{low}, {high}]", f'"{low}..={high}"', f'"{low}..{high}"', f'"{low}-{high}"', f"RangeInclusive::new({low}, {high})", f"{low} - {high}", f"{low}...{high}"])
    return pair(ATTR, number_metric(w), f"range = {bad}", f"range = {low}..={high}")


@form(ATTR)
def range_as_call(w):
    bad, good = w.choice([("range(0.0, 1.0)", "range = 0.0..=1.0"), ("range(0.0..=1.0)", "range = 0.0..=1.0"), ("min = 0.0, max = 1.0", "range = 0.0..=1.0"), ("bounds = 0.0..=1.0", "range = 0.0..=1.0")])
    return pair(ATTR, number_metric(w), bad, good, [good, "`range`"])


@form(ATTR, 2)
def call_for_value(w):
    good = w.choice([f"threshold = {w.number()}", "tier = truth", 'cost = "1 sat"', 'name = "tidy"', "missing = 0.0", "version = 2"])
    key, value = good.split(" = ")
    return pair(ATTR, number_metric(w), f"{key}({value})", good, [good, good.replace("version = 2", 'version = "2"')])


@form(ATTR, 2)
def colon_for_equals(w):
    good = w.choice([f"threshold = {w.number()}", "tier = truth", 'cost = "1 sat"', "range = 0.0..=1.0"])
    return pair(ATTR, number_metric(w), good.replace(" =", ":", 1), good)


@form(ATTR, 2)
def flag_with_value(w):
    flag = w.choice(["lower_is_better", "strict"])
    return pair(ATTR, number_metric(w, "@@, threshold = 0.5"), f"{flag} = true", flag, [f"write `{flag}`"])


@form(ATTR)
def comma_missing(w):
    first, second = w.sample([f"threshold = {w.number()}", "tier = truth", 'cost = "1 sat"', "range = 0.0..=1.0"], 2)
    return pair(ATTR, number_metric(w), f"{first} {second}", f"{first}, {second}", ["write `,`"])


@form(ATTR)
def semicolon_for_comma(w):
    first, second = w.sample([f"threshold = {w.number()}", "tier = truth", 'cost = "1 sat"'], 2)
    return pair(ATTR, number_metric(w), f"{first}; {second}", f"{first}, {second}", ["`,`"])


@form(ATTR)
def threshold_in_percent(w):
    value = w.choice([50, 66, 80, 90])
    return pair(ATTR, number_metric(w, "range = 0.0..=1.0, @@"), f"threshold = {value}", f"threshold = {value / 100}", [f"{value / 100}"])


@form(ATTR)
def percent_sign(w):
    value = w.choice([50, 66, 80, 90])
    return pair(ATTR, number_metric(w), f"threshold = {value}%", f"threshold = {value / 100}", [f"{value / 100}"])


@form(ATTR, 4)
def key_of_another_library(w):
    bad, good, fix = w.choice(
        [
            ('description = "Is it short?"', "", "doc comment"),
            ('desc = "Is it short?"', "", "doc comment"),
            ("min_score = 0.5", "threshold = 0.5", "threshold"),
            ("pass_threshold = 0.5", "threshold = 0.5", "threshold"),
            ("passing_score = 0.5", "threshold = 0.5", "threshold"),
            ("higher_is_better = false", "lower_is_better", "lower_is_better"),
            ("direction = minimize", "lower_is_better", "lower_is_better"),
            ("minimize", "lower_is_better", "lower_is_better"),
            ("greater_is_better = false", "lower_is_better", "lower_is_better"),
            ('id = "tidy"', 'name = "tidy"', "`name"),
            ('metric_name = "tidy"', 'name = "tidy"', "`name"),
            ('rename = "tidy"', 'name = "tidy"', "`name"),
            ('price = "5 msat"', 'cost = "5 msat"', "cost"),
            ("strict_mode = true, threshold = 0.5", "strict, threshold = 0.5", "`strict"),
            ("default = 0.0", "missing = 0.0", "missing"),
            ("on_missing = zero", "missing = 0.0", "missing"),
            ("higher_is_better", "", "remove"),
            ("async", "", "async fn"),
            ('crate = "dsrs_metrics"', "crate = ::dsrs_metrics", "crate = ::dsrs_metrics"),
            ("crate = dsrs_metrics", "crate = ::dsrs_metrics", "crate = ::dsrs_metrics"),
            ("gold = \"Row\"", "", "gold = Row"),
        ]
    )
    attr = number_metric(w)
    return pair(ATTR, attr, bad, good or "threshold = 0.5", [fix])


@form(ATTR)
def flag_needs_threshold(w):
    return pair(ATTR, number_metric(w), "strict", "strict, threshold = 0.5", ["threshold = 0.5"])


@form(ATTR, 2)
def not_for_bool(w):
    bad = w.choice(["threshold = 0.5", "range = 0.0..=1.0", "strict", "lower_is_better"])
    return pair(ATTR, bool_metric(w, "version = 2@@"), f", {bad}", "", [f"remove `{bad.split(' ')[0]}`", "remove it", "negate"], at=bad)


@form(ATTR)
def key_twice(w):
    key = f"threshold = {w.number()}"
    return pair(ATTR, number_metric(w), f"{key}, {key}", key, ["keep one"])


@form(ATTR)
def version_as_fraction(w):
    value = w.choice(["1.5", "2.0", "0.1"])
    return pair(ATTR, number_metric(w), f"version = {value}", f'version = "{value}"')


@form(ATTR)
def missing_outside(w):
    return pair(ATTR, number_metric(w, "range = 0.0..=1.0, @@"), f"missing = {w.choice(['-1.0', '2.0', '5'])}", "missing = 0.0", ["0.0..=1.0"])


@form(PARAM, 2)
def no_role(w):
    field = w.field()
    return pair(PARAM, fn_with("@@", body=f"{field}.len() < 9"), f"{field}: &str", f"#[pred] {field}: &str", ["#[pred]"])


@form(PARAM, 4)
def name_in_another_form(w):
    role, field, other = w.choice(["gold", "pred"]), w.field(), w.choice(["given", "found", "wanted"])
    bad = w.choice([f"#[{role}({field})]", f'#[{role} = "{field}"]', f'#[{role}(name = "{field}")]', f'#[{role}(rename = "{field}")]', f'#[{role}(field = "{field}")]', f'#[{role}(key = "{field}")]', f'#[{role}(column = "{field}")]', f'#[{role}(alias = "{field}")]', f"#[{role} = {field}]", f"#[{role}(field = {field})]", f"#[{role}({field:s}: &str)]", f'#[{role}["{field}"]]'])
    good = f'#[{role}("{field}")]'
    if bad == f'#[{role}["{field}"]]':
        bad = f'#[{role}(from = "{field}")]'
    return pair(PARAM, fn_with(f"@@ {other}: &str", body=f"{other}.len() < 9"), bad, good)


@form(PARAM, 3)
def role_by_another_name(w):
    role, bad = w.choice([("pred", "prediction"), ("pred", "predicted"), ("pred", "output"), ("gold", "golden"), ("gold", "expected"), ("gold", "reference"), ("gold", "label"), ("gold", "example"), ("pred", "input(pred)"), ("gold", "input(gold)"), ("param", "arg"), ("param", "config"), ("gold", "Gold"), ("pred", "prd"), ("gold", "glod")])
    field = w.field()
    good = f"#[{role}]" if role != "param" else "#[param(default)]"
    return pair(PARAM, fn_with(f"@@ {field}: &str", body=f"{field}.len() < 9") if role != "param" else fn_with(f"#[pred] x: &str, @@ {field}: usize", body=f"x.len() < {field}"), f"#[{bad}]", good, [f"#[{role}"])


@form(PARAM, 2)
def optional_in_the_attribute(w):
    field = w.field()
    bad = w.choice(["optional", "option", "nullable", "required = false", "allow_missing", "skip"])
    return Mistake(PARAM, fn_with(f"#[pred({bad})] {field}: &str", body=f"{field}.len() < 9"), fn_with(f"#[pred] {field}: Option<&str>", body=f"{field}.is_some()"), ["Option<", "`default`", "#[pred(default"], f"#[pred({bad})]")


@form(PARAM, 3)
def default_in_another_form(w):
    param, value = w.param(), w.whole()
    good = f"#[param(default = {value})] {param}: usize"
    bad = w.choice([f"#[param({value})]", f"#[param = {value}]", f"#[param(value = {value})]", f"#[param(default: {value})]", f"#[param(default({value}))]", f"#[param(default_value = {value})]", f"#[param(default_value_t = {value})]", f"#[param(defualt = {value})]", f'#[param(default = "{value}")]', f"#[param] #[default = {value}]", f"#[param, default = {value}]"])
    return pair(PARAM, with_param(w), f"{bad} {param}: usize", good, [f"default = {value}", f"`default`"])


@form(PARAM)
def default_argument(w):
    param, value = w.param(), w.whole()
    return pair(PARAM, with_param(w), f"#[param] {param}: usize = {value}", f"#[param(default = {value})] {param}: usize", [f"#[param(default = {value})]"])


@form(PARAM)
def param_with_a_name(w):
    param = w.param()
    return pair(PARAM, with_param(w), f'#[param("{param}")] most: usize', f"#[param] {param}: usize", ["name of the parameter"])


@form(PARAM, 3)
def type_that_cannot_be(w):
    field = w.field()
    bad, good = w.choice([("&mut str", "&str"), ("&'static str", "&str"), ("impl AsRef<str>", "&str"), ("&dyn std::fmt::Display", "&str"), ("str", "&str"), ("Box<dyn std::fmt::Display>", "String"), ("&mut Vec<String>", "&[String]"), ("impl Into<String>", "String"), ("Strng", "String"), ("&[&'static str]", "&[&str]"), ("fn(&str) -> bool", "&str")])
    fixes = {"&mut str": ["remove `mut`"], "&mut Vec<String>": ["remove `mut`"], "&'static str": ["remove `'static`"], "&[&'static str]": ["remove `'static`", "Vec<String>", "&[String]"]}.get(bad, ["concrete type", good])
    return pair(PARAM, fn_with(f"#[pred] {field}: @@", body=f"let _ = {field}; true"), bad, good, fixes, at=bad)


@form(PARAM, 2)
def param_that_borrows(w):
    param = w.param()
    bad, good = w.choice([("&[&str]", "&[String]"), ("Vec<&str>", "&[String]"), ("Option<Vec<&str>>", "Option<Vec<String>>"), ("&'static [&'static str]", "&[String]"), ("std::collections::HashMap<&str, u8>", "std::collections::HashMap<String, u8>")])
    return pair(PARAM, with_param(w, f"#[param] {param}: @@"), bad, good, ["String"], at=bad)


@form(PARAM, 2)
def row_in_another_form(w):
    bad, good, fix = w.choice([("example: Example", "example: &Example", "&Example"), ("gold: Example", "gold: &Example", "&Example"), ("pred: Prediction", "pred: &Prediction", "&Prediction"), ("prediction: &Prediction", "pred: &Prediction", "pred: &Prediction"), ("#[gold] example: &Example", "example: &Example", "#[gold]"), ("#[pred] pred: &Prediction", "pred: &Prediction", "#[pred]"), ("row: &Example", "example: &Example", "`gold: &Example`"), ("gold: &mut Example", "gold: &Example", "mut"), ("trace: &Trace", "trace: Option<&Trace>", "Option<&Trace>"), ("trace: Option<Trace>", "trace: Option<&Trace>", "Option<&Trace>"), ("pred: &Example", "pred: &Prediction", "pred: &Prediction"), ("example: &Prediction", "example: &Example", "&Example")])
    return pair(PARAM, fn_with("#[pred] x: &str, @@", body="x.len() < 9").replace("#[pred] x: &str, ", "" if "pred:" in good else "#[pred] x: &str, ").replace("x.len() < 9", "x.len() < 9" if "pred:" not in good else "true"), bad, good, [fix])


@form(PARAM)
def two_roles(w):
    field = w.field()
    return pair(PARAM, fn_with(f"@@ {field}: &str", body=f"{field}.len() < 9"), w.choice(["#[gold] #[pred]", "#[pred] #[gold]"]), "#[pred]", ["write two parameters"], at=field)


@form(PARAM)
def two_names_of_one(w):
    field = w.field()
    good = f'#[gold] {field}: &str, #[pred("{field}")] given: &str'
    return Mistake(PARAM, fn_with(f"#[gold] {field}: &str, #[pred] {field}: &str"), fn_with(good), [f'#[pred("{field}")]', f'#[gold("{field}")]'], field)


@form(PARAM)
def receiver(w):
    field = w.field()
    return pair(PARAM, fn_with(f"@@#[pred] {field}: &str"), w.choice(["&self, ", "self, ", "&mut self, "]), "", ["free function", "remove `self`", "remove `&self`"], at="self")


@form(PARAM)
def dotted_field(w):
    field = f"{w.field()}.{w.choice(['text', 'value', 'id'])}"
    return Mistake(PARAM, fn_with(f'#[pred("{field}")] x: &str'), fn_with("#[pred] x: &Value"), ["&Value", "Deserialize", f"`{field.split('.')[0]}`"], field)


@form(PARAM)
def missing_of_gold(w):
    field = w.field()
    return pair(PARAM, fn_with(f"@@ {field}: String, #[pred] x: &str"), "#[gold(missing)]", "#[gold(default)]", ["#[gold(default)]"])


@form(PARAM)
def generics(w):
    field = w.field()
    bad, good = w.choice([("<T: AsRef<str>>", ""), ("<T>", ""), ("<'a>", "")])
    ty = "T" if "T" in bad else "&'a str"
    return Mistake(PARAM, fn_with(f"#[pred] {field}: {ty}").replace("fn short", f"fn short{bad}"), fn_with(f"#[pred] {field}: &str"), ["DeserializeOwned", "Deserialize", "concrete type", "&str"], field) if "T" in bad else pair(PARAM, fn_with(f"#[pred] @@: &str"), f"{field} : mut", field, ["&str", "mut"])


@form(RETURN, 5)
def return_type(w):
    field = w.field()
    bad, body, good, good_body = w.choice(
        [
            ("String", "x.to_owned()", "bool", "true"),
            ("&str", "x", "bool", "true"),
            ("()", "", "bool", "true"),
            ("(f64, String)", "(1.0, String::new())", "FeedbackMetric", 'FeedbackMetric::new(1.0, "fine")'),
            ("(bool, f64)", "(true, 1.0)", "bool", "true"),
            ("Vec<f64>", "vec![1.0]", "f64", "1.0"),
            ("Option<String>", "None", "Option<f64>", "None"),
            ("Result<String, String>", "Ok(String::new())", "Result<f64, String>", "Ok(1.0)"),
            ("Value", "Value::Null", "f64", "1.0"),
            ("impl Into<f64>", "1.0", "f64", "1.0"),
            ("impl std::future::Future<Output = bool>", "async { true }", "bool", "true"),
            ("std::time::Duration", "std::time::Duration::ZERO", "f64", "0.0"),
            ("char", "'a'", "bool", "true"),
            ("std::collections::HashMap<String, f64>", "Default::default()", "Scores", "Scores::new()"),
            ("Option<()>", "Some(())", "Option<bool>", "Some(true)"),
            ("Box<f64>", "Box::new(1.0)", "f64", "1.0"),
            ("[f64; 2]", "[0.0, 1.0]", "f64", "1.0"),
            ("std::cmp::Ordering", "std::cmp::Ordering::Equal", "bool", "true"),
        ]
    )
    make = lambda ret, inside: fn_with(f"#[pred] x: &str, #[gold] {field}: &str", ret, inside)
    if "Scores::new" in good_body:
        good, good_body = "f64", "1.0"
    if "FeedbackMetric::new" in good_body:
        good, good_body = "f64", "1.0"
    return Mistake(RETURN, make(bad, body), make(good, good_body), ["`bool`, `f64`", "`bool` or `f64`", "bool, f64", "write `async fn`"], bad)


@form(RETURN)
def no_return_type(w):
    field = w.field()
    return Mistake(RETURN, fn_with(f"#[pred] {field}: &str", "bool", f"{field}.len() < 9").replace(" -> bool", ""), fn_with(f"#[pred] {field}: &str", "bool", f"{field}.len() < 9"), ["-> bool"], "fn short")


@form(RETURN)
def body_of_another_type(w):
    field = w.field()
    bad, good, ret = w.choice([("1", "1.0", "f64"), ("1.0", "true", "bool"), ("0", "false", "bool"), ("Some(1.0)", "1.0", "f64"), (f"{field}.len()", f"{field}.len() as f64", "f64"), (f"{field}.len() as f32", f"{field}.len() as f64", "f64"), (f"Ok({field}.len() < 3)", f"{field}.len() < 3", "bool")])
    return pair(RETURN, fn_with(f"#[pred] {field}: &str", ret, "@@"), bad, good, [good, "expected `f64`", "expected `bool`", "`.0`", ".0"], at=bad)


__all__ = ["camel"]
