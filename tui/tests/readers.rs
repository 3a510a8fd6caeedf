//! What other programs read: recordings by the Python package `mcap`, traces by Perfetto's schema, metrics
//! by Prometheus' client, tools by the Model Context Protocol's.
//!
//! `MESHSCOPE_READERS` names a folder with the packages of `.ci/python`; without it `target/python`
//! is taken if it exists.

use crate::common::stderr;
use crate::scratch::{Scratch, meshscope};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The lines that a script prints about a file; none without its packages.
pub(crate) fn lines(script: &str, file: &Path) -> Option<Vec<String>> {
    let named = std::env::var_os("MESHSCOPE_READERS").map(PathBuf::from);
    let packages = named.clone().unwrap_or_else(|| Path::new(ROOT).join("target/python"));
    if named.is_none() && !packages.exists() {
        println!("skipped: MESHSCOPE_READERS is not set, and there is no target/python");
        return None;
    }
    let script = Path::new(ROOT).join("tui/tests/readers").join(script);
    let mut command = Command::new("python3");
    command.arg("-B").arg(script).arg(file).env("PYTHONPATH", packages);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}: {}", file.display(), stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    if let Some(why) = text.strip_prefix("skipped: ") {
        assert!(named.is_none(), "MESHSCOPE_READERS: {why}");
        println!("skipped: {why}");
        return None;
    }
    Some(text.lines().map(ToOwned::to_owned).collect())
}

#[test]
fn mcap_reads_what_record_writes() {
    let scratch = Scratch::new("mcap");
    let file = scratch.path("run.mcap");
    let name = file.to_str().unwrap();
    let target = "emulator:n300,run=fabric,fault=link:0.9:down@5ms..6ms";
    let recorded = ["--target", target, "record", name, "--moments", "3"];
    let said = stderr(&meshscope(&recorded));
    assert!(said.contains(": 3 moments over "), "{said}");
    let Some(lines) = lines("recording.py", &file) else { return };
    assert_eq!(
        lines,
        [
            "/moments json meshscope.Moment 3",
            "/marks json meshscope.Mark 0",
            "/commands json meshscope.Command 0",
            "/audit json meshscope.AuditLine 0",
            "/status json meshscope.StatusMessage 6",
            "/chips/0 msgpack meshscope.Chip 3",
            "/chips/1 msgpack meshscope.Chip 3",
        ]
    );
}

#[test]
fn mcap_reads_the_library() {
    for file in std::fs::read_dir(Path::new(ROOT).join("recordings/library")).unwrap() {
        let Some(lines) = lines("recording.py", &file.unwrap().path()) else { return };
        let moments = lines.iter().filter(|line| line.starts_with("/moments "));
        assert_eq!(moments.count(), 1, "{lines:?}");
    }
}

#[test]
fn perfetto_reads_what_export_writes() {
    let scratch = Scratch::new("perfetto");
    for name in ["n300_router_stuck", "n300_ring_ping", "n300_chip_unreachable"] {
        let recording = format!("recordings/library/{name}.mcap");
        let file = scratch.path(name);
        let export = ["export", "--to", "perfetto", file.to_str().unwrap()];
        let output = meshscope(&[&["--target", &recording], &export[..]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let Some(lines) = lines("trace.py", &file) else { return };
        let counts: BTreeMap<&str, u64> = lines
            .iter()
            .map(|line| line.split_once(' ').unwrap())
            .map(|(what, count)| (what, count.parse().unwrap()))
            .collect();
        assert_eq!(counts["processes"], 2, "{name}");
        assert!(counts["threads"] > 1 && counts["slices"] >= counts["threads"], "{counts:?}");
        assert!(counts["counters"] >= 8 && counts["instants"] >= 2, "{counts:?}");
        assert_eq!(counts["flows"], 0);
    }
}

/// The packets of the links come from the run, which is executed again.
#[test]
fn perfetto_reads_the_flows_of_packets() {
    let scratch = Scratch::new("flows");
    let [recording, file] = ["ping.mcap", "ping.pftrace"].map(|name| scratch.path(name));
    let words = recording.to_str().unwrap();
    let recorded = meshscope(&["--target", "emulator:n300", "record", words, "--moments", "2"]);
    assert!(recorded.status.success(), "{}", stderr(&recorded));
    let to = ["export", "--to", "perfetto", file.to_str().unwrap(), "--packets"];
    let output = meshscope(&[&["--target", words], &to[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let Some(lines) = lines("trace.py", &file) else { return };
    let flows = lines.iter().find_map(|line| line.strip_prefix("flows ")).unwrap();
    assert!(flows.parse::<u64>().unwrap() > 100, "{lines:?}");
}

#[cfg(feature = "mcp")]
#[test]
fn verbs_that_read_are_tools_of_the_model_context_protocol() {
    let program = Path::new(env!("CARGO_BIN_EXE_meshscope"));
    let Some(lines) = lines("mcp_client.py", program) else { return };
    assert_eq!(
        lines,
        [
            "meshscope",
            "buffers changes check cores devices diff doctor explain fabric fabric-check fabric-path \
             fabric-status fabric-tables fabric-waits images links mesh operations print queues read \
             symbols-addr symbols-backtrace symbols-function symbols-line symbols-list symbols-type \
             symbols-value who-wrote why",
            "len place required: place",
            "links answers cycles gaps links no_peer_known schema target",
            "read answers addr bytes chip schema tile",
            "read says 'nowhere' is not a chip number",
            "read says there is no argument `allow`",
            "fabric says 'drain' is not a chip number",
            "fabric-waits answers cycles deadlocks over_cycles roots schema still target waits",
            "fabric-path says invalid value 'nowhere' for '<TO>': 'nowhere' is not a chip, such as 7, nor a \
             node, such as M0D3 (see --help)",
            "fabric-drain says there is no tool `fabric-drain`",
            "fabric-status says there is no argument `keep`",
            "symbols-type answers kind members name schema size",
            "diff answers from_cycles notes schema target tiles to_cycles",
            "diff says ssh://host: a call opens recordings and emulated meshes only",
            "diff says ttsim:library.so: a call opens recordings and emulated meshes only",
            "changes says emulator:n300,run=idle: it has no past: `meshscope record FILE` keeps its moments",
            "write says there is no tool `write`",
        ]
    );
}
