#!/usr/bin/env python3
"""Whether a test notices each small change of the code, with the changes that `cargo mutants` lists:

    .ci/mutants.py                              all parts, before a release
    .ci/mutants.py --unit formulas              unit tests only, one part, a step of `.ci/run`

Needs `cargo-mutants` in PATH, which `.ci/run mutants` installs. `exclude_re` of `.cargo/mutants.toml` lists the changes that no test can
notice, each with its reason.

The changes are compiled together, which takes minutes in place of hours: in a copy of the repository, a function has its body once for each
of its changes, and the variable MUTANT chooses one. Each test is run once to see which functions it calls. Then each change is run
against the tests that call its function, those that call few functions first, until one fails or needs too long. Functions that the
compiler evaluates are changed in the same way, against the unit tests of their package, in which they are not `const`. What is not in a
function is changed one by one by `cargo mutants`.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Each copy of the repository has a target folder of its own: cargo takes what it compiled of one copy for what it would compile of another.
FOLDER = pathlib.Path(os.environ.pop("CARGO_TARGET_DIR", ROOT / "target")) / "mutants"

# The parts of the code that is changed: their packages and files.
PARTS = {
    "stats": ("values", "stats/**/*.rs"),
    "text": ("values", "text/**/*.rs"),
    "score": ("core", "score/**/*.rs"),
    "composite": ("core", "composite/**/*.rs"),
    "reply": ("core", "judge/reply.rs"),
    "scoring": ("run", "scoring/**/*.rs"),
}

# A part of `stats`, whose unit tests notice every change.
FORMULAS = "compact_sum,confusion,exact_sum,f_beta,harmonic_mean,interval,kappa,moments_bytes,pass_at_k,proportion,spearman"

# Beside the unit tests of the packages.
TESTS = ["text", "harness", "judge", "cli", "macros"]

LIMIT = "the limit of time ended the run; write a larger one with --minutes"

# The environment of tests.
QUICK = dict(os.environ, PROPTEST_CASES="16", PROPTEST_FAILURE_PERSISTENCE="off", RUST_BACKTRACE="0")

# Of the tests of one change. A test that needs more has most likely noticed it.
SECONDS = 60

CHOICE = """
pub(crate) mod mutants {
    use std::{env, fs::File, io::Write as _};
    use std::sync::{LazyLock, Mutex};

    static CHANGE: LazyLock<usize> = LazyLock::new(|| env::var("MUTANT").map_or(0, |it| it.parse().unwrap()));
    static CALLED: LazyLock<Option<Mutex<Vec<bool>>>> = LazyLock::new(|| {
        env::var_os("MUTANTS_CALLED").map(|_| Mutex::new(vec![false; 100_000]))
    });

    /// The number of the change, in a function whose first change has the number `first`.
    pub(crate) fn change(first: usize) -> usize {
        if let Some(called) = &*CALLED && !std::mem::replace(&mut called.lock().unwrap()[first], true) {
            let mut file = File::options().create(true).append(true).open(env::var_os("MUTANTS_CALLED").unwrap()).unwrap();
            file.write_all(format!("{first}\\n").as_bytes()).unwrap();
        }
        *CHANGE
    }
}
"""

began = time.monotonic()


def say(text):
    print(f"{text} ({time.monotonic() - began:.0f} s)", file=sys.stderr)


def output(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def without_line(name):
    return re.sub(r":\d+:\d+: ", ": ", name.removesuffix("(not called)").strip(), count=1)


def listed(parts):
    """The changes of the parts, with numbers that begin with 1."""
    found = []
    for package, glob in map((PARTS | {"formulas": ("values", f"stats/{{{FORMULAS}}}.rs")}).get, parts):
        command = ["cargo", "mutants", "--list", "--json", "--package", f"dsrs-metrics-{package}", "--file", f"crates/{package}/src/{glob}"]
        found += json.loads(output(*command, cwd=ROOT))
    for number, change in enumerate(found, 1):
        change["number"] = number
    return found


def copied(name):
    """Copies the repository into a folder with this name. A file that has its content already keeps its time."""
    tree, files = FOLDER / name, output("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ":!integrations", ":!fuzz", cwd=ROOT)
    for name in filter(None, files.split("\0")):
        content = (ROOT / name).read_bytes()
        if re.fullmatch("crates/(values|core)/Cargo.toml", name):
            # Only examples of the documentation need the facade.
            content = re.sub(rb'(?m)^(# Examples of the documentation use the library|dsrs-metrics = \{ path = "../../dsrs-metrics").*\n', b"", content)
        write(tree / name, content)
        shutil.copymode(ROOT / name, tree / name)
    return tree


def write(file, content):
    file.parent.mkdir(parents=True, exist_ok=True)
    if not file.exists() or file.read_bytes() != content:
        file.write_bytes(content)


def source(file, is_const_removed):
    """The text of a file, with all places as they are without `const`."""
    text = (ROOT / file).read_text()
    return text.replace("const fn ", "fn       ") if is_const_removed else text


def bodies(text, changes):
    """The outermost functions of a file that can have copies of their body: its range, and each change with the changed body."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    offset = lambda place: starts[place["line"] - 1] + place["column"] - 1
    span = lambda item: (offset(item["span"]["start"]), offset(item["span"]["end"]))
    ranges = {span(change["function"]) for change in changes if change["function"]}
    for start, end in sorted(ranges):
        if any(other != (start, end) and other[0] <= start and end <= other[1] for other in ranges):
            continue
        # The range begins with the documentation.
        head = re.compile(r"^[ \t]*(?:pub(?:\([^)]*\))? )?((?:const |async )*)fn ", re.M).search(text, text.rfind("\n", 0, start) + 1)
        depth, first = 0, head.end()
        while text[first] != "{" or depth:
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(text[first], 0)
            first += 1
        _, arrow, result = text[head.end() : first].partition("where")[0].rpartition("->")
        iterator = re.fullmatch(r"\s*impl (\w*Iterator<Item = .*?>)(?: \+ use<.*>)?\s*", result)
        if "const" in head[1] or arrow and "impl " in result and not iterator:
            continue
        # The copies of a function that returns an opaque iterator have one type.
        around = ("Box::new({", f"}}) as Box<dyn {iterator[1]} + '_>") if iterator else ("", "")
        first, last = first + 1, text.rindex("}", start, end)
        inside = [(change, *span(change)) for change in changes if change["function"] and start <= span(change)[0] < end]
        copy = lambda body: around[0] + body + around[1]
        yield first, last, copy(text[first:last]), [(change, copy(text[first:a] + change["replacement"] + text[b:last])) for change, a, b in inside]


def with_copies(text, functions, without):
    """The text of a file with copies of bodies, and for each copy its lines and its change."""
    done, at, places = "", 0, []
    for first, last, unchanged, changed in functions:
        changed = [(change, body) for change, body in changed if change["name"] not in without]
        if not changed:
            continue
        number = changed[0][0]["number"]
        done += text[at:first] + f"match crate::mutants::change({number}) {{\n"
        for change, body in changed:
            change["first"], line = number, done.count("\n") + 1
            done += f"{change['number']} => {{\n{body}\n}}\n"
            places.append((line, done.count("\n") + 1, change["name"]))
        done, at = done + f"_ => {{\n{unchanged}\n}}\n}}", last
    return done + text[at:], places


def cargo(tree, *args):
    """Runs a command of cargo, and returns whether it ended well, with its messages."""
    command = ["cargo", *args, "--message-format=json"]
    ran = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    if ran.returncode and not ran.stdout:
        sys.exit(ran.stderr)
    return ran.returncode == 0, [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]


def guilty(message, places):
    """The name of the change in whose copy an error of the compiler is, also if it is in a macro that the copy calls."""
    spans = sorted(message["spans"], key=lambda span: not span["is_primary"])
    for span in spans:
        spans += [span["expansion"]["span"]] if span["expansion"] else []
        for first, end, name in places.get(span["file_name"], []):
            if first <= span["line_start"] < end:
                return name
    sys.exit(message["rendered"])


def compiled(packages, changes, binaries):
    """Writes and compiles the copies. Returns the test binaries with their folders, and the names of the changes that do not compile.
    A change that is in a copy has the key `first`."""
    tree = copied("together")
    for package in packages:
        lib = tree / f"crates/{package}/src/lib.rs"
        allowed = "#![allow(warnings, arithmetic_overflow, unconditional_panic, unconditional_recursion)]\n"
        write(lib, (allowed + (ROOT / lib.relative_to(tree)).read_text() + CHOICE).encode())
    of_file = collections.defaultdict(list)
    for change in changes:
        of_file[change["file"]].append(change)
    files = set(of_file)
    if not binaries:
        # Functions of the same parts that are not changed may call those that are not `const` in the copy.
        parts = tuple(f"crates/{package}/src/{glob.partition('*')[0]}" for package, glob in PARTS.values() if package in packages)
        names = [str(file.relative_to(ROOT)) for package in packages for file in ROOT.glob(f"crates/{package}/src/**/*.rs")]
        files |= {name for name in names if name.startswith(parts)}
    texts = {file: source(file, not binaries) for file in sorted(files)}
    functions = {file: list(bodies(text, of_file[file])) for file, text in texts.items()}
    options, without = [option for package in packages for option in ("-p", f"dsrs-metrics-{package}")], set()
    is_compiled = False
    while not is_compiled:
        places = {}
        for file, text in texts.items():
            text, places[file] = with_copies(text, functions[file], without)
            write(tree / file, text.encode())
        is_compiled, messages = cargo(tree, "check", "--keep-going", "--lib", *options)
        errors = [message["message"] for message in messages if message.get("message", {}).get("level") == "error"]
        found = {guilty(error, places) for error in errors if error["spans"]}
        if not is_compiled and not found:
            sys.exit("".join(error["rendered"] for error in errors))
        without |= found
    tests = [option for test in binaries for option in ("--test", test)]
    ok, messages = cargo(tree, "test", "--no-run", "--lib", *options, *(["-p", "dsrs-metrics-tests", *tests] if tests else []))
    if not ok:
        sys.exit("".join(message["message"]["rendered"] for message in messages if "message" in message))
    programs = [message for message in messages if message.get("executable") and message["profile"]["test"]]
    return {program["executable"]: pathlib.Path(program["manifest_path"]).parent for program in programs}, without


def passes(program, folder, tests, seconds, **variables):
    """Whether tests of a program pass in this time. Ends what they started."""
    def limits():
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))

    env = QUICK | variables
    command = [program, "--exact", "--test-threads=1", *tests]
    child = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limits)
    try:
        return child.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()


def recorded(programs):
    """The tests: their programs, names, seconds, and the first changes of the functions that they call."""
    calls = FOLDER / "calls"
    shutil.rmtree(calls, ignore_errors=True)
    calls.mkdir()

    def names(program, *options):
        lines = output(program, "--list", "--format=terse", *options, cwd=programs[program]).splitlines()
        return {line.removesuffix(": test") for line in lines if line.endswith(": test")}

    def one(numbered):
        number, (program, test) = numbered
        file, start = calls / str(number), time.monotonic()
        if not passes(program, programs[program], [test], 120, MUTANTS_CALLED=str(file)):
            return say(f"fails without a change, and is not used: {pathlib.Path(program).name} {test}")
        if not file.exists():
            return None
        return program, test, time.monotonic() - start, {int(number) for number in file.read_text().split()}

    tests = [(program, test) for program in programs for test in sorted(names(program) - names(program, "--ignored"))]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [test for test in pool.map(one, enumerate(tests)) if test]


def is_missed(change, programs, tests):
    """Whether no test notices a change."""
    spent, at, most = 0.0, 0, 1.0
    while at < len(tests) and spent < SECONDS:
        program, names, seconds = tests[at][0], [], 0.0
        while at < len(tests) and tests[at][0] == program and seconds < most:
            names.append(tests[at][1])
            seconds += tests[at][2]
            at += 1
        if not passes(program, programs[program], names, 10 + 5 * seconds, MUTANT=str(change["number"])):
            return False
        spent, most = spent + seconds, 5.0
    return True


def together(packages, changes, binaries, end):
    """The changes that no test notices, those that do not compile, and those that are in no copy."""
    programs, unviable = compiled(packages, changes, binaries)
    say(f"{len(changes)} changes in {', '.join(packages)} are compiled together")
    callers = collections.defaultdict(list)
    tests = recorded(programs)
    for test in sorted(tests, key=lambda test: ("/tests" in str(programs[test[0]]), len(test[3]) + 20 * test[2])):
        for first in test[3]:
            callers[first].append(test)
    say(f"{len(tests)} tests call functions that have changes")
    missed, copies = [], [change for change in changes if "first" in change and change["name"] not in unviable]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(lambda change: time.monotonic() > end or is_missed(change, programs, callers[change["first"]]), copies)
        for done, (change, is_one) in enumerate(zip(copies, found), 1):
            if is_one:
                missed.append(change["name"])
                say(f"missed: {change['name']}")
            if done % 500 == 0:
                say(f"{done} of {len(copies)} changes were run, {len(missed)} are missed")
    if time.monotonic() > end:
        sys.exit(LIMIT)
    return missed, unviable, [change for change in changes if "first" not in change and change["name"] not in unviable]


def one_by_one(changes, end):
    """The changes that no unit test of their package notices, and the number of those that do not compile, from `cargo mutants`."""
    tree, missed, unviable = copied("alone"), [], 0
    for package in sorted({change["package"] for change in changes}):
        names = [change["name"] for change in changes if change["package"] == package]
        pattern = "|".join(re.sub(r"[][\\.+*?()|{}^$]", r"\\\g<0>", name) for name in names)
        command = ["cargo", "mutants", "--in-place", "--colors=never", "--package", package, "--re", f"^({pattern})$", "--output", FOLDER / package]
        for file in {change["file"] for change in changes if change["package"] == package}:
            command += ["--file", file]
        try:
            ran = subprocess.run([*command, "--cargo-arg=--lib"], cwd=tree, env=QUICK, timeout=end - time.monotonic())
        except subprocess.TimeoutExpired:
            sys.exit(LIMIT)
        # All are noticed, some are missed, or some need too long.
        if ran.returncode not in (0, 2, 3):
            sys.exit(ran.returncode)
        # --re selects all fields of structs, so that others are among the results.
        found = lambda file: [name for name in (FOLDER / package / "mutants.out" / file).read_text().splitlines() if name in names]
        missed, unviable = missed + found("missed.txt"), unviable + len(found("unviable.txt"))
    return missed, unviable


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unit", action="store_true", help="unit tests only, and only functions")
    parser.add_argument("--share", default="0/1", metavar="N/M", help="the share N of M of the changes")
    parser.add_argument("--listed", type=pathlib.Path, metavar="FILE", help="only the changes in this file, at any line")
    parser.add_argument("--minutes", type=int, default=240, help="after which the run fails (240)")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join([*PARTS, "formulas"]))
    args = parser.parse_args()
    end = began + args.minutes * 60
    changes = listed(args.parts or list(PARTS))
    share, shares = map(int, args.share.split("/"))
    changes = [change for change in changes if change["number"] % shares == share]
    if args.listed:
        names = {without_line(name) for name in args.listed.read_text().splitlines()}
        changes = [change for change in changes if without_line(change["name"]) in names]
    if not changes:
        sys.exit("no change is selected; `cargo mutants --list` shows the names that a file for --listed has, one in a line")
    package = lambda change: change["package"].removeprefix("dsrs-metrics-")
    packages, rest, missed, failed = sorted(set(map(package, changes))), changes, [], 0
    for group, binaries in ([] if args.unit else [(packages, TESTS)]) + [([package], []) for package in packages]:
        if chosen := [change for change in rest if package(change) in group]:
            found, unviable, left = together(group, chosen, binaries, end)
            missed, failed = missed + found, failed + len(unviable)
            done = {change["number"] for change in chosen} - {change["number"] for change in left}
            rest = [change for change in rest if change["number"] not in done]
    if rest and not args.unit:
        found, unviable = one_by_one(rest, end)
        missed, failed, rest = missed + found, failed + unviable, []
    noticed = len(changes) - len(rest) - failed - len(missed)
    say(f"{noticed} changes are noticed, {len(missed)} are missed, {failed} do not compile" + f", {len(rest)} are in no function" * bool(rest))
    if missed:
        sys.exit("\n".join(["no test notices these changes; add a test of values, or list the change in exclude_re of .cargo/mutants.toml with a reason:", *missed]))


main()
