//! The Python packages that the committed vectors were made with.

use std::process::Command;

use crate::skip;

/// `name==version`, one a line.
const PEERS: &str = include_str!("../../.ci/peers.txt");

/// Those that are installed without the packages that they require.
const ALONE: &str = include_str!("../../.ci/peers_alone.txt");

/// A Python interpreter that has certain packages, in the versions of `.ci/peers.txt`.
///
/// The environment variable `DSRS_METRICS_PYTHON` names the interpreter (default `python3`).
#[derive(Debug, Clone)]
pub struct Peer {
    program: String,
}

impl Peer {
    /// An interpreter with these packages, or `None` after [`skip`] if a version differs or a package is missing.
    ///
    /// # Panics
    /// If a package is not listed in `.ci/peers.txt`.
    #[must_use]
    #[track_caller]
    pub fn with(packages: &[&str]) -> Option<Self> {
        let listed = |name: &&str| {
            let is_listed = |line: &&str| line.split("==").next() == Some(name);
            PEERS
                .lines()
                .chain(ALONE.lines())
                .find(is_listed)
                .unwrap_or_else(|| panic!("{name} is not a peer"))
        };
        let wanted = packages.iter().map(listed).collect::<Vec<_>>().join(" ");
        let peer = Self {
            program: Self::interpreter(),
        };
        let probe = "import importlib.metadata as m, sys\n\
                     print(' '.join(f'{n}=={m.version(n)}' for n in sys.argv[1:]))";
        let found = peer.output(&[&["-c", probe], packages].concat());
        if found.as_ref() == Ok(&wanted) {
            return Some(peer);
        }
        // Of a traceback the last line names the package that is missing.
        let found = found.unwrap_or_else(|error| error.lines().last().unwrap_or_default().into());
        let program = &peer.program;
        skip(&format!(
            "{program} has not {wanted:?} ({found}); set DSRS_METRICS_PYTHON to one that has"
        ));
        None
    }

    /// The interpreter to try.
    #[must_use]
    pub fn interpreter() -> String {
        std::env::var("DSRS_METRICS_PYTHON").unwrap_or_else(|_| "python3".to_owned())
    }

    /// The path of the interpreter.
    #[must_use]
    pub fn program(&self) -> &str {
        &self.program
    }

    /// What the interpreter prints with these arguments, trimmed.
    ///
    /// # Errors
    /// What it prints on standard error, if it does not start or does not succeed.
    pub fn output(&self, arguments: &[&str]) -> Result<String, String> {
        let ran = Command::new(&self.program).args(arguments).output();
        let ran = ran.map_err(|error| error.to_string())?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if ran.status.success() {
            Ok(text(&ran.stdout))
        } else {
            Err(text(&ran.stderr))
        }
    }

    /// What a script that made vectors prints when it compares them with the packages again.
    ///
    /// # Panics
    /// If the script fails.
    #[must_use]
    #[track_caller]
    pub fn check(&self, script: &str) -> String {
        self.output(&[script, "--check"])
            .unwrap_or_else(|error| panic!("{error}"))
    }
}
