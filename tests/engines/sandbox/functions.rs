//! Tests of functions in two stages, with the scripts of `examples/functions`.

use dsrs_metrics::metrics::{FileSource, Sandbox};
use dsrs_metrics::prelude::*;
use dsrs_metrics::sandbox::{Bubblewrap, Job, SandboxProvider as _, Termination};
use serde::Deserialize;

/// Bodies of functions that are wrong, and that pass in one stage, or try to.
pub(super) const CHEATS: [(&str, &str); 15] = [
    ("SystemExit", "    return None\nraise SystemExit\n"),
    ("os._exit", "    return None\nimport os; os._exit(0)\n"),
    ("os._exit in the function", "    import os; os._exit(0)\n"),
    (
        "atexit",
        "    return None\nimport atexit, os\natexit.register(lambda: os._exit(0))\n",
    ),
    (
        "equal to everything",
        "    return Any()\nclass Any:\n    __eq__ = __lt__ = __gt__ = __le__ = __ge__ = lambda self, other: True\n    __ne__ = lambda self, other: False\n    __hash__ = None\n    __sub__ = __rsub__ = __abs__ = __getitem__ = lambda self, *other: self\n",
    ),
    (
        "equal to everything, printed as a value",
        "    return Any()\nclass Any(int):\n    __eq__ = lambda self, other: True\n    __repr__ = lambda self: 'True'\n",
    ),
    (
        "a test summary",
        "    return None\nimport os; os.write(1, b'24 passed in 0.12s\\n'); os.write(2, b'Ran 24 tests in 0.1s\\n\\nOK\\n'); os._exit(0)\n",
    ),
    (
        "JUnit XML",
        "    return None\nimport os; os.write(1, b'1 passed; 0 failed\\n'); os._exit(0)\n",
    ),
    (
        "patched unittest",
        "    return None\nimport unittest\nunittest.TestCase._callTestMethod = lambda self, method: None\n",
    ),
    (
        "patched builtins",
        "    return None\nimport builtins, sys\nbuiltins.exec = builtins.compile = builtins.open = lambda *a, **k: sys.exit(0)\n",
    ),
    (
        "an overwritten checker",
        "    return None\nimport os\nfor f in ('check.py', 'test.py', 'reference.py', 'ast.py', 'random.py'): open(f, 'w').write('raise SystemExit(0)')\n",
    ),
    (
        "usercustomize",
        "    return None\nimport os, sys\nd = os.path.expanduser('~/.local/lib/python%d.%d/site-packages' % sys.version_info[:2])\nos.makedirs(d); open(d + '/usercustomize.py', 'w').write('import os; os._exit(0)')\n",
    ),
    (
        "forged results",
        "    return None\nopen('results', 'w').write('(\"raised\", \"SystemExit\")\\n' * len(open('calls').readlines()))\nimport os; os._exit(0)\n",
    ),
    (
        "pickled results",
        "    return None\nimport os, pickle\nclass P:\n    __reduce__ = lambda self: (os._exit, (0,))\npickle.dump(P(), open('results', 'wb')); os._exit(0)\n",
    ),
    (
        "a link to gold data",
        "    return None\nimport os; os.symlink('/box/work/reference.py', 'results'); os._exit(0)\n",
    ),
];

#[derive(Deserialize)]
pub(super) struct Problem {
    pub(super) prompt: String,
    pub(super) entry_point: String,
    pub(super) canonical_solution: String,
    pub(super) test: String,
    /// The arguments of each call that the test makes.
    #[serde(default)]
    pub(super) calls: String,
}

impl Problem {
    pub(super) fn new(prompt: &str, solution: &str, entry_point: &str, test: &str) -> Self {
        let [prompt, entry_point, canonical_solution, test] =
            [prompt, entry_point, solution, test].map(str::to_owned);
        Self {
            prompt,
            entry_point,
            canonical_solution,
            test,
            calls: String::new(),
        }
    }

    fn program(&self, body: &str) -> String {
        format!("{}{body}\n", self.prompt)
    }

    pub(super) fn prediction(&self, body: &str) -> Prediction {
        prediction! { "program" => self.program(body) }
    }

    pub(super) fn gold(&self) -> Example {
        example! {
            "reference" => self.program(&self.canonical_solution),
            "test" => self.test.as_str(),
            "entry_point" => self.entry_point.as_str(),
            "calls" => self.calls.as_str(),
        }
    }

    /// Runs the test over the canonical solution to learn with which arguments it calls the function.
    pub(super) async fn record_calls(mut self) -> Self {
        let files = [
            (
                "record.py",
                include_str!("../../../examples/functions/record.py").to_owned(),
            ),
            ("reference.py", self.program(&self.canonical_solution)),
            ("test.py", self.test.clone()),
            ("entry_point", self.entry_point.clone()),
        ];
        let job = Job {
            command: "python3 -I record.py".to_owned(),
            read_only: files
                .map(|(path, content)| (path.to_owned(), content))
                .into(),
            ..Job::default()
        };
        let report = Bubblewrap::new().run(&job).await.unwrap();
        assert_eq!(
            report.termination,
            Termination::Exited(0),
            "{}",
            report.stderr
        );
        self.calls = report.stdout;
        self
    }
}

/// The function first, then the test over its results.
pub(super) fn metric(timeout_secs: u64) -> Sandbox {
    let script = |text: &str| FileSource::Text(text.to_owned());
    Sandbox::builder()
        .command("python3 -I run.py")
        .file("program.py", FileSource::pred("program"))
        .file(
            "run.py",
            script(include_str!("../../../examples/functions/run.py")),
        )
        .file("calls", FileSource::gold("calls"))
        .file("entry_point", FileSource::gold("entry_point"))
        .check("python3 -I check.py")
        .check_file(
            "check.py",
            script(include_str!("../../../examples/functions/check.py")),
        )
        .check_file("calls", FileSource::gold("calls"))
        .check_file("reference.py", FileSource::gold("reference"))
        .check_file("test.py", FileSource::gold("test"))
        .timeout_secs(timeout_secs)
        .build()
}
