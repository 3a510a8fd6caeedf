//! The questions of `data/answers`, written by `firmware/cases/ask`: answers of gdb and the LLVM
//! tools about the shipped images.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use symbols::{Symbols, Value};

use super::layout::{enumeration, layout};
use super::{as_gdb, equal};

#[test]
fn gdb_and_llvm_answer_the_same_about_our_images() {
    let room = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> =
        fs::read_dir(room.join("tests/data/answers")).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    let (mut total, mut wrong) = (0, Vec::new());
    for file in &files {
        let json: Json = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let name = json["image"].as_str().unwrap();
        let folders = ["../firmware/images", "../firmware/cases/images"];
        let path = folders.iter().map(|folder| room.join(folder).join(name)).find(|p| p.exists());
        let (symbols, _) = Symbols::open(path.unwrap()).unwrap();
        let strings: Vec<&str> =
            json["strings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        for question in json["questions"].as_array().unwrap() {
            total += count(question);
            wrong.extend(answer(&symbols, &strings, question).into_iter().map(|error| {
                format!("{name} {} {}: {error}", question["kind"], question["query"])
            }));
        }
        wrong.extend(symbols.problems().iter().map(|problem| format!("{name}: {problem}")));
    }
    println!("{} of {total} about {} images", total.saturating_sub(wrong.len()), files.len());
    assert!(total > 1000 && wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Counts each instruction of a run as one question.
fn count(question: &Json) -> usize {
    match question["end"].as_u64() {
        Some(end) => (end - question["query"].as_u64().unwrap()) as usize / 4,
        None => 1,
    }
}

/// Returns the differences from the expected answers.
fn answer(symbols: &Symbols, strings: &[&str], question: &Json) -> Vec<String> {
    let query = question["query"].as_str().unwrap_or_default();
    let checked = match question["kind"].as_str().unwrap() {
        "frames" => return frames(symbols, strings, question),
        "layout" => layout(symbols, query, question),
        "enum" => enumeration(symbols, query, question),
        "value" => value(symbols, query, question),
        "variable" => variable(symbols, query, question),
        "symbol" => symbol(symbols, query, question),
        "function" => function(symbols, query, question),
        "line" => line(symbols, query, question),
        other => Err(format!("unknown kind {other}")),
    };
    checked.err().into_iter().collect()
}

fn value(symbols: &Symbols, query: &str, want: &Json) -> Result<(), String> {
    // gdb writes template arguments with a suffix for their type.
    let query = query.replace("ul>", ">");
    let constant = symbols.constant(&query).ok_or("no such constant")?;
    equal("type", &as_gdb(constant.ty.name()).as_str(), &want["type"].as_str().unwrap())?;
    let value = constant.ty.decode(&constant.bytes);
    let same = same_value(&value, &want["value"]);
    if same { Ok(()) } else { Err(format!("got {value}, want {}", want["value"])) }
}

fn same_value(value: &Value, want: &Json) -> bool {
    let all = |values: &[&Value]| {
        let want = want.as_array().map(Vec::as_slice).unwrap_or_default();
        want.len() == values.len() && values.iter().zip(want).all(|(v, want)| same_value(v, want))
    };
    match value {
        Value::Struct(members) => all(&members.iter().map(|(_, value)| value).collect::<Vec<_>>()),
        Value::Array(elements) => all(&elements.iter().collect::<Vec<_>>()),
        Value::Float(number) => {
            want.as_str().is_some_and(|text| text.parse::<f64>() == Ok(*number))
        }
        Value::Signed(number) => want.as_i64() == Some(*number),
        other => other.as_u64().is_some() && other.as_u64() == want.as_u64(),
    }
}

fn variable(symbols: &Symbols, query: &str, want: &Json) -> Result<(), String> {
    let variable = symbols.variable(query).ok_or("no such variable")?;
    equal("address", &variable.address(), &want["address"].as_u64())?;
    let ty = variable.ty.ok_or("no type")?;
    equal("type", &as_gdb(ty.name()).as_str(), &want["type"].as_str().unwrap())?;
    let Some(size) = want["size"].as_u64() else { return Ok(()) };
    equal("size", &variable.symbol.map(|symbol| symbol.size), &Some(size))
}

fn symbol(symbols: &Symbols, query: &str, want: &Json) -> Result<(), String> {
    let symbol = symbols.symbol(query).ok_or("no such symbol")?;
    equal("address", &Some(symbol.address), &want["address"].as_u64())?;
    equal("size", &Some(symbol.size), &want["size"].as_u64())
}

/// The library returns the parts of all clones, gdb those of the clone at the symbol.
fn function(symbols: &Symbols, query: &str, want: &Json) -> Result<(), String> {
    let own = query.split('.').next().unwrap();
    let functions = symbols.functions(own);
    let functions = functions
        .or_else(|_| symbols.functions(want["name"].as_str().unwrap()))
        .map_err(|error| error.to_string())?;
    for range in want["ranges"].as_array().unwrap() {
        let (begin, end) = (range[0].as_u64().unwrap(), range[1].as_u64().unwrap());
        let mut parts = functions.iter().flat_map(|function| &function.parts);
        if !parts.any(|part| (part.begin, part.end) == (begin, end)) {
            return Err(format!("no part {begin:#x}..{end:#x} in {functions:?}"));
        }
    }
    Ok(())
}

fn line(symbols: &Symbols, query: &str, want: &Json) -> Result<(), String> {
    let (file, line) = query.rsplit_once(':').unwrap();
    let line = line.parse().unwrap();
    let code = symbols.code_of_line(file, line);
    let code = code.map_err(|error| error.to_string())?;
    let got: Vec<u64> = code.iter().map(|code| code.begin).collect();
    let want: Vec<u64> =
        want["addresses"].as_array().unwrap().iter().map(|at| at.as_u64().unwrap()).collect();
    // A line that shares its first instruction with another one has its code after it.
    let of_another = |at| symbols.frames_at(at).first().and_then(|it| it.line) != Some(line);
    let known = got.is_empty() == want.is_empty()
        && got.iter().all(|at| want.contains(at))
        && want.iter().all(|at| got.contains(at) || of_another(*at));
    if known { Ok(()) } else { Err(format!("addresses: got {got:?}, want {want:?}")) }
}

fn frames(symbols: &Symbols, strings: &[&str], question: &Json) -> Vec<String> {
    let text = |json: &Json| json.as_u64().map(|number| strings[number as usize]);
    let want: Vec<(Option<&str>, Option<&str>, Option<u64>)> = question["frames"]
        .as_array()
        .unwrap()
        .iter()
        .map(|frame| (text(&frame[0]), text(&frame[1]), frame[2].as_u64()))
        .collect();
    let run = question["query"].as_u64().unwrap()..question["end"].as_u64().unwrap();
    let mut wrong = Vec::new();
    for address in run.step_by(4) {
        let frames = symbols.frames_at(address);
        let mut got: Vec<_> = frames
            .iter()
            .map(|f| (f.function.as_deref(), f.file.as_deref(), f.line.map(u64::from)))
            .collect();
        // LLVM has no name for a function whose length the assembler left to the linker.
        if let (Some(got), Some((None, ..))) = (got.last_mut(), want.last()) {
            got.0 = None;
        }
        wrong.extend(equal(&format!("{address:#x}"), &got, &want).err());
    }
    wrong
}
