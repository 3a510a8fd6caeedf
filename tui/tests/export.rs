//! `export` and `bundle`: what they write, and what they refuse.

#[path = "../cli/src/verbs/export/proto.rs"]
mod proto;

use crate::common::stderr;
use crate::scratch::{Scratch, meshscope};
use machine::history::History as _;
use prost::Message;
use proto::{EventType, Trace, TrackDescriptor};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::Path;

const STUCK: &str = "recordings/library/n300_router_stuck.mcap";
const PING: &str = "recordings/library/n300_ring_ping.mcap";

/// Runs a verb on a target; returns its exit code and standard error.
fn run(target: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = meshscope(&[&["--target", target], arguments].concat());
    (output.status.code(), stderr(&output))
}

/// The name of a track, after those of its parents.
fn title(track: &TrackDescriptor, titles: &BTreeMap<u64, String>) -> String {
    let process = track.process.as_ref().and_then(|it| it.process_name.clone());
    let thread = track.thread.as_ref().and_then(|it| it.thread_name.clone());
    let own = process.or(thread).or(track.name.clone()).unwrap();
    let unit = track.counter.as_ref().and_then(|it| it.unit_name.clone());
    let own = unit.map_or(own.clone(), |unit| format!("{own} in {unit}"));
    match track.parent_uuid {
        Some(parent) => format!("{} / {own}", titles[&parent]),
        None => own,
    }
}

/// A line for each event of a trace.
fn lines(bytes: &[u8]) -> Vec<String> {
    let mut titles = BTreeMap::new();
    let mut lines = Vec::new();
    for packet in Trace::decode(bytes).unwrap().packet {
        if let Some(track) = packet.track_descriptor {
            titles.insert(track.uuid.unwrap(), title(&track, &titles));
        }
        let Some(event) = packet.track_event else { continue };
        let what = match event.r#type() {
            EventType::SliceBegin => "begins",
            EventType::SliceEnd => "ends",
            EventType::Instant => "is",
            EventType::Counter => "=",
            EventType::Unspecified => panic!("{event:?}"),
        };
        let name = event.name.or(event.counter_value.map(|it| it.to_string()));
        let mut line =
            format!("{} {} {what}", packet.timestamp.unwrap(), titles[&event.track_uuid.unwrap()]);
        line += &name.map_or_else(String::new, |name| format!(" {name}"));
        let values =
            event.debug_annotations.into_iter().filter_map(|it| it.name.zip(it.string_value));
        line.extend(values.map(|(name, value)| format!("\n    {name}: {value}")));
        lines.push(line);
    }
    lines
}

/// The cores that run a router.
const ROUTERS: [&str; 2] = ["0:1-6:erisc", "1:1-0:erisc"];

/// The lines of what runs, and of the whole recording.
fn shortened(lines: &[String]) -> String {
    let of_core =
        |line: &&String| ["isc ", "isc0 ", "isc1 ", "isc2 "].iter().any(|it| line.contains(it));
    let runs = |line: &&String| ROUTERS.iter().any(|core| line.contains(core));
    let shown = lines.iter().filter(|line| !of_core(line) || runs(line));
    shown.map(|line| line.clone() + "\n").collect()
}

#[test]
fn a_trace_has_what_the_moments_show() {
    let scratch = Scratch::new("trace");
    let file = scratch.path("stuck.pftrace");
    let (code, said) = run(STUCK, &["export", "--to", "perfetto", file.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(": 4 moments; open it at ui.perfetto.dev"), "{said}");
    let found = shortened(&lines(&fs::read(&file).unwrap()));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/export_stuck.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&golden, &found).unwrap();
    }
    let kept = fs::read_to_string(&golden).unwrap_or_default();
    assert!(kept == found, "{} differs; BLESS=1 writes\n{found}", golden.display());
}

#[test]
fn a_trace_has_the_marks() {
    let scratch = Scratch::new("marks");
    let (recording, file) = (scratch.path("run.mcap"), scratch.path("run.pftrace"));
    crate::recording::write_marked(&recording, "it stands since lunch");
    let export = ["export", "--to", "perfetto", file.to_str().unwrap()];
    let (code, said) = run(recording.to_str().unwrap(), &export);
    assert_eq!(code, Some(0), "{said}");
    let lines = lines(&fs::read(&file).unwrap());
    let mark = "2000000 marks is it stands since lunch\n    condition: core-stuck".to_owned();
    assert!(lines.contains(&mark), "{lines:?}");
}

#[test]
fn a_live_target_has_no_trace() {
    let scratch = Scratch::new("no-trace");
    let file = scratch.path("live.pftrace");
    let target = "emulator:n150,run=idle";
    let (code, said) = run(target, &["export", "--to", "perfetto", file.to_str().unwrap()]);
    assert_eq!((code, said.lines().count()), (Some(2), 1), "{said}");
    assert!(said.contains("has no past: record it first"), "{said}");
    assert!(scratch.names().is_empty());
}

#[test]
fn a_picture_is_svg_with_the_words_and_colours_of_the_screen() {
    let scratch = Scratch::new("svg");
    for (screen, words) in [
        ("mesh", "1 Mesh"),
        ("chip", "2 Chip 0"),
        ("core", "images"),
        ("gaps", "gaps"),
        ("fabric", "READY_FOR_TRAFFIC"),
        ("why", "its loop has not turned"),
    ] {
        let file = scratch.path(screen);
        let export = ["export", "--to", "svg", "--screen", screen, "--size", "100x30"];
        let (code, said) = run(STUCK, &[&export[..], &[file.to_str().unwrap()]].concat());
        assert_eq!(code, Some(0), "{said}");
        let svg = fs::read_to_string(&file).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        assert_eq!(document.root_element().attribute("viewBox"), Some("0 0 900 540"));
        let text: String = document.descendants().filter_map(|node| node.text()).collect();
        assert!(text.contains(words) && text.contains("hang: core-stuck"), "{screen}: {text}");
        assert!(svg.contains("fill=\"#e5342f\""), "{screen} has no red");
    }
}

#[test]
fn a_picture_shows_the_place_and_colours_that_are_wanted() {
    let scratch = Scratch::new("place");
    let file = scratch.path("core.svg");
    let export =
        ["export", "--to", "svg", "--screen", "core", "--place", "1:e1", "--color", "never"];
    let (code, said) = run(STUCK, &[&export[..], &[file.to_str().unwrap()]].concat());
    assert_eq!(code, Some(0), "{said}");
    let svg = fs::read_to_string(&file).unwrap();
    assert!(svg.contains("1:1-0:erisc") && !svg.contains("#ff6b6b"), "{svg}");
}

/// The pictures of tui/doc/pictures.md: recording of the library, screen, place.
const PICTURES: [(&str, &str, &str); 4] = [
    ("without_dateline", "mesh", "0"),
    ("mux_starvation", "why", "0"),
    ("without_dateline", "fabric", "0"),
    ("n300_router_stuck", "core", "1:e1"),
];
/// Largest picture, in bytes.
const LARGEST: usize = 60 << 10;

#[test]
fn the_page_of_pictures_shows_what_is_drawn() {
    let scratch = Scratch::new("page");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("doc");
    let page = fs::read_to_string(folder.join("pictures.md")).unwrap();
    for (recording, screen, place) in PICTURES {
        let name = format!("{screen}.svg");
        let file = scratch.path(&name);
        let export = ["export", "--to", "svg", "--color", "always", "--screen", screen, "--place"];
        let target = format!("recordings/library/{recording}.mcap");
        let (code, said) = run(&target, &[&export[..], &[place, file.to_str().unwrap()]].concat());
        assert_eq!(code, Some(0), "{said}");
        let drawn = fs::read_to_string(&file).unwrap();
        let golden = folder.join(&name);
        if std::env::var_os("BLESS").is_some() {
            fs::write(&golden, &drawn).unwrap();
        }
        let kept = fs::read_to_string(&golden).unwrap_or_default();
        assert!(kept == drawn, "{} differs; BLESS=1 draws it", golden.display());
        assert!(kept.len() <= LARGEST, "{name} has {} bytes", kept.len());
        assert!(page.contains(&format!("]({name})")) && page.contains(&target), "{name}");
    }
}

#[test]
fn what_cannot_be_exported_is_one_sentence() {
    let scratch = Scratch::new("refused");
    let file = scratch.path("x");
    let file = file.to_str().unwrap();
    for (arguments, why) in [
        (&["export", "--to", "svg", "--size", "3x3", file][..], "--size 3x3"),
        (&["export", "--to", "svg", "--place", "9:e1", file], "there is no chip 9"),
        (&["export", "--to", "perfetto", "--screen", "mesh", file], "--screen is for --to svg"),
        (&["bundle", "--moments", "1", file], "--moments 1"),
    ] {
        let (code, said) = run(STUCK, arguments);
        assert_eq!((code, said.lines().count()), (Some(2), 1), "{arguments:?}: {said}");
        assert!(said.contains(why), "{said}");
    }
    assert!(scratch.names().is_empty());
    let kept = scratch.path("kept");
    fs::write(&kept, "kept").unwrap();
    let kept_name = kept.to_str().unwrap();
    for arguments in [&["export", "--to", "svg", kept_name][..], &["bundle", kept_name]] {
        let (code, said) = run(STUCK, arguments);
        assert!(code == Some(2) && said.contains("exists already"), "{said}");
    }
    assert_eq!(fs::read_to_string(&kept).unwrap(), "kept");
}

/// The files of an archive, by name.
fn unpacked(file: &Path) -> BTreeMap<String, Vec<u8>> {
    let packed = flate2::read::GzDecoder::new(fs::File::open(file).unwrap());
    let mut archive = tar::Archive::new(packed);
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let (name, mut bytes) = (entry.path().unwrap().display().to_string(), Vec::new());
        entry.read_to_end(&mut bytes).unwrap();
        (name, bytes)
    });
    entries.collect()
}

const FILES: [&str; 14] = [
    "README.txt",
    "pictures/chip.svg",
    "pictures/chip.txt",
    "pictures/core.svg",
    "pictures/core.txt",
    "pictures/fabric.svg",
    "pictures/fabric.txt",
    "pictures/mesh.svg",
    "pictures/mesh.txt",
    "pictures/why.svg",
    "pictures/why.txt",
    "versions.txt",
    "why.json",
    "why.txt",
];

#[test]
fn a_bundle_of_a_recording_has_the_recording_itself() {
    let scratch = Scratch::new("bundle");
    let file = scratch.path("hang.tar.gz");
    let with = ["--with", "users,paths,writes,run"];
    let (code, said) = run(STUCK, &[&["bundle", file.to_str().unwrap()], &with[..]].concat());
    assert_eq!(code, Some(0), "{said}");
    let mut files = unpacked(&file);
    let recording = files.remove("hang/n300_router_stuck.mcap").unwrap();
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(STUCK);
    assert!(recording == fs::read(original).unwrap());
    let names: Vec<_> = files.keys().map(|name| name.strip_prefix("hang/").unwrap()).collect();
    assert_eq!(names, FILES);
    let text = |name: &str| String::from_utf8(files[&format!("hang/{name}")].clone()).unwrap();
    assert!(text("why.txt").contains("1. core-stuck (hang, likely)"), "{}", text("why.txt"));
    let verdict: serde_json::Value = serde_json::from_str(&text("why.json")).unwrap();
    assert_eq!((&verdict["schema"], &verdict["target"]), (&1.into(), &STUCK.into()));
    assert!(text("pictures/core.txt").contains("1:1-0:erisc"), "the core of the cause");
    let versions = text("versions.txt");
    assert!(versions.contains("kernel fabric_router_line: build id "), "{versions}");
    assert!(versions.contains(concat!("meshscope      ", env!("CARGO_PKG_VERSION"))));
    let readme = text("README.txt");
    assert!(readme.contains("Left out:\nnothing\n"), "{readme}");
}

#[test]
fn a_bundle_of_a_live_target_records_it() {
    let scratch = Scratch::new("live-bundle");
    let file = scratch.path("idle.tar.gz");
    let (code, said) = run("emulator:n150,run=idle", &["bundle", file.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(scratch.names(), ["idle.tar.gz"]);
    let files = unpacked(&file);
    assert_eq!(files.len(), FILES.len() + 1);
    let recording = scratch.path("run.mcap");
    fs::write(&recording, &files["idle/run.mcap"]).unwrap();
    let (code, said) = run(recording.to_str().unwrap(), &["mesh"]);
    assert_eq!(code, Some(0), "{said}");
    let verdict = String::from_utf8(files["idle/why.json"].clone()).unwrap();
    assert!(verdict.contains("\"target\":\"emulator:n150,run=idle\""), "{verdict}");
    let picture = String::from_utf8(files["idle/pictures/mesh.txt"].clone()).unwrap();
    assert!(picture.starts_with("meshscope emulator:n150,run=idle "), "{picture}");
}

/// Who recorded, where files are and what was written is nobody's business by default.
#[test]
fn a_bundle_lacks_what_is_private() {
    let scratch = Scratch::new("private-bundle");
    let log = scratch.path("audit.jsonl");
    let recording = scratch.path("run.mcap");
    let recording = recording.to_str().unwrap();
    let run_of =
        ["--target", "emulator:n300", "run", "all-gather", "-b", "4K", "--record", recording];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(run_of).env("USER", "alice-of-hosts").env("MESHSCOPE_AUDIT_LOG", &log);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let (private, whole) = (scratch.path("a.tar.gz"), scratch.path("b.tar.gz"));
    let (code, said) = run(recording, &["bundle", private.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{said}");
    let all = ["bundle", "--with", "users,paths,writes,run", whole.to_str().unwrap()];
    let (code, said) = run(recording, &all);
    assert_eq!(code, Some(0), "{said}");
    let folder = scratch.path("").display().to_string();
    let (private, whole) = (unpacked(&private), unpacked(&whole));
    let readme = |files: &BTreeMap<String, Vec<u8>>, folder: &str| {
        String::from_utf8(files[&format!("{folder}/README.txt")].clone()).unwrap()
    };
    let said = readme(&private, "a");
    for option in ["users", "paths", "writes", "run"] {
        assert!(said.contains(&format!("(--with {option})")), "{option}: {said}");
    }
    assert!(!readme(&whole, "b").contains("--with"), "{}", readme(&whole, "b"));
    assert_eq!(whole["b/run.mcap"], fs::read(recording).unwrap());
    for (name, bytes) in private.iter().filter(|(name, _)| *name != "a/run.mcap") {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains(&folder), "{name}: {text}");
    }
    let copy = scratch.path("copy.mcap");
    fs::write(&copy, &private["a/run.mcap"]).unwrap();
    let notes = recordings::Replay::open(&copy).unwrap().notes();
    let text = format!("{notes:?}");
    assert!(text.contains("Write") && !text.contains("alice-of-hosts"), "{text}");
    let writes = |files: &str| files.matches("new: \"\"").count();
    assert_eq!(writes(&text), text.matches("Write {").count());
}

#[test]
fn tables_are_csv() {
    let output = meshscope(&["--target", PING, "links", "--csv"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let table = ",STATE,END,TILE,WAYPOINT,IN FLIGHT,SENT,RETRAINS,CRC ERRORS\r\n\
                 U,up,0:e8,9-6,DWLW,0B,2927,0,0\r\n\
                 ,,1:e0,9-0,PAYW,0B,3065,0,0\r\n\
                 U,up,0:e9,1-6,PAYW,0B,957,0,0\r\n\
                 ,,1:e1,1-0,HOVW,0B,1799,0,0\r\n";
    assert!(text.starts_with(table), "{text}");
    let output = meshscope(&["--target", PING, "mesh", "--csv"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let (chips, links) = text.split_once("\r\n\r\n").unwrap();
    assert!(chips.starts_with("CHIP,\"X,Y\",RACK,") && links.starts_with(",STATE,A,B,"), "{text}");
}

/// As many cells in each row, and as many rows as lines of the table.
#[test]
fn csv_has_the_rows_of_the_table() {
    for (target, verb, around) in [
        (PING, &["cores", "0"][..], 0),
        (PING, &["images", "0:9-6"], 0),
        (STUCK, &["check"], 0),
        (STUCK, &["fabric", "status"], 0),
        (PING, &["links", "--dry-run"], 1),
    ] {
        let arguments = [&["--target", target], verb].concat();
        let lines = String::from_utf8(meshscope(&arguments).stdout).unwrap().lines().count();
        let csv = meshscope(&[&arguments[..], &["--csv"]].concat()).stdout;
        let mut rows = 0;
        for table in String::from_utf8(csv).unwrap().split("\r\n\r\n") {
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).from_reader(table.as_bytes());
            rows += reader.records().map(Result::unwrap).count();
        }
        assert_eq!(rows + around, lines, "{verb:?}");
    }
}

#[test]
fn what_prints_no_table_has_no_csv() {
    for (verb, name) in [
        (&["why"][..], "why"),
        (&["read", "0:e8:0x1104"], "read"),
        (&["cores", "--words"], "cores --words"),
        (&["mesh", "--descriptor"], "mesh --descriptor"),
        (&["schema"], "schema"),
    ] {
        let output = meshscope(&[&["--target", PING, "--csv"], verb].concat());
        let said = stderr(&output);
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{said}");
        assert_eq!(said, format!("meshscope: --csv: {name} prints no table\n"));
    }
    let both = meshscope(&["--target", PING, "--csv", "--json", "links"]);
    assert_eq!(both.status.code(), Some(2));
}
