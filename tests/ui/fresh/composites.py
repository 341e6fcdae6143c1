"""Mistakes in composites, decision trees and `main!`."""

from forms import Mistake, bool_metric, camel, composite, form, judge, number_metric, pair, with_param

PARTS, COMBINE, TREE, MAIN = "composite: components", "composite: combinators", "composite: trees", "main!"


def swap(w, group, bad, good, fixes=None, attr="", at=None):
    """A mistake in the expression, where `A` and `B` are the metrics."""
    source, first, second = composite(w, "@@", attr)

    def named(text):
        return text.replace("Box", "@x").replace("Arc", "@c").replace("SPEC", "@P").replace("A!", camel(first)).replace("B!", camel(second)).replace("A", first).replace("B", second).replace("@x", "Box").replace("@c", "Arc").replace("@P", "SPEC")

    bad, good = named(bad), named(good)
    fixes = [good] if fixes is None else [named(fix) for fix in fixes]
    return Mistake(group, source.replace("@@", bad), source.replace("@@", good), fixes, named(at) if at else bad.split("(")[0])


@form(COMBINE, 4)
def combinator_of_another_library(w):
    bad, good = w.choice(
        [
            ("mean(A, B)", "weighted(A = 0.5, B = 0.5)"),
            ("average(A, B)", "weighted(A = 0.5, B = 0.5)"),
            ("avg(A, B)", "weighted(A = 0.5, B = 0.5)"),
            ("sum(A, B)", "weighted(A = 0.5, B = 0.5)"),
            ("mean(A = 0.5, B = 0.5)", "weighted(A = 0.5, B = 0.5)"),
            ("weighted_mean(A = 0.5, B = 0.5)", "weighted(A = 0.5, B = 0.5)"),
            ("and(A, B)", "all(A, B)"),
            ("or(A, B)", "any(A, B)"),
            ("both(A, B)", "all(A, B)"),
            ("not(B)", "invert(B)"),
            ("inverse(B)", "invert(B)"),
            ("minimum(A, B)", "min(A, B)"),
            ("maximum(A, B)", "max(A, B)"),
            ("every(A, B)", "all(A, B)"),
            ("one_of(A, B)", "any(A, B)"),
            ("cascade(A, B)", "gate(proxy(A) >= 0.5, truth(B))"),
            ("product(A, B)", "min(A, B)"),
        ]
    )
    return swap(w, COMBINE, bad, good, [f"{good.split('(')[0]}("])


@form(COMBINE, 2)
def misspelt_combinator(w):
    good = w.choice(["weighted(A = 0.5, B = 0.5)", "invert(B)", "gate(proxy(A) >= 0.5, truth(B))", "all(A, B)", "tree(A { yes => 1.0, no => 0.0 })"])
    word = good.split("(")[0]
    bad = w.typo(word) if len(word) > 3 else word + word[-1]
    return swap(w, COMBINE, good.replace(word, bad, 1), good, [f"`{word}"])


@form(COMBINE, 3)
def weights_in_another_form(w):
    bad = w.choice(["A: 0.5, B: 0.5", "A => 0.5, B => 0.5", "A * 0.5, B * 0.5", "0.5 * A, 0.5 * B", "(A, 0.5), (B, 0.5)", 'A = "0.5", B = "0.5"', "A(0.5), B(0.5)", "0.5 = A, 0.5 = B", "(0.5, A), (0.5, B)", "A 0.5, B 0.5", "A, B, weights = [0.5, 0.5]", "[A, B], [0.5, 0.5]", "A / 2, B / 2"])
    return swap(w, COMBINE, f"weighted({bad})", "weighted(A = 0.5, B = 0.5)", ["A = 0.5", "B = 0.5"])


@form(COMBINE, 2)
def weights_that_do_not_fit(w):
    bad, good, fix = w.choice([("A = 0.5, B = 0.6", "A = 0.5, B = 0.5", "remove 0.1"), ("A = 50, B = 50", "A = 0.5, B = 0.5", "fractions"), ("A = 1, B = 3", "A = 0.25, B = 0.75", "0.75"), ("A, B", "A = 0.5, B = 0.5", "A = 0.5"), ("A = 0.3, B", "A = 0.3, B = 0.7", "B = 0.7"), ("A = 50%, B = 50%", "A = 0.5, B = 0.5", "A = 0.5"), ("A = -0.5, B = 1.5", "A = 0.5, B = 0.5", "at least 0"), ("A = 2/3, B = 1/3", "A = 0.7, B = 0.3", "")])
    if not fix:
        bad, good, fix = ("A = 0.2, B = 0.2", "A = 0.5, B = 0.5", "add 0.6")
    return swap(w, COMBINE, f"weighted({bad})", f"weighted({good})", [fix])


@form(COMBINE, 2)
def without_combinator(w):
    bad, good = w.choice([("A = 0.5, B = 0.5", "weighted(A = 0.5, B = 0.5)"), ("A, B", "all(A, B)"), ("A >= 0.5, B >= 0.5", "all(A >= 0.5, B >= 0.5)"), ("A && B", "all(A, B)"), ("A || B", "any(A, B)"), ("A + B", "weighted(A = 0.5, B = 0.5)"), ("0.5 * A + 0.5 * B", "weighted(A = 0.5, B = 0.5)"), ("!A", "invert(A)"), ("[A, B]", "all(A, B)"), ("A & B", "all(A, B)"), ("B >= 0.9 && A", "all(B >= 0.9, A)")])
    return swap(w, COMBINE, bad, good, [good.split("(")[0] + "("], at="#[metric(" + bad)


@form(COMBINE, 2)
def no_attribute_arguments(w):
    source, first, second = composite(w, "all(A, B)")
    good = source.replace("all(A, B)", f"all({first}, {second})")
    return Mistake(COMBINE, good.replace(f"#[metric(all({first}, {second}))]", "#[metric]"), good, ["all(", "weighted("], "struct")


@form(COMBINE, 3)
def gate_in_another_form(w):
    good = "gate(proxy(A) >= 0.5, truth(B))"
    bad = w.choice(["gate(A >= 0.5, B)", "gate(proxy(A), truth(B))", "gate(proxies(A) >= 0.5, truth(B))", "gate(truth(B))", "gate(proxy = A, truth = B)", "gate(proxy(A) > 0.5, truth(B))", "gate(proxy(A >= 0.5), truth(B))", "gate(proxy(A) >= 0.5, truths(B))", "gate(A, B)", "gate(proxy: A, truth: B)", "gate(cheap(A) >= 0.5, expensive(B))", "gate(proxy(A) >= 0.5 => truth(B))", "gate(proxy(A) >= 0.5, B)", "gate(proxy A >= 0.5, truth B)"])
    return swap(w, COMBINE, bad, good, ["proxy(", "truth(", "truth("], at="gate")


@form(PARTS, 3)
def bound_in_another_form(w):
    bad, good = w.choice([("A, B > 0.5", "A, B >= 0.5"), ("A, B == 1.0", "A, B >= 1.0"), ("A, B >= 80%", "A, B >= 0.8"), ('A, B >= "0.8"', "A, B >= 0.8"), ("A, B = 0.8", "A, B >= 0.8"), ("A && B", "A, B"), ("A and B", "A, B"), ("A, B.passes(0.8)", "A, B >= 0.8"), ("A, B: 0.8", "A, B >= 0.8"), ("A; B", "A, B"), ("A, 0.8 <= B", "A, B >= 0.8"), ("A, B >= 80", "A, B >= 0.8"), ("A, B => 0.8", "A, B >= 0.8"), ("A, B(0.8)", "A, B >= 0.8"), ("A B", "A, B"), ("A, !B", "A, invert(B) >= 0.5")])
    fixes = {"A && B": ["all(A, B)", "`,`"], "A and B": ["`,`"], "A; B": ["`,`"], "A B": ["`,`"], "A, !B": ["invert(B)"]}.get(bad, [good.split(", ")[1]])
    return swap(w, PARTS, f"all({bad})", f"all({good})", fixes + (["0.8"] if "80" in bad else []), at="all")


@form(PARTS, 5)
def component_in_another_form(w):
    good = w.choice(["A", "B"])
    bad = w.choice([f'"{good}"', f"{good}()", f"{good}!::default()", f"{good}!::new()", f"{good}!::builder().build()", f"&{good}", f"Box::new({good})", f"{good}.score()", f"[{good}]", f"vec![{good}]", f"{good}!()", f"|gold, pred| {good}(gold, pred)", f"{good}!{{}}", f"self::{good}()", f"{good}?", f"*{good}", f"Arc::new({good}!)", f"{good}.evaluate", f"{good}::SPEC", f"metric({good})", f"{good} as f64", f"{good}::score"])
    other = "B" if good == "A" else "A"
    return swap(w, PARTS, f"all({bad}, {other})", f"all({good}, {other})", [f"`{good}`", f"`{good}!`", f"write `{good}", f"write `{good}!", f"`self::{good}`"], at="all")


@form(PARTS)
def in_a_list(w):
    good = "A, B"
    return swap(w, PARTS, w.choice(["all([A, B])", "all(vec![A, B])", "all((A, B))", "all(&[A, B])"]), "all(A, B)", [f"`{good}`", "all(A, B)"], at="all")


@form(PARTS)
def twice(w):
    return swap(w, PARTS, w.choice(["all(A, A)", "min(B, B)", "weighted(A = 0.5, A = 0.5)"]), "all(A, B)", ["once"], at="(")


@form(PARTS, 2)
def unknown_component(w):
    name = w.name()
    return swap(w, PARTS, f"all(A, B, {name}s)", "all(A, B)", [f"`{camel(name + 's')}`", f"`{name}s`"], at="all")


@form(PARTS)
def misspelt_component(w):
    source, first, second = composite(w, "all(@@)")
    bad = second[:-1]
    return Mistake(PARTS, source.replace("@@", f"{first}, {bad}"), source.replace("@@", f"{first}, {second}"), [f"`{camel(second)}`", camel(second), second], bad)


@form(PARTS)
def plain_function(w):
    source, first, second = composite(w, "all(@@)")
    plain = "fn plain(answer: &str) -> bool { answer.len() < 9 }\n"
    good = "/// P.\n#[metric]\nfn plain(#[pred] answer: &str) -> bool { answer.len() < 9 }\n"
    filled = source.replace("@@", f"{first}, plain")
    return Mistake(PARTS, plain + filled, good + filled, ["#[metric]"], "plain")


@form(PARTS)
def no_range(w):
    metrics = bool_metric(w, "", "short") + number_metric(w, "@@", "fluent")
    source = f"{metrics}\n/// Both.\n#[metric(all(short, fluent >= 0.5))]\nstruct Both;\n"
    return Mistake(PARTS, source.replace("(@@)", ""), source.replace("@@", "range = 0.0..=1.0"), ["range = 0.0..=1.0", "range ="], "fluent")


@form(PARTS)
def no_verdict(w):
    metrics = bool_metric(w, "", "short") + number_metric(w, "range = 0.0..=1.0", "fluent")
    source = f"{metrics}\n/// Both.\n#[metric(all(short, @@))]\nstruct Both;\n"
    return pair(PARTS, source, "fluent", "fluent >= 0.5", ["fluent >= 0.5", "fluent >="])


@form(PARTS, 3)
def parameter_in_another_form(w):
    param, value = w.param(), w.whole()
    metrics = with_param(w, f"#[param(default = 3)] {param}: usize", "short") + bool_metric(w, "", "fluent")
    good = f"short({param} = {value})"
    bad = w.choice([f"short({value})", f"short({param}: {value})", f"short({param} => {value})", f"short {{ {param}: {value} }}", f'short({param} = "{value}")', f"Short::builder().{param}({value}).build()", f"short.{param}({value})", f"short::builder().{param}({value})", f"short({param}={value}.0)", f"short<{value}>", f"short({w.typo(param)} = {value})", f"Short {{ {param}: {value} }}", f"short(.{param} = {value})"])
    source = f"{metrics}\n/// Both.\n#[metric(all(@@, fluent))]\nstruct Both;\n"
    return pair(PARTS, source, bad, good, [good, good.replace("short", "Short"), f"`{param}`", f"short({param} =", "expected `usize`"], at="short")


@form(COMBINE, 2)
def key_for_functions(w):
    bad, fix = w.choice([('cost = "5 msat"', "budget"), ("range = 0.0..=1.0", "remove `range`"), ("lower_is_better", "invert"), ("struct = Other", "rename the struct"), ("budget = 600", '"600 msat"'), ("on_missing = ignore", "skip"), ("on_missing = 0.0", "zero"), ('on_missing = "skip"', "on_missing = skip"), ("missing = 0.0", "on_missing = zero"), ("threshold = 0.5", "remove"), ('tresshold = "0.5"', "threshold"), ("explain = why", "explain")])
    return swap(w, COMBINE, f"all(A, B), {bad}", "all(A, B)", [fix], at=bad)


@form(COMBINE)
def struct_with_content(w):
    source, first, second = composite(w, "@@")
    source = source.replace("@@", f"all({first}, {second})")
    bad = w.choice([" { limit: usize }", "(usize);", "<T>;", " {}"])
    at = source.rindex("struct")
    return Mistake(COMBINE, source[:at] + source[at:].replace(";", bad, 1), source, ["unit struct", ";`", "remove"], "struct")


@form(TREE, 5)
def tree_in_another_form(w):
    good = "tree(A { yes => 1.0, no => 0.0 })"
    bad, fix = w.choice(
        [
            ("tree(A { true => 1.0, false => 0.0 })", "yes"),
            ("tree(A { yes: 1.0, no: 0.0 })", "yes => "),
            ("tree(A { yes -> 1.0, no -> 0.0 })", "yes => "),
            ("tree(A { yes => 1.0 no => 0.0 })", "`,`"),
            ("tree(A { yes => 1.0; no => 0.0 })", "`,`"),
            ("tree(A { yes => 1.0 })", "no => "),
            ("tree(A { no => 0.0, _ => 1.0 })", "yes"),
            ('tree(A { "yes" => 1.0, "no" => 0.0 })', "yes => 1.0"),
            ("tree(A { Yes => 1.0, No => 0.0 })", "yes =>"),
            ("tree(A >= 0.5 { yes => 1.0, no => 0.0 })", "A { yes"),
            ("tree(if A { 1.0 } else { 0.0 })", "A { yes"),
            ("tree(match A { yes => 1.0, no => 0.0 })", "A { yes"),
            ("tree(A, 1.0, 0.0)", "A { yes"),
            ("tree(A)", "A { yes"),
            ("tree(A { yes => HALF, no => 0.0 })", "(HALF)"),
            ('tree(A { yes => "1.0", no => 0.0 })', "1.0"),
            ("tree(A { yes => true, no => false })", "1.0"),
            ("tree(A { yes = 1.0, no = 0.0 })", "yes => "),
            ("tree(A { yes => { 1.0 }, no => 0.0 })", "yes => 1.0"),
            ("tree(A { else => 0.0, yes => 1.0 })", "no"),
            ("tree(A(yes => 1.0, no => 0.0))", "A {"),
            ("tree(A { pass => 1.0, fail => 0.0 })", "yes"),
            ("tree(A [ yes => 1.0, no => 0.0 ])", "A {"),
            ("tree { A { yes => 1.0, no => 0.0 } }", "tree("),
        ]
    )
    mistake = swap(w, TREE, bad, good, [fix], at="tree")
    if "HALF" in bad:
        half = "const HALF: f64 = 0.5;\n"
        return Mistake(TREE, half + mistake.bad, half + mistake.bad.replace("HALF", "(HALF)"), mistake.fixes, mistake.at)
    return mistake


@form(TREE, 2)
def tree_of_labels(w):
    source = "/// A tone.\n#[judge_output]\nenum Tone {\n    Kind,\n    Rude,\n}\n" + judge(w, "score = tone == Tone::Kind", outputs="    #[output]\n    tone: Tone,\n", name="Voice") + "\n/// By tone.\n#[metric(tree(voice_judge { @@ }))]\nstruct ByTone;\n"
    good = "Kind => 1.0, Rude => 0.0"
    bad, fix = w.choice([("Tone::Kind => 1.0, Tone::Rude => 0.0", "`Kind`"), ("Kind => 1.0", "Rude"), ("kind => 1.0, rude => 0.0", "Kind"), ("Kind => 1.0, Rude => 0.0, Other => 0.5", "Other"), ('"Kind" => 1.0, "Rude" => 0.0', "Kind => 1.0"), ("Kind => 1.0, _ => 0.0", "Rude"), ("Kind => 1.0, Rud => 0.0", "Rude")])
    return pair(TREE, source, bad, good, [fix], at="tree")


@form(MAIN, 4)
def main_with(w):
    name = w.name()
    metric = bool_metric(w, "", name)
    bad, fix = w.choice([('["@"]', "main![@]"), ("(@, limit = 3)", "--param"), ("[@(limit = 3)]", "--param"), ("[&@]", "`@`"), ("[@()]", "`@`"), ("[@!::default()]", "`@`"), ("[@!::builder().build()]", "`@`"), ("[@; 2]", ""), ("[@.clone()]", "`@`"), ("[vec![@]]", "main![@]"), ("[[@]]", "main![@]"), ("[|gold, pred| true]", "#[metric]"), ("[@, @]", "once"), ("[Box::new(@!)]", "`@`"), ('["@", "f1"]', "main![@")])
    if not fix:
        bad, fix = "[@ = 0.5]", "`@`"
    named = lambda text: text.replace("@!", camel(name)).replace("@", name)
    end = "" if bad.startswith(("{",)) else ";"
    return Mistake(MAIN, f"{metric}dsrs_metrics::main!{named(bad)}{end}\n", f"{metric}dsrs_metrics::main![{name}];\n", [named(fix), camel(name) if fix == "`@`" else named(fix), f"main![{name}]"], "main!", features="cli")


@form(MAIN)
def main_in_a_function(w):
    name = w.name()
    metric = bool_metric(w, "", name)
    return Mistake(MAIN, f"{metric}fn main() {{ dsrs_metrics::main![{name}]; }}\n", f"{metric}dsrs_metrics::main![{name}];\n", ["outside"], "main!", features="cli")
