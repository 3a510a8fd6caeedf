//! The catalog of a directory is bounded and sorted, with a sentence on each problem.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::folder;

use folder::Folder;
use images::catalog::Limits;
use images::{Catalog, ImageRole};
use layouts::CoreKind;
use std::path::PathBuf;

fn read(folder: &Folder) -> Catalog {
    Catalog::read(&[folder.path().to_owned()]).unwrap()
}

fn listed(catalog: &Catalog) -> Vec<(&str, &str, ImageRole)> {
    let entry = |e: &'_ images::catalog::CatalogEntry| (e.core.name(), e.role);
    let names = catalog.entries.iter().map(|e| (e.name.as_str(), entry(e)));
    names.map(|(name, (core, role))| (name, core, role)).collect()
}

#[test]
fn tt_metals_places_tell_what_an_elf_is() {
    let folder = Folder::new("places");
    let elf = folder::image("tensix_brisc");
    for path in [
        "pre-compiled/12/brisc/brisc.elf",
        "pre-compiled/12/brisc/brisc_weakened.elf",
        "pre-compiled/12/idle_erisc/idle_erisc.elf",
        "pre-compiled/34/active_erisc/active_erisc.elf",
        "pre-compiled/34/brisc/brisc.elf",
        "cache/777/firmware/55/erisc/erisc.elf",
        "cache/777/kernels/reader/99/ncrisc/ncrisc.elf",
        "cache/777/kernels/reader/99/ncrisc/ncrisc.elf.xip.elf",
        "cache/777/kernels/reader/99/ncrisc/ncrisc.o",
    ] {
        folder.put(path, elf);
    }
    let catalog = read(&folder);
    let expected = [
        ("777/erisc", "erisc", ImageRole::Application),
        ("reader/ncrisc", "ncrisc", ImageRole::Kernel),
        ("12/brisc", "brisc", ImageRole::BaseFirmware),
        ("12/idle_erisc", "erisc", ImageRole::BaseFirmware),
    ];
    assert_eq!(listed(&catalog), expected, "another chip's build is left out");
    let keys: Vec<_> = catalog.entries.iter().map(|entry| entry.key.as_str()).collect();
    assert_eq!(keys, ["777", "99", "12", "12"]);
    let placed = catalog.entries[1].placed.as_ref().unwrap();
    assert!(placed.ends_with("ncrisc/ncrisc.elf.xip.elf"));
    assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
}

#[test]
fn plain_files_are_known_by_their_names() {
    let folder = Folder::new("plain");
    for image in firmware::images() {
        folder.put(&format!("{}.elf", image.name), image.elf);
    }
    folder.put("mine_trisc1.elf", folder::image("tensix_trisc1"));
    folder.put("README", b"no ELF");
    folder.put("x86.elf", &folder::image("tensix_brisc")[..18]);
    let catalog = read(&folder);
    for image in firmware::images() {
        let entry = catalog.entries.iter().find(|entry| entry.name == image.name).unwrap();
        assert_eq!(entry.core.name(), image.core);
    }
    let mine = catalog.entries.iter().filter(|entry| entry.name == "mine_trisc1");
    let mine: Vec<_> = mine.map(|entry| (entry.core, entry.role)).collect();
    let trisc1 = CoreKind::Trisc1;
    assert_eq!(mine, [(trisc1, ImageRole::BaseFirmware), (trisc1, ImageRole::Kernel)]);
    assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
    folder.put("whatever.elf", folder::image("tensix_brisc"));
    folder.put("whoever.elf", folder::image("tensix_brisc"));
    let problems = read(&folder).problems;
    assert_eq!(problems.len(), 1);
    assert!(problems[0].contains("whatever.elf and 1 more: "), "{problems:?}");
}

#[test]
fn a_walk_ends() {
    let folder = Folder::new("walk");
    folder.image("a/b/brisc/brisc.elf", "tensix_brisc");
    std::os::unix::fs::symlink(folder.path(), folder.path().join("a/b/up")).unwrap();
    std::os::unix::fs::symlink("/nowhere", folder.path().join("a/broken.elf")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("a/b"), folder.path().join("c")).unwrap();
    let catalog = read(&folder);
    assert_eq!(catalog.entries.len(), 1, "{:?}", catalog.entries);
    assert!(catalog.problems.is_empty(), "{:?}", catalog.problems);
    let within = |limits| Catalog::read_within(&[folder.path().to_owned()], limits).unwrap();
    let shallow = within(Limits { depth: 1, ..Limits::default() });
    assert!(shallow.entries.is_empty());
    assert!(shallow.problems[0].ends_with("a: more than 1 folders deep; not searched"));
    let few = within(Limits { entries: 2, ..Limits::default() });
    assert!(few.problems[0].ends_with("more than 2 files; the rest is not searched"));
}

#[test]
fn what_cannot_be_looked_into_is_an_error() {
    let error = Catalog::read(&[PathBuf::from("/nowhere/at/all")]).unwrap_err().to_string();
    assert_eq!(error, "/nowhere/at/all: No such file or directory (os error 2)");
    let folder = Folder::new("file");
    let file = folder.put("x.elf", b"");
    let error = Catalog::read(std::slice::from_ref(&file)).unwrap_err().to_string();
    assert_eq!(error, format!("{}: Not a directory (os error 20)", file.display()));
}
