//! Rows are written as Parquet and asked; other Parquet is refused in a sentence.
#![cfg(feature = "store")]
#![allow(clippy::unwrap_used, reason = "tests")]

use datafusion::arrow::array::{Int64Array, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::parquet::arrow::ArrowWriter;
use logs::{By, FoundFile, Kind, Logs, Question, Row, Source, Writer, files_below, text};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// 2026-11-01, in microseconds since the Unix epoch, and a day.
const FIRST: i64 = 1_793_491_200_000_000;
const DAY: i64 = 86_400_000_000;

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("logs-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A cable that retrains on three days, and one that does once.
fn write(folder: &Path) {
    let mut writer = Writer::new(folder).unwrap();
    for (day, cable, change) in [(0, "a", 2), (0, "b", 9), (1, "a", 1), (2, "a", 1), (2, "b", 0)] {
        let source = Source::of("links.json", "h*[1]", FIRST + day * DAY);
        let row = Row {
            cable: Some(text(cable)),
            value: Some(change),
            change: Some(change),
            trouble: change > 0,
            ..source.row(Kind::Link, text("retrain_count"))
        };
        writer.push(row).unwrap();
    }
    let written = writer.finish().unwrap();
    assert_eq!((written.rows, written.files), (5, 3));
}

fn open(folder: &Path) -> (Logs, Vec<String>) {
    let (found, _) = files_below(&[folder.to_owned()]).unwrap();
    let (mut logs, mut refused) = (Logs::default(), Vec::new());
    let mut add = |file: &FoundFile| logs.add(file);
    refused.extend(found.iter().filter_map(|file| add(file).err()).map(|why| why.to_string()));
    (logs, refused)
}

#[test]
fn what_recurs_comes_first() {
    let folder = Folder::new("recurs");
    let logs = folder.0.join("logs [*]%20");
    write(&logs);
    assert!(logs.join("day=2026-11-02/host=h__1_/00000.parquet").is_file());
    let (logs, refused) = open(&logs);
    assert!(refused.is_empty(), "{refused:?}");
    let answer = logs.ask(&Question::Recurring.sql(By::Cable, None)).unwrap();
    assert_eq!(answer.columns, ["cable", "days", "observations", "first", "last"]);
    let row = |row: Value| row.as_array().unwrap().clone();
    let a = json!(["a", 3, 3, "2026-11-01T00:00:00", "2026-11-03T00:00:00"]);
    let b = json!(["b", 1, 1, "2026-11-01T00:00:00", "2026-11-01T00:00:00"]);
    assert_eq!(answer.rows, [row(a), row(b)]);
    let day = "2026-11-01".parse().ok();
    let answer = logs.ask(&Question::Retrains.sql(By::Host, day)).unwrap();
    assert_eq!(answer.rows, [row(json!(["2026-11-01", "h__1_", 11]))]);
}

#[test]
fn parquet_of_another_schema_is_refused_and_the_rest_is_asked() {
    let folder = Folder::new("other");
    write(&folder.0.join("logs"));
    let other = Schema::new(vec![Field::new("day", DataType::Int64, false)]);
    let column = Arc::new(Int64Array::from(vec![1, 2]));
    let batch = RecordBatch::try_new(Arc::new(other), vec![column]).unwrap();
    let path = folder.0.join("other.parquet");
    let mut writer =
        ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let before = fs::read(&path).unwrap();
    fs::write(folder.0.join("cut.parquet"), &before[..before.len() / 2]).unwrap();
    let (logs, refused) = open(&folder.0);
    assert_eq!(refused.len(), 2);
    assert!(refused[0].contains("cut.parquet: it is no whole Parquet: "), "{refused:?}");
    let says = "other.parquet: its column `day` is Int64, not Date32: it is no log of meshscope";
    assert!(refused[1].ends_with(says), "{refused:?}");
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(logs.ask("select count(*) from log").unwrap().rows, [[json!(5)]]);
}

#[test]
fn sql_only_reads_and_only_so_much() {
    let folder = Folder::new("sql");
    write(&folder.0.join("logs"));
    let (logs, _) = open(&folder.0);
    let says = |sql: &str| logs.ask(sql).unwrap_err().to_string();
    for sql in ["drop table log", "copy log to 'x.csv'", "set a.b = 1"] {
        assert!(says(sql).contains("not supported"), "{sql}: {}", says(sql));
    }
    assert!(says("select * from other").contains("not found"), "{}", says("select * from other"));
    let many = logs.ask("select value from generate_series(1, 20000)").unwrap();
    assert!(many.more && many.rows.len() == 10_000);
    let large = "select count(*) from (select distinct (value * 48271) % 2147483647 \
                 from generate_series(1, 200000000)) as a";
    assert!(says(large).contains("more than 1 GiB of memory"), "{}", says(large));
}

#[test]
fn nothing_is_overwritten() {
    let folder = Folder::new("twice");
    write(&folder.0.join("logs"));
    let says = Writer::new(&folder.0.join("logs")).err().unwrap().to_string();
    assert!(
        says.ends_with("logs: it is not empty, and nothing is overwritten: name a new folder"),
        "{says}"
    );
}
