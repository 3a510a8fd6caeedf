//! A crate's module tree, and the resolution of paths in it.

use super::cycle::Graph;
use super::source::Module;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use syn::Item;

/// The most steps of one path: a re-export may name itself.
const MOST_STEPS: usize = 32;

/// A module as its names from the crate's root.
type Address = Vec<String>;

/// All modules of a crate, each with its file.
pub(super) struct Tree {
    modules: BTreeMap<Address, (PathBuf, Module)>,
}

impl Tree {
    /// Reads a crate from its root file; `read` returns the text of a file, if it exists.
    pub(super) fn read(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Self {
        let mut tree = Self { modules: BTreeMap::new() };
        let items = parsed(root, read).unwrap_or_else(|| panic!("no {}", root.display()));
        tree.add(Vec::new(), root, root.parent().unwrap(), &items, read);
        tree
    }

    /// Adds a module and all modules below it, whose files are in `folder`.
    fn add(
        &mut self,
        address: Address,
        file: &Path,
        folder: &Path,
        items: &[Item],
        read: &dyn Fn(&Path) -> Option<String>,
    ) {
        let (module, declared) = Module::read(items);
        for child in declared {
            let name = child.ident.to_string();
            let below = folder.join(&name);
            let address = address.iter().cloned().chain([name]).collect();
            if let Some((_, items)) = &child.content {
                self.add(address, file, &below, items, read);
            } else {
                let (file, items) = file_of(&below, read);
                self.add(address, &file, &below, &items, read);
            }
        }
        self.modules.insert(address, (file.to_owned(), module));
    }

    /// Returns, for each module with children, which of these use which.
    pub(super) fn graphs(&self) -> BTreeMap<Address, Graph> {
        let mut graphs: BTreeMap<Address, Graph> = BTreeMap::new();
        for (at, (file, module)) in &self.modules {
            for mention in &module.mentions {
                let route = self.follow(at, &mention.path, mention.imports, MOST_STEPS);
                for (level, from, to) in route.through.iter().filter_map(|used| edge(at, used)) {
                    let uses = graphs.entry(level.to_vec()).or_default();
                    let places = uses.entry(from.to_owned()).or_default();
                    let places = places.entry(to.to_owned()).or_default();
                    places.insert((file.display().to_string(), mention.line));
                }
            }
        }
        graphs
    }

    /// Resolves a path in module `from`.
    fn follow(&self, from: &[String], path: &[String], imports: bool, steps: usize) -> Route {
        let (mut at, mut names) = match path.split_first() {
            Some((first, rest)) if first == "crate" => (&[][..], rest),
            Some((first, rest)) if first == "self" => (from, rest),
            _ => (from, path),
        };
        while let Some((_, rest)) = names.split_first().filter(|(first, _)| *first == "super") {
            (at, names) = (&at[..at.len().saturating_sub(1)], rest);
        }
        self.descend(at, names, imports, steps)
    }

    /// Resolves names from module `at`.
    fn descend(&self, at: &[String], names: &[String], imports: bool, steps: usize) -> Route {
        let here = |ends| Route { through: vec![at.to_vec()], ends };
        let Some((name, rest)) = names.split_first() else { return here(true) };
        let Some(steps) = steps.checked_sub(1) else { return here(false) };
        let module = &self.modules[at].1;
        let onward = if module.children.contains(name) && (imports || !rest.is_empty()) {
            let child: Address = at.iter().chain([name]).cloned().collect();
            self.descend(&child, rest, imports, steps)
        } else if module.items.contains(name) {
            return here(true);
        } else {
            match self.imported(at, name, rest, imports, steps) {
                Some(onward) => onward,
                None => return here(false),
            }
        };
        Route { through: [vec![at.to_vec()], onward.through].concat(), ends: onward.ends }
    }

    /// Resolves a name that an import brought into module `at`.
    fn imported(
        &self,
        at: &[String],
        name: &str,
        rest: &[String],
        imports: bool,
        steps: usize,
    ) -> Option<Route> {
        let all = &self.modules[at].1.imports;
        if let Some(import) = all.iter().find(|import| import.name.as_deref() == Some(name)) {
            let path = [&import.path, rest].concat();
            // It may name another crate.
            return Some(Route { ends: true, ..self.follow(at, &path, imports, steps) });
        }
        let globs = all.iter().filter(|import| import.name.is_none());
        let mut routes = globs.map(|import| {
            let path = [&import.path, &[name.to_owned()][..], rest].concat();
            self.follow(at, &path, imports, steps)
        });
        routes.find(|route| route.ends)
    }
}

/// The resolution of a path.
struct Route {
    /// The modules that it names or is re-exported by; the last one contains the item.
    through: Vec<Address>,
    /// Whether it ends at a known item; otherwise it names another crate or a macro's output.
    ends: bool,
}

/// Returns the file of a module, and its items.
fn file_of(below: &Path, read: &dyn Fn(&Path) -> Option<String>) -> (PathBuf, Vec<Item>) {
    let files = [below.with_extension("rs"), below.join("mod.rs")];
    let found = files.into_iter().find_map(|path| Some((path.clone(), parsed(&path, read)?)));
    found.unwrap_or_else(|| panic!("no file {}.rs", below.display()))
}

fn parsed(path: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Option<Vec<Item>> {
    let file = syn::parse_file(&read(path)?);
    Some(file.unwrap_or_else(|error| panic!("{}: {error}", path.display())).items)
}

/// Returns the level at which two modules diverge, and the siblings there; none if one contains the
/// other.
fn edge<'a>(from: &'a [String], to: &'a [String]) -> Option<(&'a [String], &'a str, &'a str)> {
    let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    Some((&from[..shared], from.get(shared)?, to.get(shared)?))
}
