//! `scan`: files of many hosts become rows of Parquet, and are asked; DuckDB answers the same.

use crate::common::stderr;
use crate::readers;
use crate::schemas::conforms;
use crate::scratch::{Scratch, meshscope};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;

const WATCHER: &str = "At 0.250s starting\nLegend:\n\tW=wait\n\nAt 0.300s attach device 0\n-----\n\
    Dump #1 at 0.300s\n\
    Device 0 worker core(x= 0,y= 0) virtual(x=18,y=18):   GW,   W,   W,   W,   W  rmsg:D0D|bnt h_id:  0\n\
    k_ids:  0|  0|  0|  0|  0\nk_id[  0]: blank\n-----\n\
    Dump #2 at 10.300s\n\
    Device 0 worker core(x= 0,y= 0) virtual(x=18,y=18):   GW,   W,   W,   W,   W  rmsg:D0D|bnt h_id:  0\n\
    Device 0 worker core(x= 1,y= 0) virtual(x=19,y=18): NCRISC using noc1 tried to unicast read 32 bytes\n";
const TRIAGE: &str = "\ncheck_l1_status.py:\n  pass\n\ncheck_core_magic.py:\n  fail\n    Device 4: functional_workers \
    [1-1 (0,0)]: brisc: core_magic_number mismatch! Expected 0x50EC09A3, found 0xDEADBEEF\n\ndevice_info.py:\n\
    Dev,Tray/Board,Chip,ARC FW\n4,Board 0x77,4,19.7.1\n";
const LOG: &str = "2026-11-03 17:48:52.491 | warning  |  Metal | A buffer is unavailable (b.cpp:2)\n\
    2026-11-03 17:48:55.434 | critical |  Always | TT_THROW: no\u{1b}[2J (d.cpp:4)\n";

/// As a terminal shows it.
const DRAWN: &str = "\x1b[34mdump_lightweight_asserts.py [0.10s]:\x1b[0m\r\n\
    ┏━━━━━┳━━━━━━━━━━━┳━━━━━━━━━━━━━━━━┓\r\n┃ Dev ┃ Loc       ┃ Assert         ┃\r\n\
    ┡━━━━━╇━━━━━━━━━━━╇━━━━━━━━━━━━━━━━┩\r\n│ 4   │ 1-1 (0,0) │ unp_A_ format  │\r\n\
    │     │           │ mismatch       │\r\n└─────┴───────────┴────────────────┘\r\n";

/// A scrape of metrics of a host.
fn metrics(retrains: u32, time: &str) -> String {
    format!(
        "# TYPE retrainCount gauge\nretrainCount{{hostname=\"h9\",tray=\"2\",chip=\"0\",channel=\"3\"}} \
         {retrains} {time}\n"
    )
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn links(cycles: u64, retrains: u32) -> String {
    format!(
        "{{\"schema\":1,\"cycles\":{cycles},\"links\":[{{\"a\":{{\"chip\":0,\"channel\":8}},\"b\":{{\"chip\":1,\
         \"channel\":0}},\"state\":\"up\",\"ends\":[{{\"chip\":0,\"channel\":8,\"retrain_count\":{retrains}}}]}}]}}\n"
    )
}

/// The files of two hosts, and of some harm.
fn write_files(scratch: &Scratch) -> std::path::PathBuf {
    let folder = scratch.path("files");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    write("h1/watcher.log", WATCHER.as_bytes());
    write("h1/triage.txt", TRIAGE.as_bytes());
    write("h1/run.log", (LOG.to_owned() + &"x".repeat(9 << 20) + "\n").as_bytes());
    let lines = links(0, 0) + &links(1_000_000_000, 2) + &links(2_000_000_000, 3) + "{\"cycles\":";
    write("h2\u{1b}[2J/links.json", lines.as_bytes());
    let scrapes = metrics(4, "1793491200000") + &metrics(6, "1793491260000");
    write("h3/scrapes.prom", scrapes.as_bytes());
    write("h3/triage.txt.gz", &gzip(DRAWN.as_bytes()));
    write("h3/bomb.log.gz", &gzip(&[LOG.as_bytes(), &vec![0; 64 << 20]].concat()));
    let packed = gzip(LOG.as_bytes());
    write("h3/cut.log.gz", &packed[..packed.len() - 12]);
    write("h2\u{1b}[2J/diary.txt", b"Dear diary\n");
    write("h2\u{1b}[2J/other.parquet", b"PAR1 and no more");
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../recordings/library");
    let recording = fs::read(library.join("n300_router_stuck.mcap")).unwrap();
    write("h1/cut.mcap", &recording[..recording.len() * 2 / 3]);
    write("h1/stuck.mcap.gz", &gzip(&recording));
    write(
        "h3/card.prom",
        b"# TYPE TDP gauge\nTDP{hostname=\"h9\",chip=\"0\"} 35.25 1793491200000\n",
    );
    std::os::unix::fs::symlink("..", folder.join("h1/loop")).unwrap();
    folder
}

fn answer(output: &Output, code: i32) -> Value {
    assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
    let answer = serde_json::from_slice(&output.stdout).unwrap();
    conforms(&["scan", "--json"], &answer);
    answer
}

#[test]
fn files_become_rows_that_are_asked_and_duckdb_answers_alike() {
    let scratch = Scratch::new("scan");
    let (files, logs) = (write_files(&scratch), scratch.path("logs"));
    let [files, logs] = [&files, &logs].map(|path| path.to_str().unwrap());
    let output = meshscope(&["scan", files, "--out", logs, "--json"]);
    let written = answer(&output, 4);
    assert!(written["written"]["rows"].as_u64().unwrap() > 100, "{written}");
    let said = written["left_out"].to_string();
    for part in [
        "loop: a link, which is not followed",
        "diary.txt: nothing that scan reads",
        "other.parquet: Parquet, which --ask and --sql read",
        "links.json: line 4: it is no JSON: EOF",
        "run.log: 1 lines were cut after 64 KiB",
        "cut.mcap: ",
        "bomb.log.gz: 1 lines were cut after 64 KiB",
        "cut.log.gz: incomplete deflate stream after line 1",
    ] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    assert!(!stderr(&output).contains('\u{1b}'));

    let sqls: [&[&str]; 7] = [
        &["--ask", "recurring"],
        &["--ask", "recurring", "--by", "board"],
        &["--ask", "retrains"],
        &["--ask", "first"],
        &["--ask", "changes"],
        &[
            "--sql",
            "select host, kind, count(*) as n from log group by host, kind order by host, kind",
        ],
        &["--ask", "retrains", "--by", "tray", "--day", "2026-11-01"],
    ];
    let mut answers = Vec::new();
    for (number, sql) in sqls.iter().enumerate() {
        let output = meshscope(&[&["scan", logs, "--json"], *sql].concat());
        answers.push(answer(&output, 0));
        fs::write(scratch.path(&format!("{number}.json")), &output.stdout).unwrap();
    }
    let [recurring, _, retrains, first, _, kinds, of_tray] = answers.try_into().unwrap();
    assert_eq!(of_tray["rows"], serde_json::json!([["2026-11-01", "h9", 2, 2]]));
    assert_eq!(retrains["rows"][0][2], 3, "{retrains}");
    assert_eq!(retrains["rows"][0][1], "h2__2J 0:e8-1:e0", "{retrains}");
    // The router of an end is stuck: of its cable.
    assert!(recurring.to_string().contains("\"h1 0:e9-1:e1\""), "{recurring}");
    let first = first.to_string();
    for part in [
        "noc-sanitize",
        "check_core_magic",
        "0xDEADBEEF",
        "core-stuck",
        "TT_THROW",
        "4, 1-1 (0,0), unp_A_ format mismatch",
    ] {
        assert!(first.contains(part), "no {part} in {first}");
    }
    assert!(kinds.to_string().contains("[\"h1\",\"watcher\","), "{kinds}");
    assert!(kinds.to_string().contains("[\"h9\",\"card\",1]"), "{kinds}");
    let Some(lines) = readers::lines("logs.py", &scratch.path("")) else { return };
    assert_eq!(lines.len(), sqls.len(), "{lines:?}");
}

/// tt_telemetry tells one end of a link, the descriptor both.
#[test]
fn places_tell_the_cables_of_metrics() {
    let scratch = Scratch::new("scan-places");
    let [logs, metrics] = ["logs", "metrics"].map(|name| scratch.path(name));
    fs::create_dir(&metrics).unwrap();
    let line = |chip: u8, channel: u8| {
        format!(
            "linkIsUp{{hostname=\"wh-07\",tray=\"1\",chip=\"{chip}\",channel=\"{channel}\"}} 1\n"
        )
    };
    let text = format!("# TYPE linkIsUp gauge\n{}{}{}", line(0, 8), line(1, 0), line(1, 14));
    fs::write(metrics.join("a.prom"), text).unwrap();
    let [logs, metrics] = [&logs, &metrics].map(|path| path.to_str().unwrap());
    let fsd = "layouts/descriptors/tests/data/n300_fsd.textproto";
    let scan = |places: &str| meshscope(&["--places", places, "scan", metrics, "--out", logs]);
    assert_eq!(scan("none.textproto").status.code(), Some(2));
    let written = scan(fsd);
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    let sql = "select channel, cable from log order by chip, channel";
    let found = answer(&meshscope(&["scan", logs, "--json", "--sql", sql]), 0);
    let cable = "wh-07 tray 1 trace - wh-07 tray 1 trace";
    assert_eq!(found["rows"], serde_json::json!([[8, cable], [0, cable], [14, null]]));
}

#[test]
fn what_is_wrong_is_said_in_a_sentence() {
    let scratch = Scratch::new("scan-wrong");
    let logs = scratch.path("logs");
    let logs = logs.to_str().unwrap();
    let none = scratch.path("none");
    let none = none.to_str().unwrap();
    let refused = |arguments: &[&str], part: &str| {
        let output = meshscope(&[&["scan"], arguments].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(part), "no `{part}` in {said}");
    };
    refused(&[none, "--out", logs], "none: No such file or directory");
    refused(
        &["recordings/library", "--out", "layouts"],
        "layouts: it is not empty, and nothing is overwritten",
    );
    refused(
        &["recordings/library", "--sql", "select 1"],
        "no file of `meshscope scan --out` is below",
    );
    fs::create_dir(scratch.path("one")).unwrap();
    fs::write(scratch.path("one/links.json"), links(0, 0)).unwrap();
    let one = scratch.path("one");
    let written = meshscope(&["scan", one.to_str().unwrap(), "--host", "a/../b", "--out", logs]);
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    assert!(scratch.names().iter().all(|name| ["logs", "one"].contains(&name.as_str())));
    for sql in [
        "create table x as select 1",
        "drop table log",
        "copy log to 'x.csv'",
        "insert into log select * from log",
        "create external table x stored as csv location '/etc/passwd'",
        "set datafusion.execution.batch_size = 1",
    ] {
        refused(&[logs, "--sql", sql], "SQL: ");
    }
    refused(&[logs, "--sql", "select * from '/etc/passwd'"], "SQL: ");
    refused(&[logs, "--sql", "select nothing from log"], "SQL: ");
    refused(&[logs, "--ask", "retrains", "--day", "yesterday"], "--day");
}
