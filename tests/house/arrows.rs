//! Checks the arrows of the design: which crate may use which.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The folder of each crate, and the crates it may use. `tests` may use all and is omitted.
const ARROWS: &[(&str, &[&str])] = &[
    ("layouts", &[]),
    ("layouts/descriptors", &["layouts"]),
    ("symbols/files", &[]),
    ("symbols", &["files"]),
    ("firmware", &[]),
    ("probe/emulator", &[]),
    ("probe/machine", &["layouts"]),
    ("probe/transport", &["machine", "layouts", "files", "emulator"]),
    ("probe/access", &["machine", "layouts", "files"]),
    ("probe/images", &["machine", "layouts", "files", "firmware", "symbols"]),
    ("probe/decode", &["images", "machine", "layouts", "symbols"]),
    ("probe/diagnosis", &["decode", "images", "machine", "layouts"]),
    ("probe/launch", &["images", "machine", "layouts", "symbols"]),
    ("probe/gdb", &["launch", "machine", "layouts"]),
    ("probe/fabric", &["launch", "images", "machine", "layouts"]),
    ("probe/collectives", &["fabric", "launch", "images", "machine", "layouts", "symbols"]),
    (
        "probe/workloads",
        &[
            "descriptors",
            "collectives",
            "fabric",
            "launch",
            "images",
            "access",
            "transport",
            "machine",
            "emulator",
            "layouts",
            "files",
            "firmware",
            "symbols",
        ],
    ),
    ("recordings", &["machine", "layouts", "files"]),
    ("recordings/logs", &["machine", "layouts", "files"]),
    (
        "probe",
        &[
            "workloads",
            "recordings",
            "collectives",
            "fabric",
            "launch",
            "diagnosis",
            "decode",
            "images",
            "access",
            "transport",
            "machine",
            "layouts",
            "files",
        ],
    ),
    (
        "probe/studies",
        &[
            "probe",
            "workloads",
            "collectives",
            "fabric",
            "launch",
            "images",
            "access",
            "machine",
            "emulator",
            "layouts",
        ],
    ),
    (
        "probe/emulator/shared",
        &["probe", "workloads", "images", "access", "transport", "machine", "emulator", "layouts"],
    ),
    (
        "tui/console",
        &[
            "probe",
            "recordings",
            "workloads",
            "collectives",
            "fabric",
            "launch",
            "diagnosis",
            "decode",
            "images",
            "access",
            "transport",
            "machine",
            "layouts",
            "files",
            "symbols",
        ],
    ),
    (
        "tui/cli",
        &[
            "console",
            "probe",
            "recordings",
            "logs",
            "descriptors",
            "workloads",
            "collectives",
            "fabric",
            "gdb",
            "launch",
            "diagnosis",
            "decode",
            "images",
            "access",
            "transport",
            "machine",
            "layouts",
            "files",
            "symbols",
        ],
    ),
    (
        "tui",
        &[
            "console",
            "cli",
            "probe",
            "collectives",
            "fabric",
            "launch",
            "diagnosis",
            "decode",
            "images",
            "transport",
            "machine",
            "layouts",
            "files",
            "symbols",
        ],
    ),
];

/// External crates that a crate must not use.
const FORBIDDEN: &[(&str, &[&str])] = &[
    ("layouts", &["gimli", "object", "addr2line", "libloading", "tokio", "ratatui"]),
    ("layouts/descriptors", &["gimli", "object", "addr2line", "libloading", "tokio", "ratatui"]),
    ("symbols", &["tokio", "ratatui", "crossterm"]),
    ("symbols/files", &["gimli", "object", "tokio", "ratatui", "crossterm"]),
    ("probe/emulator", &["gimli", "addr2line", "tokio", "ratatui"]),
    ("probe/machine", &["libloading", "gimli", "object", "tokio", "ratatui", "crossterm"]),
    ("probe/transport", &["gimli", "object", "addr2line", "tokio", "ratatui", "crossterm"]),
    ("probe/access", &["libloading", "gimli", "object", "tokio", "ratatui", "crossterm"]),
    ("probe/images", &["libloading", "gimli", "addr2line", "tokio", "ratatui", "crossterm"]),
    ("probe/decode", &["libloading", "gimli", "addr2line", "tokio", "ratatui", "crossterm"]),
    ("probe/diagnosis", &["libloading", "gimli", "object", "addr2line", "tokio", "ratatui"]),
    ("probe/gdb", &["libloading", "gimli", "object", "addr2line", "tokio", "ratatui"]),
    ("probe", &["gimli", "addr2line", "tokio", "ratatui", "crossterm"]),
    ("probe/studies", &["gimli", "addr2line", "clap", "tokio", "ratatui", "crossterm"]),
    ("probe/emulator/shared", &["gimli", "addr2line", "tokio", "ratatui", "crossterm"]),
    ("recordings", &["ratatui", "crossterm", "tokio"]),
    ("recordings/logs", &["ratatui", "crossterm", "clap"]),
    (
        "tui/console",
        &["gimli", "addr2line", "object", "libloading", "clap", "ratatui", "crossterm"],
    ),
    ("tui/cli", &["gimli", "addr2line", "object", "libloading", "ratatui"]),
    ("tui", &["gimli", "addr2line", "object", "libloading", "clap"]),
];

const TOP_LEVEL: &[&str] = &[
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "firmware",
    "layouts",
    "probe",
    "recordings",
    "symbols",
    "tests",
    "tui",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

fn dependencies(room: &str) -> BTreeSet<String> {
    let path = root().join(room).join("Cargo.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let manifest: toml::Table = text.parse().unwrap();
    let mut names = BTreeSet::new();
    collect(&manifest, &mut names);
    names
}

/// Collects the names of dependencies, including build dependencies and those of single targets;
/// tests may use more.
fn collect(table: &toml::Table, names: &mut BTreeSet<String>) {
    for (key, value) in table {
        match (key.as_str(), value.as_table()) {
            ("dependencies" | "build-dependencies", Some(listed)) => {
                names.extend(listed.keys().cloned());
            }
            (_, Some(inner)) => collect(inner, names),
            _ => {}
        }
    }
}

#[test]
fn rooms_use_only_what_the_arrows_allow() {
    let rooms: BTreeSet<&str> = [
        "layouts",
        "descriptors",
        "symbols",
        "files",
        "firmware",
        "emulator",
        "machine",
        "transport",
        "access",
        "images",
        "decode",
        "diagnosis",
        "launch",
        "gdb",
        "fabric",
        "collectives",
        "workloads",
        "studies",
        "probe",
        "recordings",
        "logs",
        "shared",
        "console",
        "cli",
        "tui",
        "tests",
    ]
    .into();
    for (room, allowed) in ARROWS {
        for dependency in dependencies(room) {
            if rooms.contains(dependency.as_str()) {
                assert!(allowed.contains(&dependency.as_str()), "{room} must not use {dependency}");
            }
        }
    }
}

#[test]
fn rooms_have_never_heard_of_what_is_not_theirs() {
    for (room, forbidden) in FORBIDDEN {
        let dependencies = dependencies(room);
        for crate_name in *forbidden {
            assert!(!dependencies.contains(*crate_name), "{room} must not use {crate_name}");
        }
    }
}

#[test]
fn the_top_level_is_the_fixed_one() {
    for entry in fs::read_dir(root()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let known = TOP_LEVEL.contains(&name.as_str()) || name.starts_with('.') || name == "target";
        assert!(known, "{name} does not belong at the top level");
    }
}
