//! Asks what was written.

use super::{Scanned, failure, say_left_out};
use crate::output::{Columns, Page, json, say};
use crate::target::Style;
use console::exit::{Failure, Outcome};
use logs::{Answer, Format, LogError, Logs, files_below};
use serde_json::Value;
use std::path::PathBuf;

/// Asks the Parquet files below folders. A file with other columns, or that is none, is left out.
pub(super) fn ask(folders: &[PathBuf], sql: &str, style: Style) -> Result<Outcome, Failure> {
    let (found, mut left_out) = files_below(folders).map_err(|error| failure(&error))?;
    let (mut logs, mut whole) = (Logs::default(), true);
    for file in &found {
        let added = match Format::of(&file.path) {
            Ok(Some(Format::Parquet)) => logs.add(file),
            Ok(_) => {
                left_out.push(format!("{}: it is no Parquet", file.path.display()));
                continue;
            }
            Err(why) => Err(why),
        };
        if let Err(why) = added {
            whole = false;
            left_out.push(why.to_string());
        }
    }
    say_left_out(&left_out);
    if logs.is_empty() {
        let names: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
        return Err(failure(&LogError::NoLogs(names.join(", "))));
    }
    let answer = logs.ask(sql).map_err(|error| failure(&error))?;
    if answer.more {
        say("there are more rows than these 10000");
    }
    let Answer { columns, rows, more } = answer;
    if style.json {
        let sql = Some(sql.to_owned());
        json(Scanned { sql, columns, rows, more, left_out, ..Scanned::default() })?;
    } else {
        style.print(Page::from(table(&columns, &rows)).with(format!("\nSQL: {sql}\n")))?;
    }
    Ok(if whole { Outcome::Healthy } else { Outcome::Partial })
}

fn table(columns: &[String], rows: &[Vec<Value>]) -> Columns {
    let head: Vec<String> = columns.iter().map(|name| name.to_uppercase()).collect();
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let mut table = Columns::new(&head);
    for row in rows {
        table.row(row.iter().map(cell).collect());
    }
    table
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}
