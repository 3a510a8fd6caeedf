//! Checks that no modules of a crate use each other in a cycle, at any level of its module tree.
//!
//! Module A uses its sibling B if a path in A's file, or in a module below A, names B or an item of
//! it: by `crate::`, `super::` or an import, or through a re-export of another module. A parent may
//! use its children, and a child the items of the parent's own file. Test code does not count.

mod cycle;
mod paths;
mod source;
mod tree;

use cycle::cycles;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tree::Tree;

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Returns the folders of the workspace's crates, as listed in its manifest.
fn members() -> Vec<String> {
    let manifest = fs::read_to_string(workspace().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    let members = manifest["workspace"]["members"].as_array().unwrap();
    members.iter().map(|member| member.as_str().unwrap().to_owned()).collect()
}

/// Returns the root files of a crate's module trees, relative to the workspace.
fn roots(member: &str) -> Vec<PathBuf> {
    let src = Path::new(member).join("src");
    let mut found = vec![src.join("lib.rs"), src.join("main.rs")];
    if let Ok(programs) = fs::read_dir(workspace().join(&src).join("bin")) {
        found.extend(programs.map(|entry| src.join("bin").join(entry.unwrap().file_name())));
    }
    found.retain(|path| path.extension().is_some_and(|e| e == "rs"));
    found.retain(|path| workspace().join(path).exists());
    assert!(!found.is_empty(), "{member} has neither src/lib.rs nor a program");
    found
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(workspace().join(path)).ok()
}

/// Returns the text of every cycle of a crate.
fn cycles_of(root: &Path, read: &dyn Fn(&Path) -> Option<String>) -> Vec<String> {
    let mut found = Vec::new();
    for (level, graph) in Tree::read(root, read).graphs() {
        let level = [vec!["crate".to_owned()], level].concat().join("::");
        let head = format!("{}, modules of {level}", root.display());
        found.extend(cycles(&graph).into_iter().map(|cycle| format!("{head}\n{cycle}")));
    }
    found
}

#[test]
fn no_modules_use_each_other_in_a_circle() {
    let members = members();
    let roots = members.iter().flat_map(|member| roots(member));
    let found: Vec<String> = roots.flat_map(|root| cycles_of(&root, &read)).collect();
    assert!(found.is_empty(), "{} cycles of modules\n\n{}", found.len(), found.join("\n"));
}

/// Returns the cycles of a crate of simulated files.
fn cycles_in(files: &[(&str, &str)]) -> Vec<String> {
    let files: BTreeMap<&Path, &str> = files.iter().map(|(p, t)| (Path::new(*p), *t)).collect();
    cycles_of(Path::new("src/lib.rs"), &|path| files.get(path).map(|text| (*text).to_owned()))
}

#[test]
fn a_circle_is_found_and_spelled_out() {
    let found = cycles_in(&[
        ("src/lib.rs", "mod a; mod b; mod c;"),
        ("src/a.rs", "use crate::b::Thing;"),
        ("src/b.rs", "mod inner;\npub struct Thing;"),
        ("src/b/inner.rs", "\nfn f() { super::super::c::g(); }"),
        ("src/c.rs", "pub fn g() { println!(\"{}\", crate::a::N); }"),
    ]);
    let expected = "src/lib.rs, modules of crate\n\
        a, b, c\n  \
        a uses b: src/a.rs:1\n  \
        b uses c: src/b/inner.rs:2\n  \
        c uses a: src/c.rs:1\n";
    assert_eq!(found, [expected]);
}

#[test]
fn a_re_export_of_the_parent_stands_for_its_module() {
    let found = cycles_in(&[
        ("src/lib.rs", "pub mod top;"),
        ("src/top/mod.rs", "mod a; mod b; pub use a::A; use b::*;"),
        ("src/top/a.rs", "pub struct A(super::B);"),
        ("src/top/b.rs", "use super::A as Other; pub struct B; fn f(_: Other) {}"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("src/lib.rs, modules of crate::top\na, b\n"), "{found:?}");
}

#[test]
fn a_function_and_a_module_of_one_name_are_two_things() {
    let found = cycles_in(&[
        ("src/lib.rs", "mod run; mod program; mod below; pub use program::run;"),
        ("src/run.rs", "pub struct Order;"),
        ("src/program.rs", "use crate::below; pub fn run() { below::f() }"),
        ("src/below.rs", "use crate::run::Order; pub fn f(_: Order) {}"),
    ]);
    assert!(found.is_empty(), "{found:?}");
    let found = cycles_in(&[
        ("src/lib.rs", "mod program; mod below; mod run; pub use program::run;"),
        ("src/run.rs", ""),
        ("src/program.rs", "use crate::below; pub fn run() { below::f() }"),
        ("src/below.rs", "use crate::run; pub fn f() { run() }"),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn tests_parents_and_other_crates_make_no_circle() {
    let found = cycles_in(&[
        ("src/lib.rs", "mod a; mod b; pub struct Own; fn f() { a::f(); b::f() }"),
        ("src/a.rs", "use crate::Own; pub fn f() { crate::b::f() }"),
        ("src/b.rs", "use std::b::a; pub fn f() {} #[cfg(test)] mod tests { use crate::a; }"),
    ]);
    assert!(found.is_empty(), "{found:?}");
}
