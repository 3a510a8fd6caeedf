//! Every firmware ELF of the ttnn wheel: every name and every code address is looked up.

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Instant;

use symbols::Symbols;

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "elf") {
            found.push(path);
        }
    }
}

#[derive(Debug, Default)]
struct Counts {
    types: usize,
    variables: usize,
    unplaced: usize,
    enumerators: usize,
    functions: usize,
    addresses: usize,
    nameless: usize,
    deepest: usize,
}

/// Makes all lookups of one file; failures contain the file's name.
fn exhaust(path: &Path, counts: &mut Counts) {
    let (symbols, problems) = Symbols::open(path).unwrap();
    assert_eq!(problems, [], "{}", path.display());
    for name in symbols.type_names() {
        let ty = symbols.type_named(&name).unwrap_or_else(|| unreachable!("{name}"));
        assert!(!ty.layout_text().is_empty(), "{name}");
        counts.types += 1;
    }
    for name in symbols.variable_names() {
        let variable = symbols.variable(&name).unwrap_or_else(|| unreachable!("{name}"));
        counts.unplaced += usize::from(variable.address().is_none());
        counts.variables += 1;
    }
    for name in symbols.enumerator_names() {
        assert!(symbols.constant(&name).is_some(), "{}: {name}", path.display());
        counts.enumerators += 1;
    }
    let mut named = HashSet::new();
    for segment in symbols.segments().iter().filter(|segment| segment.executable) {
        for at in (segment.address..segment.address + segment.bytes.len() as u64).step_by(2) {
            let frames = symbols.frames_at(at);
            counts.addresses += 1;
            counts.deepest = counts.deepest.max(frames.len());
            match frames.last().and_then(|frame| frame.function.clone()) {
                Some(function) => drop(named.insert(function)),
                None => counts.nameless += 1,
            }
        }
    }
    counts.functions += named.len();
    assert_eq!(symbols.problems(), [], "{}", path.display());
}

#[test]
fn every_elf_of_the_wheel_is_read_whole() {
    let Some(root) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS") else {
        println!("skipped: MESHSCOPE_TT_METAL_ELFS is not set");
        return;
    };
    let mut paths = Vec::new();
    collect(&PathBuf::from(root).join("ttnn/tt_metal/pre-compiled"), &mut paths);
    paths.sort();
    let (start, mut counts, mut seen) = (Instant::now(), Counts::default(), HashSet::new());
    for path in &paths {
        // Builds for different boards share many identical files.
        let mut hasher = DefaultHasher::new();
        std::fs::read(path).unwrap().hash(&mut hasher);
        if seen.insert(hasher.finish()) {
            exhaust(path, &mut counts);
        }
    }
    println!(
        "{} ELFs, {} different, in {:.1?}: {counts:?}",
        paths.len(),
        seen.len(),
        start.elapsed()
    );
    assert!(counts.types > 0 && counts.functions > 0);
}
