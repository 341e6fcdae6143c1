//! The layers: a package depends only on packages below its own, and a module imports only from layers below its own, so
//! that there is no import cycle. The lint `unexpected_cfgs` checks that a package names only its own features.
//!
//! A new package gets a line in `PACKAGES`, a new top-level module a place in `VALUES`, `CODE` or `RUN`, and each a
//! line in `ARCHITECTURE.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, ItemMod, ItemUse, Macro, UseName, UsePath, UseRename, UseTree};

/// The packages in `crates` and the facade, each with the packages of this workspace that it depends on.
const PACKAGES: [(&str, &[&str]); 11] = [
    ("crates/values", &[]),
    ("crates/sandbox", &["values"]),
    ("crates/lm", &["values"]),
    ("crates/code", &["values"]),
    ("crates/core", &["lm", "macros", "values"]),
    ("crates/builtin", &["code", "core", "sandbox", "values"]),
    ("crates/run", &["core", "values"]),
    ("crates/formats", &["core", "run", "values"]),
    ("crates/otel", &["core", "lm", "run", "values"]),
    (
        "crates/cli",
        &[
            "builtin", "core", "formats", "otel", "run", "sandbox", "values",
        ],
    ),
    (
        "dsrs-metrics",
        &[
            "builtin", "cli", "code", "core", "formats", "lm", "macros", "otel", "run", "sandbox",
            "values",
        ],
    ),
];

/// The modules of functions on values, from the lowest layer to the highest. Modules of one layer do not import from each
/// other.
const VALUES: [&[&str]; 5] = [
    &["bipartite", "messages", "named_files", "stats", "weights"],
    &["files", "outcome_coupled", "text"],
    &["json"],
    &["retrieval", "trajectory"],
    &["value_type"],
];

/// The same for syntax and SPARQL.
const CODE: [&[&str]; 2] = [&["syntax"], &["sparql"]];

/// The same for rows, runs and results. The lowest layer is modules of the packages below.
const RUN: [&[&str]; 5] = [
    &[
        "composite",
        "contract",
        "in_order",
        "json",
        "lm",
        "messages",
        "named_files",
        "stats",
    ],
    &["agreement", "data"],
    &["evaluate"],
    &["results", "scoring"],
    &["evals"],
];

/// The same for the macro crate.
const MACROS: [&[&str]; 2] = [
    &["shared"],
    &[
        "added_metrics",
        "composite",
        "eval",
        "judge",
        "judge_output",
        "metric",
        "param_group",
        "record",
    ],
];

/// Modules that only re-export, for users and for the expansion of the macros, and the tests of the macros.
const FACADES: [&str; 8] = [
    "lib",
    "main",
    "prelude",
    "__private",
    "messages",
    "documented",
    "any_tokens",
    "expansions",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The source files below a folder, each with the top-level module that it belongs to.
fn sources(folder: &Path) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            found.extend(
                sources(&path)
                    .into_iter()
                    .map(|(_, file)| (module.clone(), file)),
            );
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push((module, path));
        }
    }
    found.sort();
    found
}

/// The modules after `crate::` in a file, tests excluded.
#[derive(Default)]
struct Imports(Vec<String>);

impl Imports {
    fn of(file: &Path) -> Vec<String> {
        let source = fs::read_to_string(file).unwrap();
        let mut imports = Self::default();
        imports.visit_file(&syn::parse_file(&source).unwrap());
        imports.0
    }

    fn use_tree(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(UsePath { ident, .. }) => self.0.push(ident.to_string()),
            UseTree::Name(UseName { ident }) => self.0.push(ident.to_string()),
            UseTree::Rename(UseRename { ident, .. }) => self.0.push(ident.to_string()),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.use_tree(tree)),
            UseTree::Glob(_) => self.0.push("*".to_owned()),
        }
    }
}

impl Visit<'_> for Imports {
    fn visit_item_mod(&mut self, module: &ItemMod) {
        let is_test = |attr: &Attribute| {
            attr.path().is_ident("cfg")
                && attr
                    .parse_args::<syn::Path>()
                    .is_ok_and(|cfg| cfg.is_ident("test"))
        };
        if !module.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        match &item.tree {
            UseTree::Path(UsePath { ident, tree, .. }) if ident == "crate" => self.use_tree(tree),
            _ => {}
        }
    }

    fn visit_path(&mut self, path: &syn::Path) {
        match path.segments.first() {
            Some(first) if first.ident == "crate" => {
                self.0
                    .extend(path.segments.get(1).map(|module| module.ident.to_string()));
            }
            _ => {}
        }
        visit::visit_path(self, path);
    }

    /// Tokens of macros are not parsed; `$crate::..` names the crate's public items and is not an import.
    fn visit_macro(&mut self, invocation: &Macro) {
        let text = invocation.tokens.to_string();
        let paths = text.split("crate ::").collect::<Vec<_>>();
        for pair in paths
            .windows(2)
            .filter(|pair| !pair[0].trim_end().ends_with('$'))
        {
            let name = pair[1]
                .trim_start()
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .next();
            self.0.extend(name.map(str::to_owned));
        }
    }
}

/// The layer of each module.
fn layers(of: &[&[&'static str]]) -> BTreeMap<&'static str, usize> {
    let layers = of.iter().enumerate();
    layers
        .flat_map(|(layer, modules)| modules.iter().map(move |module| (*module, layer)))
        .collect()
}

/// Imports that are not from a lower layer, as `FILE imports MODULE`. `roots` are items of the
/// crate's root, which are not modules.
fn upward(folder: &str, of: &[&[&'static str]], roots: &[&str]) -> Vec<String> {
    let (folder, layers) = (root().join(folder), layers(of));
    let mut found = Vec::new();
    for (module, file) in sources(&folder) {
        if FACADES.contains(&&*module) {
            continue;
        }
        let Some(own) = layers.get(&*module) else {
            found.push(format!("the module `{module}` has no layer"));
            continue;
        };
        for import in Imports::of(&file) {
            let is_below = layers.get(&*import).is_some_and(|layer| layer < own);
            if import != module && !is_below && !roots.contains(&&*import) {
                let file = file.strip_prefix(&folder).unwrap().display();
                found.push(format!("{file} imports {import}"));
            }
        }
    }
    found
}

#[test]
fn modules_import_from_lower_layers() {
    assert_eq!(
        upward("crates/values/src", &VALUES, &[]),
        Vec::<String>::new()
    );
    assert_eq!(
        upward("crates/code/src", &CODE, &["within_deadline"]),
        Vec::<String>::new()
    );
    assert_eq!(upward("crates/run/src", &RUN, &[]), Vec::<String>::new());
}

/// The packages of this workspace that a manifest lists as dependencies, without the prefix of their names.
fn dependencies(manifest: &str) -> Vec<&str> {
    let lines = manifest
        .lines()
        .skip_while(|line| *line != "[dependencies]")
        .skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.strip_prefix("dsrs-metrics"));
    let mut names: Vec<_> = names
        .map(|rest| rest.split(['.', ' ']).next().unwrap_or_default())
        .collect();
    names.sort_unstable();
    names
        .into_iter()
        .map(|name| name.trim_start_matches('-'))
        .collect()
}

#[test]
fn packages_depend_on_packages_below_them() {
    let listed = PACKAGES.map(|(folder, _)| folder);
    let folders = fs::read_dir(root().join("crates")).unwrap();
    for folder in folders
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
    {
        let folder = format!("crates/{}", folder.file_name().into_string().unwrap());
        assert!(
            listed.contains(&&*folder),
            "the package `{folder}` has no line in `PACKAGES`"
        );
    }
    for (position, (folder, expected)) in PACKAGES.iter().enumerate() {
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        assert_eq!(dependencies(&manifest), *expected, "{folder}");
        for name in expected.iter().filter(|name| **name != "macros") {
            let below = &listed[..position];
            assert!(
                below.contains(&&*format!("crates/{name}")),
                "{folder} is not above {name}"
            );
        }
    }
}

#[test]
fn attributes_of_the_macro_crate_do_not_import_from_each_other() {
    let roots = [
        "expand_metric",
        "expand_judge",
        "expand_judge_output",
        "expand_record",
    ];
    assert_eq!(
        upward("dsrs-metrics-macros/src", &MACROS, &roots),
        Vec::<String>::new()
    );
}

/// The test must detect an import in each of its forms.
#[test]
fn an_upward_import_is_found() {
    let source = "
        use crate::cli::args;
        use crate::{evaluate::Source, json::depth};
        fn f(row: crate::data::Row) { m!(crate::scoring::x, $crate::y) }
        #[cfg(test)]
        mod tests { use crate::agreement; }
    ";
    let mut imports = Imports::default();
    imports.visit_file(&syn::parse_file(source).unwrap());
    assert_eq!(imports.0, ["cli", "evaluate", "json", "data", "scoring"]);
}
