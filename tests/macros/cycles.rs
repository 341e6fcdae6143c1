//! Import cycles of files: in each package, at most three files depend on each other in a circle.
//!
//! A file depends on the files that define the items which its paths name; a path is followed through re-exports. A
//! re-export itself is not a dependency, so that a `mod.rs` can re-export items of its children. Tests and method calls do not
//! count.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemUse, Macro, UseTree, VisRestricted, Visibility};

/// The largest number of files in a cycle.
const LARGEST_CYCLE: usize = 3;

/// The largest number of re-exports between a path and its item. It ends the search in a cycle of glob imports.
const MAX_REEXPORTS: usize = 16;

/// The segments of a path, such as the path of a module from the root of its package.
type Segments = Vec<String>;

/// The names and paths in a file.
#[derive(Default)]
struct Module {
    /// The names of its items.
    defined: BTreeSet<String>,
    /// The imported and re-exported names, and the path of each.
    imported: BTreeMap<String, Segments>,
    /// The modules of glob imports and glob re-exports.
    globs: Vec<Segments>,
    /// The paths of imports.
    imports: Vec<Segments>,
    /// The paths in signatures, bodies and macros.
    paths: Vec<Segments>,
}

impl Module {
    fn parse(source: &str) -> Self {
        let mut module = Self::default();
        module.visit_file(&syn::parse_file(source).unwrap());
        module
    }

    /// Adds the names of a `use` declaration.
    fn add_use(&mut self, tree: &UseTree, prefix: &[String], is_import: bool) {
        let with = |name: &dyn ToString| [prefix, &[name.to_string()]].concat();
        let (name, path) = match tree {
            UseTree::Path(path) => return self.add_use(&path.tree, &with(&path.ident), is_import),
            UseTree::Group(group) => {
                return group
                    .items
                    .iter()
                    .for_each(|tree| self.add_use(tree, prefix, is_import));
            }
            UseTree::Glob(_) => {
                self.globs.push(prefix.to_vec());
                (None, prefix.to_vec())
            }
            UseTree::Name(name) if name.ident == "self" => {
                (prefix.last().cloned(), prefix.to_vec())
            }
            UseTree::Name(name) => (Some(name.ident.to_string()), with(&name.ident)),
            UseTree::Rename(rename) => (Some(rename.rename.to_string()), with(&rename.ident)),
        };
        if is_import {
            self.imports.push(path.clone());
        }
        self.imported.extend(name.map(|name| (name, path)));
    }

    /// Adds the paths in the tokens of a macro: identifiers that are separated by `::`. A single identifier may be anything.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut colons) = (Segments::new(), 0);
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.add_path(std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                other => {
                    self.add_path(std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.add_tokens(group.stream());
                    }
                }
            }
        }
        self.add_path(path);
    }

    fn add_path(&mut self, path: Segments) {
        if path.len() > 1 {
            self.paths.push(path);
        }
    }
}

impl Visit<'_> for Module {
    fn visit_item(&mut self, item: &Item) {
        let (attrs, name) = match item {
            Item::Const(it) => (&it.attrs, Some(&it.ident)),
            Item::Enum(it) => (&it.attrs, Some(&it.ident)),
            Item::Fn(it) => (&it.attrs, Some(&it.sig.ident)),
            Item::Impl(it) => (&it.attrs, None),
            Item::Macro(it) => (&it.attrs, it.ident.as_ref()),
            // A module with a body is a part of this file.
            Item::Mod(it) => (&it.attrs, it.content.as_ref().map(|_| &it.ident)),
            Item::Static(it) => (&it.attrs, Some(&it.ident)),
            Item::Struct(it) => (&it.attrs, Some(&it.ident)),
            Item::Trait(it) => (&it.attrs, Some(&it.ident)),
            Item::Type(it) => (&it.attrs, Some(&it.ident)),
            Item::Use(it) => (&it.attrs, None),
            _ => return visit::visit_item(self, item),
        };
        if !is_test(attrs) {
            self.defined.extend(name.map(ToString::to_string));
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        self.add_use(&item.tree, &[], matches!(item.vis, Visibility::Inherited));
    }

    /// The path of `pub(super)` or `pub(in path)` is not a dependency.
    fn visit_vis_restricted(&mut self, _: &VisRestricted) {}

    fn visit_path(&mut self, path: &syn::Path) {
        if path.leading_colon.is_none() {
            self.paths.push(
                path.segments
                    .iter()
                    .map(|it| it.ident.to_string())
                    .collect(),
            );
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invocation: &Macro) {
        self.add_tokens(invocation.tokens.clone());
    }
}

fn is_test(attrs: &[Attribute]) -> bool {
    let is_test = |attr: &Attribute| {
        attr.parse_args::<syn::Path>()
            .is_ok_and(|it| it.is_ident("test"))
    };
    attrs
        .iter()
        .any(|attr| attr.path().is_ident("cfg") && is_test(attr))
}

/// The modules of a package, by their paths from its root.
#[derive(Default)]
struct Package(BTreeMap<Segments, Module>);

impl Package {
    fn read(folder: &Path) -> Self {
        let mut package = Self::default();
        package.add_folder(folder, &Segments::new());
        package
    }

    fn add_folder(&mut self, folder: &Path, path: &[String]) {
        for entry in fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            let name = file.file_stem().unwrap().to_str().unwrap();
            let inner = [path, &[name.to_owned()]].concat();
            if file.is_dir() {
                self.add_folder(&file, &inner);
            } else if file.extension().is_some_and(|it| it == "rs") {
                let is_root = ["mod", "lib", "main"].contains(&name);
                let path = if is_root { path.to_vec() } else { inner };
                self.0
                    .insert(path, Module::parse(&fs::read_to_string(&file).unwrap()));
            }
        }
    }

    /// Returns the module that defines the item of a path in the module `from`, if it is a module of this package.
    fn resolve(&self, from: &[String], path: &[String], reexports: usize) -> Option<Segments> {
        let (mut module, mut rest) = match path.first()?.as_str() {
            "crate" => (Segments::new(), &path[1..]),
            "self" => (from.to_vec(), &path[1..]),
            "super" => (from.to_vec(), path),
            _ => return self.find(from, path, reexports),
        };
        while rest.first().is_some_and(|segment| segment == "super") {
            module.pop()?;
            rest = &rest[1..];
        }
        if rest.is_empty() {
            Some(module)
        } else {
            self.find(&module, rest, reexports)
        }
    }

    /// As [`resolve`](Self::resolve), for a path that starts with a name in the module `from`.
    fn find(&self, from: &[String], path: &[String], reexports: usize) -> Option<Segments> {
        let module = self.0.get(from).filter(|_| reexports < MAX_REEXPORTS)?;
        let (first, rest) = path.split_first()?;
        if module.defined.contains(first) {
            return Some(from.to_vec());
        }
        let imported = module
            .imported
            .get(first)
            .and_then(|imported| self.resolve(from, &[imported, rest].concat(), reexports + 1));
        if imported.is_some() {
            return imported;
        }
        // A macro or function of another package may have the name of a module.
        let child = [from, std::slice::from_ref(first)].concat();
        if self.0.contains_key(&child) {
            return if rest.is_empty() {
                Some(child)
            } else {
                self.find(&child, rest, reexports)
            };
        }
        module.globs.iter().find_map(|glob| {
            let glob = self
                .resolve(from, glob, reexports + 1)
                .filter(|glob| glob != from)?;
            self.find(&glob, path, reexports + 1)
        })
    }

    /// Returns the modules that each module depends on.
    fn dependencies(&self) -> BTreeMap<&Segments, BTreeSet<Segments>> {
        let all = self.0.iter().map(|(name, module)| {
            let imports = module
                .imports
                .iter()
                .filter_map(|path| self.resolve(name, path, 0));
            let others = module.paths.iter().filter_map(|path| {
                let found = self.resolve(name, path, 0)?;
                // A single name is a value or type, although a module may have the same name.
                let is_child = path.len() == 1 && found.len() > name.len() && found.ends_with(path);
                (!is_child).then_some(found)
            });
            (
                name,
                imports
                    .chain(others)
                    .filter(|found| found != name)
                    .collect(),
            )
        });
        all.collect()
    }

    /// Returns the cycles: groups of modules that all depend on each other, directly or not. Each has a line for each of its
    /// modules, with the modules of the group that it depends on directly.
    fn cycles(&self) -> Vec<Vec<String>> {
        let dependencies = self.dependencies();
        let all: BTreeMap<_, _> = dependencies
            .keys()
            .map(|name| (*name, reached(name, &dependencies)))
            .collect();
        let mut groups: BTreeSet<Vec<&Segments>> = BTreeSet::new();
        for (name, reached) in all
            .iter()
            .filter(|(name, reached)| reached.contains(**name))
        {
            let is_mutual = |other: &&Segments| all.get(other).is_some_and(|it| it.contains(*name));
            groups.insert(reached.iter().filter(is_mutual).collect());
        }
        let line = |name: &Segments, group: &[&Segments]| {
            let direct = dependencies[name].iter().filter(|it| group.contains(it));
            format!(
                "{} -> {}",
                shown(name),
                direct.map(shown).collect::<Vec<_>>().join(", ")
            )
        };
        groups
            .iter()
            .map(|group| group.iter().map(|name| line(name, group)).collect())
            .collect()
    }
}

/// Returns the modules that a module depends on, directly or not.
fn reached(
    start: &Segments,
    dependencies: &BTreeMap<&Segments, BTreeSet<Segments>>,
) -> BTreeSet<Segments> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![start]);
    while let Some(name) = next.pop() {
        for dependency in dependencies.get(name).into_iter().flatten() {
            if reached.insert(dependency.clone()) {
                next.push(dependency);
            }
        }
    }
    reached
}

fn shown(module: &Segments) -> String {
    if module.is_empty() {
        "lib.rs".to_owned()
    } else {
        module.join("::")
    }
}

#[test]
fn no_cycle_of_files_is_long() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crates = fs::read_dir(root.join("crates"))
        .unwrap()
        .map(|it| it.unwrap().path());
    let crates = crates.filter(|it| it.is_dir());
    let packages = crates.chain(["dsrs-metrics", "dsrs-metrics-macros"].map(|it| root.join(it)));
    let mut long = Vec::new();
    for package in packages {
        let cycles = Package::read(&package.join("src")).cycles();
        for cycle in cycles.iter().filter(|cycle| cycle.len() > LARGEST_CYCLE) {
            let name = package.file_name().unwrap().display();
            long.push(format!(
                "{name}, {} files:\n  {}",
                cycle.len(),
                cycle.join("\n  ")
            ));
        }
    }
    assert!(
        long.is_empty(),
        "{} cycles of files:\n{}",
        long.len(),
        long.join("\n")
    );
}

/// Returns the cycles of a package with these files in `src`.
fn cycles_of(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    for (file, source) in files {
        let file = folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, source).unwrap();
    }
    Package::read(folder.path()).cycles()
}

#[test]
fn a_cycle_is_found_through_imports_paths_macros_and_re_exports() {
    let cycles = cycles_of(&[
        // The macro of another package has the name of a module.
        (
            "lib.rs",
            "mod first; mod second; mod third; pub use macros::first; pub use second::Two;",
        ),
        ("first.rs", "use crate::Two; pub struct One(Two);"),
        (
            "second/mod.rs",
            "mod inner; pub use inner::*; pub fn helper() {}",
        ),
        (
            "second/inner.rs",
            "pub struct Two; fn three() { crate::third::run() }",
        ),
        (
            "third.rs",
            "pub fn run() { assert!(super::first::One::is_empty()) }",
        ),
    ]);
    let expected = [
        "first -> second::inner",
        "second::inner -> third",
        "third -> first",
    ];
    assert_eq!(cycles, [expected]);
}

#[test]
fn re_exports_tests_and_names_of_values_are_not_dependencies() {
    let cycles = cycles_of(&[
        (
            "lib.rs",
            "mod row; pub use row::Row; pub fn helper(row: u8) -> u8 { row }",
        ),
        (
            "row.rs",
            "pub struct Row; pub(super) fn run() { super::helper(1); } #[cfg(test)] use crate::column::Column;",
        ),
        (
            "column.rs",
            "use crate::row::Row; pub struct Column(Row); #[cfg(test)] mod tests { use super::*; }",
        ),
    ]);
    assert_eq!(cycles, [[""; 0]; 0]);
}
