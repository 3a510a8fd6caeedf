//! Proves that each crate uses what its manifest lists.

use crate::habits::sources;
use std::fs;
use std::path::Path;

/// Is a crate named in a source: in a path, as a name of its own, or in an attribute's string?
fn names(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let inside = |c: char| c.is_alphanumeric() || c == '_';
        let after = &text[at + name.len()..];
        !text[..at].ends_with(inside)
            && ["::", "\"", ";", " as "].iter().any(|next| after.starts_with(next))
    })
}

/// The folder of the crate that a source belongs to.
fn crate_of(source: &Path) -> &Path {
    source.ancestors().find(|up| up.join("Cargo.toml").exists()).unwrap()
}

/// Names of its dependencies as sources spell them.
fn listed(manifest: &toml::Table) -> impl Iterator<Item = String> {
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let tables = kinds.into_iter().filter_map(|kind| manifest.get(kind)?.as_table());
    tables.flat_map(|table| table.keys()).map(|name| name.replace('-', "_"))
}

#[test]
fn every_dependency_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let sources = sources();
    let homes: Vec<_> = sources.iter().map(|(path, _)| crate_of(path)).collect();
    let mut crates = homes.clone();
    crates.sort();
    crates.dedup();
    assert!(crates.len() > 15, "found only {} crates", crates.len());
    for home in crates {
        let manifest = fs::read_to_string(home.join("Cargo.toml")).unwrap();
        let own = || sources.iter().zip(&homes).filter(|(_, of)| **of == home);
        for name in listed(&manifest.parse().unwrap()) {
            let used = own().any(|((_, text), _)| names(text, &name));
            let home = home.strip_prefix(root).unwrap_or(home);
            assert!(used, "{} lists {name} and does not use it", home.display());
        }
    }
}
