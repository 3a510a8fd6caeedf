//! Coding rules, as tests instead of review comments.

use std::fs;
use std::path::{Path, PathBuf};

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

pub(crate) fn sources() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    rust_files(root, &mut found);
    assert!(found.len() > 20, "found only {} source files", found.len());
    found.into_iter().map(|p| (p.clone(), fs::read_to_string(p).unwrap())).collect()
}

#[test]
fn every_file_says_what_it_is_for() {
    for (path, text) in sources() {
        assert!(text.starts_with("//! "), "{} does not open with a `//!` sentence", path.display());
    }
}

#[test]
fn no_type_is_named_frame() {
    for (path, text) in sources() {
        for kind in ["struct", "enum", "type", "trait"] {
            for end in [" ", "<", ";", "("] {
                let declaration = format!("{kind} Frame{end}");
                assert!(
                    !text.contains(&declaration) || path.ends_with("habits.rs"),
                    "{}: {declaration}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn nothing_asks_whether_it_is_a_simulator() {
    for (path, text) in sources() {
        for kind in ["simulator", "emulator", "ttsim", "silicon"] {
            assert!(
                !text.contains(&format!("is_{kind}(")) || path.ends_with("habits.rs"),
                "{}: is_{kind}; what a target can do is data",
                path.display()
            );
        }
    }
}

/// Sources that allow unsafe code in themselves or in their modules, as in README's invariant 2;
/// tests and benches may too.
const UNSAFE: [&str; 5] = [
    "probe/emulator/shared/src/lib.rs",
    "probe/transport/src/silicon.rs",
    "probe/transport/src/ttsim.rs",
    "probe/transport/src/umd.rs",
    "symbols/src/mapping.rs",
];

#[test]
fn only_known_modules_may_be_unsafe() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = Vec::new();
    for (path, text) in sources() {
        let path = path.strip_prefix(root).unwrap();
        let besides = path.iter().any(|part| part == "tests" || part == "benches");
        if !besides && text.contains("allow(unsafe_code") {
            found.push(path.to_str().unwrap().to_owned());
        }
    }
    found.sort();
    assert_eq!(found, UNSAFE);
}

/// The sources that open a file to write it: no link is followed, and nothing is overwritten. A
/// device is opened elsewhere, and mutexes in shared memory.
const WRITERS: [&str; 3] = [
    "probe/emulator/shared/src/umd_mutex.rs",
    "probe/transport/src/silicon/os.rs",
    "symbols/files/src/lib.rs",
];

#[test]
fn files_are_written_in_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let opens = ["File::create", "fs::write(", "fs::copy(", "File::options(", "OpenOptions::new()"];
    let mut found = Vec::new();
    for (path, text) in sources() {
        let path = path.strip_prefix(root).unwrap();
        let besides = ["tests", "benches", "tests.rs"];
        let product = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        if !path.iter().any(|part| besides.iter().any(|it| part == *it))
            && opens.iter().any(|open| product.contains(open))
        {
            found.push(path.to_str().unwrap().to_owned());
        }
    }
    found.sort();
    assert_eq!(found, WRITERS);
}
