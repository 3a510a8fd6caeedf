//! Samples: every one is read, and mutated it is read or refused in a sentence.

use descriptors::{Descriptor, read};
use fastrand::Rng;
use std::fs;
use std::path::{Path, PathBuf};

/// The descriptors below a folder.
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

fn texts(folder: &Path) -> Vec<(String, String)> {
    let mut paths = Vec::new();
    below(folder, &mut paths);
    paths.sort();
    let named = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|path| (named(path), fs::read_to_string(path).unwrap())).collect()
}

/// The samples of the wheel; none, said so, without it.
fn of_the_wheel() -> Vec<(String, String)> {
    let Some(wheel) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS") else {
        println!("skipped: MESHSCOPE_TT_METAL_ELFS is not set");
        return Vec::new();
    };
    texts(Path::new(&wheel))
}

#[test]
fn every_mesh_graph_of_the_wheel_is_read() {
    let mut wormhole = 0;
    let samples = of_the_wheel();
    for (name, text) in &samples {
        match read(name, text) {
            Ok(Descriptor::Mesh(mesh)) => {
                assert!(mesh.counted && !mesh.chips.is_empty(), "{name}");
                wormhole += 1;
            }
            Ok(other) => assert!(matches!(other, Descriptor::Mesh(_)), "{name}: {other:?}"),
            Err(error) => {
                let sentence = error.to_string();
                let why = "is BLACKHOLE, and only WORMHOLE_B0 is supported";
                assert!(sentence.ends_with(why) && error.problems[0].line > 0, "{sentence}");
            }
        }
    }
    assert!(samples.is_empty() || wormhole == 15, "{wormhole} of {}", samples.len());
}

/// Changes a text in a few places: letters, numbers, lines that are lost, twice there or elsewhere.
fn mutated(text: &str, random: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..random.usize(1..4) {
        let at = random.usize(..lines.len());
        let other = random.usize(..lines.len());
        match random.u8(..6) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[other].clone()),
            2 => lines.swap(at, other),
            3 => lines[at] = lines[at].replace(char::is_numeric, "4294967297"),
            4 => lines[at].extend(random.choice(["{", "}", "<", "\"", " -1", "é", "x: 3 "])),
            _ => lines[at] = lines[at].chars().filter(|_| random.u8(..8) > 0).collect(),
        }
        if lines.is_empty() {
            lines.push(String::new());
        }
    }
    lines.join("\n")
}

#[test]
fn mutated_samples_are_read_or_refused_in_a_sentence() {
    let mut samples = texts(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data"));
    let global = include_str!("data/n300_gsd.yaml").to_owned();
    let ranks = include_str!("data/t3000_rank_bindings.yaml").to_owned();
    samples.extend([("gsd.yaml".to_owned(), global), ("ranks.yaml".to_owned(), ranks)]);
    samples.extend(of_the_wheel());
    let mut random = Rng::with_seed(43);
    let (mut fine, mut refused) = (0, 0);
    for (name, text) in &samples {
        for _ in 0..20 {
            match read(name, &mutated(text, &mut random)) {
                Ok(_) => fine += 1,
                Err(error) => {
                    refused += 1;
                    let sentence = error.to_string();
                    let one = sentence.lines().count() == 1 && sentence.len() < 500;
                    assert!(one && sentence.starts_with(name.as_str()), "{sentence}");
                }
            }
        }
    }
    println!("{fine} read, {refused} refused");
    assert!(fine > 0 && refused > samples.len());
}
