"""Writes tests/parity/number_vectors.jsonl.gz: numbers as models and TeX users write them, and how math-verify reads them.

Run with the versions in .ci/peers.txt:

    python tests/parity/make_number_vectors.py              # writes the vectors
    python tests/parity/make_number_vectors.py --check      # compares the committed ones with what the peer computes now
    python tests/parity/make_number_vectors.py --seed 7     # prints vectors of another seed

A vector has the kind of its form, the number that the form means by its construction (null if it is none, or one that
`numeric_match` does not compute), and the number that math-verify reads (null if it reads none). tests/text/parity/numbers.rs
has the reason for each kind that differs.
"""

import gzip
import json
import logging
import pathlib
import random
import sys
from fractions import Fraction

import sympy
from math_verify import parse

SEED = 20261129
FORMS = 2000
OUT = pathlib.Path(__file__).with_name("number_vectors.jsonl.gz")

COMMAS = [",", "{,}", "\\!,", ",\\!", "{,}\\!"]
SPACES = [
    "\\,", "\\;", "\\:", "\\>", "\\ ", "~", "{\\,}", "{~}", "\\thinspace ", "\\thinspace{}", "\\hspace{0.1em}", "\\kern0.1em ",
    "\\mspace{2mu}", "\\text{,}", "\\mathord{,}", "{}", " \\, ",
]
FRACTIONS = ["\\frac", "\\dfrac", "\\tfrac", "\\cfrac"]
FUNCTIONS = ["\\sin ", "\\cos", "\\ln ", "\\log ", "\\exp ", "\\sqrt", "\\log_2 ", "\\log_{10}", "\\max", "\\gcd"]


def integer(rng, low=0):
    return rng.randint(low, rng.choice([9, 99, 999, 10**6]))


def signed(rng, written, value):
    return rng.choice([(written, value), (written, value), ("-" + written, None if value is None else -value)])


def grouped(rng, separator):
    digits = str(rng.randint(1, 999)) + "".join(f"{separator}{rng.randint(0, 999):03}" for _ in range(rng.randint(1, 3)))
    return digits, Fraction("".join(digits.split(separator)))


def fraction(rng, over, under):
    """A fraction in one of the forms that TeX accepts."""
    first, second = rng.choice([f"{{{over}}}", f" {{{over}}}", f"{{ {over} }}"]), f"{{{under}}}"
    if over < 10 and rng.random() < 0.6:
        first = rng.choice([f"{over}", f" {over}"])
    if under < 10 and rng.random() < 0.6:
        second = rng.choice([f"{under}", f" {under}", f" {{{under}}}"])
    return rng.choice(FRACTIONS) + first + second


def parts(rng):
    under = rng.randint(2, 99)
    return rng.randint(1, under - 1), under


# Each kind returns a form and what it means.
def plain(rng):
    value = integer(rng)
    places = rng.choice([0, 0, 1, 2, 4])
    return signed(rng, f"{value}.{rng.randint(0, 10**places - 1):0{places}}" if places else f"{value}", None)


def thousands(rng):
    return signed(rng, *grouped(rng, rng.choice(COMMAS)))


def thousands_by_spaces(rng):
    return signed(rng, *grouped(rng, rng.choice(SPACES)))


def thousands_of_a_command(rng):
    value = rng.randint(1000, 10**6)
    return rng.choice(["\\num{%s}", "\\numprint{%s}", "\\SI{%s}{km}", "\\qty{%s}{m}"]) % value, Fraction(value)


def groups_that_are_not_thousands(rng):
    separator = rng.choice(["{,}", "\\,", "\\;", "{\\,}"])
    return f"{rng.randint(1, 99)}{separator}{rng.choice([rng.randint(10, 99), rng.randint(1000, 9999)])}", None


def simple_fractions(rng):
    over, under = rng.randint(0, 99), rng.randint(1, 99)
    return signed(rng, fraction(rng, over, under), Fraction(over, under))


def signs_inside_fractions(rng):
    over, under = rng.randint(-99, 99), rng.choice([-1, 1]) * rng.randint(1, 99)
    return signed(rng, f"{rng.choice(FRACTIONS)}{{{over}}}{{{under}}}", Fraction(over, under))


def grouped_fractions(rng):
    written, value = grouped(rng, rng.choice(["{,}", ",", "\\!,"]))
    under = rng.randint(2, 99)
    return signed(rng, f"\\frac{{{written}}}{{{under}}}", value / under)


def decimals_in_fractions(rng):
    over, under = f"{rng.randint(0, 99)}.{rng.randint(1, 99)}", rng.choice(["2", "8", "2.5", "0.4"])
    return f"\\frac{{{over}}}{{{under}}}", Fraction(over) / Fraction(under)


def slashes_of_other_packages(rng):
    over, under = parts(rng)
    return rng.choice(["\\sfrac{%s}{%s}", "\\nicefrac{%s}{%s}"]) % (over, under), Fraction(over, under)


def over_of_tex(rng):
    over, under = parts(rng)
    return rng.choice(["{%s \\over %s}", "{%s\\over%s}", "{%s\\over %s}"]) % (over, under), Fraction(over, under)


def slash_fractions(rng):
    over, under = parts(rng)
    return signed(rng, f"{over}/{under}", Fraction(over, under))


def mixed_numbers(rng):
    (over, under), whole = parts(rng), rng.randint(1, 99)
    space = rng.choice(["", " ", "\\,"])
    return signed(rng, f"{whole}{space}{fraction(rng, over, under)}", whole + Fraction(over, under))


def improper_mixed_numbers(rng):
    under, whole = rng.randint(2, 9), rng.randint(1, 99)
    return f"{whole}\\frac{{{under + rng.randint(0, 9)}}}{{{under}}}", None


def zero_denominators(rng):
    return signed(rng, f"{rng.choice(FRACTIONS)}{{{integer(rng)}}}{{{rng.choice(['0', '00', '0.0'])}}}", None)


def fractions_with_letters(rng):
    one, two = rng.choice(["x", "n+1", "2x", "\\pi", "\\sqrt{3}", "a_1"]), rng.randint(2, 99)
    return signed(rng, "\\frac{%s}{%s}" % ((one, two) if rng.random() < 0.5 else (two, one)), None)


def fractions_of_expressions(rng):
    one, two = rng.choice(["2+3", "2\\cdot 3", "\\frac{1}{2}", "2^3", "(4)", "\\sqrt{16}"]), rng.randint(2, 99)
    return "\\frac{%s}{%s}" % ((one, two) if rng.random() < 0.5 else (two, one)), None


def products_of_fractions(rng):
    first, second = fraction(rng, *parts(rng)), "\\frac{%s}{%s}" % parts(rng)
    return rng.choice([first + second, f"\\left({first}\\right)^{rng.randint(2, 4)}", f"{rng.randint(1, 9)}/2 {second}"]), None


def degrees(rng):
    value = rng.randint(0, 360)
    return str(value) + rng.choice(["^\\circ", "^{\\circ}", "^ {\\circ}", "°"]), Fraction(value)


def ordinals(rng):
    value, suffix = rng.choice([(1, "st"), (2, "nd"), (3, "rd"), (20, "th"), (111, "th")])
    raised = rng.choice(["{%s}", "{\\text{%s}}", "{\\mathrm{%s}}", "\\text{%s}", "\\mathrm{%s}", "{\\rm %s}"]) % suffix
    return f"{value}^{raised}", Fraction(value)


def powers_of_ten(rng):
    exponent = rng.randint(-9, 9)
    return signed(rng, f"10^{{{exponent}}}", Fraction(10) ** exponent)


def scientific(rng):
    digits, exponent = f"{rng.randint(1, 9)}.{rng.randint(0, 99)}", rng.randint(-9, 9)
    times = rng.choice(["\\times", " \\times ", "\\cdot ", " \\cdot "])
    return signed(rng, f"{digits}{times}10^{{{exponent}}}", Fraction(digits) * Fraction(10) ** exponent)


def exponents_of_programs(rng):
    digits, exponent = f"{rng.randint(1, 9)}.{rng.randint(0, 99)}", rng.randint(-9, 9)
    return f"{digits}e{exponent}", Fraction(digits) * Fraction(10) ** exponent


def powers(rng):
    base, exponent = rng.randint(2, 9), rng.choice([2, 3, 10, "n", -2])
    return rng.choice([f"{base}^{{{exponent}}}", f"({base})^{{{exponent}}}", f"3 \\times {base}^{{{exponent}}}"]), None


def roots(rng):
    value = rng.randint(2, 99)
    root = rng.choice([f"\\sqrt{{{value}}}", f"\\sqrt[3]{{{value}}}", f"\\sqrt{value % 10}", f"\\sqrt{{{value}^2}}"])
    return rng.choice([root, f"-{root}", f"{value}{root}", f"{value} {root}", f"{value} + {root}", f"{root} - {value}", f"{root}/{value}"]), None


def functions(rng):
    return rng.choice(FUNCTIONS) + rng.choice(["{%s}", "(%s)"]) % rng.randint(2, 99), None


def binomials(rng):
    low, high = rng.randint(1, 4), rng.randint(5, 9)
    return rng.choice([f"\\binom{{{high}}}{{{low}}}", f"\\binom{high}{low}", f"\\dbinom{{{high}}}{{{low}}}", f"{{{high} \\choose {low}}}"]), None


def multiples_of_pi(rng):
    value = rng.randint(2, 99)
    return rng.choice([f"{value}\\pi", f"\\frac{{\\pi}}{{{value}}}", f"\\pi/{value}", f"{value} \\pi", f"\\pi + {value}", f"-{value}\\pi"]), None


def subscripts(rng):
    name, index = rng.choice("xaN"), rng.randint(0, 99)
    return rng.choice([f"{name}_{{{index}}}", f"{name}_{index % 10}"]), None


def bases(rng):
    digits = rng.choice(["101", "110", "1001"])
    return rng.choice([f"{digits}_2", f"{digits}_{{2}}", f"{digits}_{{10}}"]), None


def repeating_decimals(rng):
    form = rng.choice(["%s.\\overline{%s}", "%s.\\bar{%s}", "%s.1\\dot{%s}", "%s.25\\overline{%s}"])
    return form % (rng.randint(0, 9), rng.randint(1, 9)), None


def percentages(rng):
    value = f"{rng.randint(0, 99)}.{rng.randint(0, 9)}"
    return value + rng.choice(["\\%", "%", " \\%", "\\,\\%"]), Fraction(value)


def amounts(rng):
    written, value = grouped(rng, rng.choice(["{,}", ","]))
    return rng.choice(["\\$", "\\$ ", "\\pounds "]) + written, value


def units(rng):
    value = f"{integer(rng)}.{rng.randint(0, 99)}"
    unit = rng.choice(["\\text{ km}", "\\,\\text{cm}", "\\mathrm{km}", "\\ \\text{m/s}", "\\text{ cm}^2", "\\,\\mathrm{m}^{-3}"])
    return value + unit, Fraction(value)


def alternatives(rng):
    value = rng.randint(1, 99)
    return rng.choice([f"\\pm {value}", f"\\pm{value}", f"{value} \\pm {rng.randint(1, 9)}"]), None


def matrices(rng):
    return f"\\begin{{pmatrix}} {rng.randint(1, 9)} \\\\ {rng.randint(1, 9)} \\end{{pmatrix}}", None


def remainders(rng):
    return rng.choice(["%s \\pmod{%s}", "%s \\bmod %s", "%s \\pmod %s"]) % (rng.randint(1, 9), rng.randint(2, 9)), None


def styles(rng):
    value = rng.choice([integer(rng), -integer(rng, 1)])
    style = rng.choice(["\\mathbf{%s}", "\\text{%s}", "\\displaystyle %s", "{%s}", "\\left(%s\\right)", "\\boxed{%s}", "\\textbf{%s}"])
    return style % value, Fraction(value)


def results_of_equations(rng):
    written, value = signed(rng, *rng.choice([thousands, simple_fractions])(rng))
    left = rng.choice(["x = ", "\\sqrt{16} = ", "x_1 + 2^{10} = ", "\\binom{5}{2} = ", "\\frac{x}{2} = ", "A = \\pi r^2 = "])
    return left + written, value


KINDS = [
    plain, thousands, thousands, thousands_by_spaces, thousands_by_spaces, thousands_of_a_command, groups_that_are_not_thousands,
    simple_fractions, simple_fractions, simple_fractions, signs_inside_fractions, grouped_fractions, decimals_in_fractions,
    slashes_of_other_packages, over_of_tex, slash_fractions, mixed_numbers, mixed_numbers, improper_mixed_numbers,
    zero_denominators, fractions_with_letters, fractions_of_expressions, products_of_fractions, degrees, ordinals, powers_of_ten,
    scientific, exponents_of_programs, powers, roots, roots, functions, binomials, multiples_of_pi, subscripts, bases,
    repeating_decimals, percentages, amounts, units, alternatives, matrices, remainders, styles, results_of_equations,
]


def number(found):
    """The rational number that the peer found, or None."""
    if not found or isinstance(found[0], str):
        return None
    expression = found[0]
    try:
        if isinstance(expression, sympy.FiniteSet) and len(expression) == 1:
            expression = expression.args[0]
        if isinstance(expression, sympy.Eq):
            expression = expression.rhs
        exact = expression.replace(lambda e: e.is_Float, lambda e: sympy.Rational(str(e)))
        value = sympy.simplify(exact.doit())
        return f"{value.p}/{value.q}" if value.is_Rational and value.is_finite else None
    except (AttributeError, TypeError, ValueError, ZeroDivisionError):
        return None


def vectors(seed):
    rng = random.Random(seed)
    for at in range(FORMS):
        kind = KINDS[at % len(KINDS)]
        form, value = kind(rng)
        if kind is plain:
            value = Fraction(form)
        meant = None if value is None else f"{Fraction(value).numerator}/{Fraction(value).denominator}"
        yield {"kind": kind.__name__, "form": form, "meant": meant, "peer": number(parse(f"${form}$", parsing_timeout=None))}


def main(arguments):
    logging.disable(logging.CRITICAL)
    seed = int(arguments[arguments.index("--seed") + 1]) if "--seed" in arguments else SEED
    lines = [json.dumps(vector) + "\n" for vector in vectors(seed)]
    if "--seed" in arguments:
        sys.stdout.writelines(lines)
    elif "--check" in arguments:
        assert gzip.decompress(OUT.read_bytes()).decode() == "".join(lines), "the peer computes something else"
        print(len(lines), "vectors, as committed")
    else:
        OUT.write_bytes(gzip.compress("".join(lines).encode(), 9, mtime=0))
        print(len(lines), "vectors")


if __name__ == "__main__":
    main(sys.argv[1:])
