//! Uses the host's `PATH` to find where the programs that a job requires are installed.
//!
//! Only a required program's installation becomes visible in a sandbox: a rustup toolchain, a virtual environment with
//! the Python that it is based on, a Python, Node or Go installation, or a directory in `/opt`. For anything else, only
//! the executable is exposed.
//!
//! The file is long because each kind of installation is found in a different way.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use super::SandboxError;

/// The installations of required programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Programs {
    /// The directories of the programs, for `PATH`.
    pub(super) path: Vec<PathBuf>,
    /// Files and directories to mount at the same path.
    pub(super) readable: BTreeSet<PathBuf>,
}

/// A search on the host.
pub(super) struct Search<'a> {
    /// The value of `PATH`.
    path: OsString,
    /// The directory where toolchain managers look for their configuration.
    folder: Option<&'a Path>,
    /// The paths that every sandbox contains.
    system: &'a [&'a str],
    found: Programs,
    /// The programs and links that were already followed.
    seen: BTreeSet<PathBuf>,
}

impl<'a> Search<'a> {
    pub(super) fn new(path: OsString, folder: Option<&'a Path>, system: &'a [&'a str]) -> Self {
        Self {
            path,
            folder,
            system,
            found: Programs::default(),
            seen: BTreeSet::new(),
        }
    }

    /// Looks for programs by name. Skips paths, and names that don't exist on the host, because the sandbox looks for
    /// them again.
    ///
    /// # Errors
    /// Returns [`SandboxError::UnknownToolchain`] if a toolchain manager does not know the program.
    pub(super) fn find_all<'p>(
        mut self,
        names: impl Iterator<Item = &'p str>,
    ) -> Result<Programs, SandboxError> {
        for name in names.filter(|name| !name.contains('/')) {
            self.add_name(name)?;
        }
        Ok(self.found)
    }

    /// Returns the program with this name. Its directory's path contains no symbolic links.
    fn find(&self, name: &str) -> Result<Option<PathBuf>, SandboxError> {
        let dirs = std::env::split_paths(&self.path).filter(|dir| dir.is_absolute());
        let mut candidates = dirs
            .map(|dir| dir.join(name))
            .filter(|path| is_executable(path));
        let Some(program) = candidates.next() else {
            return Ok(None);
        };
        let program = match manager(&program, name) {
            Some(manager) => self.managed(&manager, name)?,
            None => program,
        };
        Ok(Some(in_real_directory(&program).unwrap_or(program)))
    }

    /// Asks a toolchain manager which program is behind a proxy or shim. The manager must not install anything.
    fn managed(&self, manager: &Path, name: &str) -> Result<PathBuf, SandboxError> {
        let unknown = |reason: String| {
            let command = format!("{} which {name}", manager.display());
            SandboxError::UnknownToolchain {
                program: name.to_owned(),
                command,
                reason,
            }
        };
        let mut command = Command::new(manager);
        command
            .args(["which", name])
            .env("RUSTUP_AUTO_INSTALL", "0");
        if let Some(folder) = self.folder {
            command.current_dir(folder);
        }
        let output = command
            .output()
            .map_err(|error| unknown(error.to_string()))?;
        let printed = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if output.status.success() && is_executable(Path::new(&printed)) {
            return Ok(printed.into());
        }
        let errors = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(unknown(if errors.is_empty() { printed } else { errors }))
    }

    fn add_name(&mut self, name: &str) -> Result<(), SandboxError> {
        let Some(program) = self.find(name)? else {
            return Ok(());
        };
        if let Some(dir) = program
            .parent()
            .filter(|dir| !self.found.path.iter().any(|it| it == dir))
        {
            self.found.path.push(dir.to_owned());
        }
        self.add(&program)
    }

    /// Adds the installations of a program, of the programs that it links to, and of its interpreter.
    fn add(&mut self, program: &Path) -> Result<(), SandboxError> {
        if !self.seen.insert(program.to_owned()) {
            return Ok(());
        }
        self.expose(program)?;
        let Some(real) = in_real_directory(program) else {
            return Ok(());
        };
        self.expose(&real)?;
        if let Ok(target) = fs::read_link(&real) {
            let target = real.with_file_name(target);
            let has_parents = target.components().any(|part| part == Component::ParentDir);
            let resolved = has_parents.then(|| in_real_directory(&target)).flatten();
            return self.add(&resolved.unwrap_or(target));
        }
        match interpreter(program) {
            Some(interpreter) if interpreter.starts_with('/') => self.add(Path::new(&interpreter)),
            Some(name) => self.add_name(&name),
            None => Ok(()),
        }
    }

    /// Adds the installation that contains a file, or just the file if there is none.
    fn expose(&mut self, file: &Path) -> Result<(), SandboxError> {
        if self.system.iter().any(|dir| file.starts_with(dir)) {
            return Ok(());
        }
        let root = installation(file).unwrap_or_else(|| file.to_owned());
        if self.found.readable.insert(root.clone())
            && let Ok(config) = fs::read_to_string(root.join("pyvenv.cfg"))
        {
            self.add(&root.join("bin/python3"))?;
            let home = config
                .lines()
                .find_map(|line| line.strip_prefix("home")?.trim().strip_prefix('='));
            if let Some(home) = home {
                self.add(&Path::new(home.trim()).join("python3"))?;
            }
        }
        Ok(())
    }
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

/// Returns a file's path after resolving symbolic links in its directory's path.
fn in_real_directory(path: &Path) -> Option<PathBuf> {
    Some(
        fs::canonicalize(path.parent()?)
            .ok()?
            .join(path.file_name()?),
    )
}

/// Returns the toolchain manager behind this program, if it is a proxy or shim.
fn manager(program: &Path, name: &str) -> Option<PathBuf> {
    let real = fs::canonicalize(program).ok()?;
    let rustup = real.with_file_name("rustup");
    // A proxy is a link to rustup, or a hard link.
    let identity = |path: &Path| fs::metadata(path).map(|it| (it.dev(), it.ino())).ok();
    if name != "rustup" && identity(&rustup).is_some_and(|it| identity(&real) == Some(it)) {
        return Some(rustup);
    }
    let pyenv = program.parent()?.with_file_name("bin").join("pyenv");
    (program.parent()?.ends_with("shims") && is_executable(&pyenv)).then_some(pyenv)
}

/// Returns a script's interpreter: a path, or the name that `env` looks for.
fn interpreter(program: &Path) -> Option<String> {
    const MAX_LINE: u64 = 512;
    let mut start = Vec::new();
    fs::File::open(program)
        .ok()?
        .take(MAX_LINE)
        .read_to_end(&mut start)
        .ok()?;
    let start = String::from_utf8_lossy(&start).into_owned();
    let mut words = start.strip_prefix("#!")?.lines().next()?.split_whitespace();
    let first = words.next()?;
    if !first.ends_with("/env") {
        return Some(first.to_owned());
    }
    words
        .find(|word| !word.starts_with('-') && !word.contains('='))
        .map(str::to_owned)
}

/// Returns the directory of a program's installation, if the directory contains nothing else.
fn installation(program: &Path) -> Option<PathBuf> {
    let in_opt = |root: &&Path| root.parent() == Some(Path::new("/opt")) && !root.ends_with("bin");
    let bin = program.parent().filter(|dir| dir.ends_with("bin"));
    let toolchain = bin.and_then(Path::parent).filter(|root| is_toolchain(root));
    let root = program.ancestors().skip(1).find(in_opt).or(toolchain)?;
    (!is_shared(root)).then(|| root.to_owned())
}

/// Returns `true` if a directory contains more than one installation, such as a home directory or a prefix with many
/// installed programs.
fn is_shared(root: &Path) -> bool {
    let Ok(root) = fs::canonicalize(root) else {
        return true;
    };
    let home = std::env::var_os("HOME").and_then(|home| fs::canonicalize(home).ok());
    let is_home = home.is_some_and(|home| home.starts_with(&root));
    let is_prefix = [".local", ".cargo", ".config", ".cache"]
        .iter()
        .any(|name| root.ends_with(name));
    is_home
        || is_prefix
        || root
            .parent()
            .is_none_or(|parent| parent == Path::new("/home"))
}

/// Returns `true` if a directory contains files that only a toolchain installation has.
fn is_toolchain(root: &Path) -> bool {
    let markers = [
        "pyvenv.cfg",
        "lib/rustlib",
        "include/node/node_version.h",
        "pkg/tool",
    ];
    let libraries = fs::read_dir(root.join("lib"));
    let mut libraries = libraries.into_iter().flatten().flatten();
    markers.iter().any(|marker| root.join(marker).exists())
        || libraries.any(|python| python.path().join("os.py").exists())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Creates a directory of executable scripts. Content that starts with `->` describes a symbolic link.
    fn host(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match text.strip_prefix("->") {
                Some(target) => symlink(target, &path).unwrap(),
                None => {
                    let text = text.replace("{dir}", &dir.path().display().to_string());
                    fs::write(&path, text).unwrap();
                    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
                }
            }
        }
        dir
    }

    /// Looks for a program, and returns `PATH` and the readable paths, relative to the directory.
    fn find(
        host: &Path,
        path: &[&str],
        name: &str,
    ) -> Result<(Vec<String>, Vec<String>), SandboxError> {
        let path = std::env::join_paths(path.iter().map(|it| host.join(it))).unwrap();
        let search = Search::new(path, None, &["/usr", "/bin"]);
        let found = search.find_all([name].into_iter())?;
        let shown = |path: &PathBuf| {
            path.strip_prefix(host)
                .unwrap_or(path)
                .display()
                .to_string()
        };
        Ok((
            found.path.iter().map(shown).collect(),
            found.readable.iter().map(shown).collect(),
        ))
    }

    #[track_caller]
    fn assert_found(
        files: &[(&str, &str)],
        path: &[&str],
        name: &str,
        dirs: &[&str],
        readable: &[&str],
    ) {
        let host = host(files);
        let (found_dirs, found) = find(&host.path().canonicalize().unwrap(), path, name).unwrap();
        assert_eq!((found_dirs, found), (owned(dirs), owned(readable)));
    }

    fn owned(all: &[&str]) -> Vec<String> {
        all.iter().map(|&it| it.to_owned()).collect()
    }

    #[test]
    fn a_proxy_of_rustup_is_the_program_of_the_toolchain() {
        let files = [
            (
                ".cargo/bin/rustup",
                "#!/bin/sh\necho {dir}/.rustup/toolchains/stable/bin/$2",
            ),
            (".cargo/bin/cargo", "->rustup"),
            (".cargo/credentials.toml", ""),
            (".rustup/toolchains/stable/bin/cargo", ""),
            (".rustup/toolchains/stable/lib/rustlib/components", ""),
        ];
        let toolchain = ".rustup/toolchains/stable";
        assert_found(
            &files,
            &[".cargo/bin"],
            "cargo",
            &[".rustup/toolchains/stable/bin"],
            &[toolchain],
        );
    }

    #[test]
    fn a_toolchain_that_is_not_installed_is_an_error_with_the_words_of_rustup() {
        let rustup = "#!/bin/sh\necho \"error: toolchain 'x' is not installed\" >&2; exit 1";
        let host = host(&[("bin/rustup", rustup), ("bin/cargo", "->rustup")]);
        let error = find(host.path(), &["bin"], "cargo")
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("the toolchain of the command `cargo` is not installed: `"),
            "{error}"
        );
        assert!(
            error.contains("/rustup which cargo` failed with \"error: toolchain 'x' is not"),
            "{error}"
        );
    }

    #[test]
    fn a_virtual_environment_comes_with_its_python_and_a_script_with_its_interpreter() {
        let files = [
            ("code/.venv/bin/pytest", "#!{dir}/code/.venv/bin/python3\n"),
            ("code/.venv/bin/python3", "->python"),
            (
                "code/.venv/bin/python",
                "->../../../pythons/latest/bin/python3",
            ),
            ("code/.venv/pyvenv.cfg", "home = {dir}/pythons/latest/bin\n"),
            ("pythons/latest", "->3.12"),
            ("pythons/3.12/bin/python3", "->python3.12"),
            ("pythons/3.12/bin/python3.12", ""),
            ("pythons/3.12/lib/python3.12/os.py", ""),
            (".local/bin/tool", "#!/usr/bin/env -S pytest\n"),
            (".local/lib/python3.12/site-packages/other.py", ""),
        ];
        let all = ["code/.venv", "pythons/3.12", "pythons/latest"];
        assert_found(
            &files,
            &["code/.venv/bin"],
            "pytest",
            &["code/.venv/bin"],
            &all,
        );
        let path = [".local/bin", "code/.venv/bin"];
        let with_tool = [&[".local/bin/tool"], &all[..]].concat();
        assert_found(&files, &path, "tool", &path, &with_tool);
    }

    #[test]
    fn node_is_an_installation_and_any_other_program_is_a_file() {
        let node = (".nvm/versions/node/v22/bin/node", "");
        let header = (".nvm/versions/node/v22/include/node/node_version.h", "");
        let dir = ".nvm/versions/node/v22/bin";
        assert_found(
            &[node, header],
            &[dir],
            "node",
            &[dir],
            &[".nvm/versions/node/v22"],
        );
        assert_found(&[node], &[dir], "node", &[dir], &[node.0]);
        // A prefix that many programs share is not an installation, regardless of its content.
        let shared = [
            (".local/bin/node", ""),
            (".local/include/node/node_version.h", ""),
        ];
        assert_found(
            &shared,
            &[".local/bin"],
            "node",
            &[".local/bin"],
            &[".local/bin/node"],
        );
        assert_found(&[], &["bin"], "node", &[], &[]);
    }

    #[test]
    fn a_shim_is_the_program_that_its_manager_names() {
        let files = [
            (".pyenv/shims/python3", "#!/usr/bin/env bash\n"),
            (
                ".pyenv/bin/pyenv",
                "#!/bin/sh\necho {dir}/.pyenv/versions/3.12/bin/$2",
            ),
            (".pyenv/versions/3.12/bin/python3", ""),
            (".pyenv/versions/3.12/lib/python3.12/os.py", ""),
        ];
        let dirs = [".pyenv/versions/3.12/bin"];
        assert_found(
            &files,
            &[".pyenv/shims"],
            "python3",
            &dirs,
            &[".pyenv/versions/3.12"],
        );
    }

    #[test]
    fn a_script_that_is_its_own_interpreter_is_found_once() {
        let files = [("bin/loop", "#!/usr/bin/env loop\n")];
        assert_found(&files, &["bin"], "loop", &["bin"], &["bin/loop"]);
        let files = [
            ("bin/a", "->b"),
            ("bin/b", "->a"),
            ("bin/c", "#!/usr/bin/env d"),
            ("bin/d", "#!{dir}/bin/c"),
        ];
        assert_found(&files, &["bin"], "a", &[], &[]);
        assert_found(&files, &["bin"], "c", &["bin"], &["bin/c", "bin/d"]);
    }

    #[test]
    fn a_home_directory_is_not_an_installation() {
        let host = host(&[(".local/bin/tool", ""), ("tool/bin/tool", "")]);
        assert!(is_shared(&host.path().join(".local")));
        assert!(!is_shared(&host.path().join("tool")));
        assert!(is_shared(&host.path().join("missing")));
        assert!(is_shared(Path::new("/")));
        if let Some(home) = std::env::var_os("HOME") {
            assert!(is_shared(Path::new(&home)), "{home:?}");
        }
        assert_eq!(installation(Path::new("/opt/bin/tool")), None);
    }
}
