//! The questions of `firmware-questions.json` about tt-metal's own firmware, if it is available.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value as Json;
use symbols::{Binding, Symbols};

use super::equal;

#[test]
fn firmware_questions() {
    let Some(root) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS").map(PathBuf::from) else {
        println!("skipped: MESHSCOPE_TT_METAL_ELFS is not set");
        return;
    };
    let json: Json = serde_json::from_str(include_str!("../data/firmware-questions.json")).unwrap();
    let elfs: BTreeMap<&str, Symbols> = json["files"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, file)| {
            let (symbols, problems) =
                Symbols::open(root.join(file["path"].as_str().unwrap())).unwrap();
            assert_eq!(problems, []);
            (name.as_str(), symbols)
        })
        .collect();
    let questions = json["questions"].as_array().unwrap();
    let wrong: Vec<String> = questions
        .iter()
        .filter_map(|question| {
            let elf = question["elf"].as_str().unwrap();
            let query = question["query"].as_str().unwrap();
            let answer = match question["kind"].as_str().unwrap() {
                "member" => member(&elfs[elf], query, &question["expect"]),
                "symbol" => symbol(&elfs[elf], query, &question["expect"]),
                "addr2line" => frames(&elfs[elf], query, &question["expect"]),
                other => Err(format!("unknown kind {other}")),
            };
            answer.err().map(|error| format!("{elf} {query}: {error}"))
        })
        .collect();
    println!("{} of {}", questions.len() - wrong.len(), questions.len());
    for (name, symbols) in &elfs {
        assert_eq!(symbols.problems(), [], "{name}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn member(symbols: &Symbols, query: &str, expect: &Json) -> Result<(), String> {
    let place = symbols.member(query).map_err(|error| error.to_string())?;
    equal("offset", &Some(place.field.offset), &expect["offset"].as_u64())?;
    equal("size", &Some(place.field.size), &expect["size"].as_u64())?;
    let root = query.split(['.', '[']).next().and_then(|root| symbols.type_named(root));
    equal("struct_size", &root.and_then(|ty| ty.size()), &expect["struct_size"].as_u64())?;
    if let Some(name) = expect["type"].as_str() {
        equal("type", &place.ty.name(), &name)?;
    }
    if let Some(length) = expect["array_length"].as_u64() {
        equal("array_length", &place.field.count, &length)?;
    }
    if let Some(size) = expect["element_size"].as_u64() {
        equal("element_size", &place.field.stride, &size)?;
    }
    Ok(())
}

fn symbol(symbols: &Symbols, query: &str, expect: &Json) -> Result<(), String> {
    let symbol = symbols.symbol(query).ok_or("no such symbol")?;
    equal("address", &Some(symbol.address), &expect["address"].as_u64())?;
    equal("size", &Some(symbol.size), &expect["size"].as_u64())?;
    equal("section", &symbol.section.as_deref(), &expect["section"].as_str())?;
    let bind = if symbol.binding == Binding::Local { "LOCAL" } else { "GLOBAL" };
    equal("bind", &Some(bind), &expect["bind"].as_str())?;
    if let Some(name) = expect["demangled"].as_str() {
        equal("demangled", &symbol.demangled().unwrap_or(symbol.name).as_str(), &name)?;
    }
    let Some(name) = expect["type"].as_str() else { return Ok(()) };
    let variable = symbols.variable(query).ok_or("no such variable")?;
    equal("variable address", &variable.address(), &expect["address"].as_u64())?;
    let ty = variable.ty.ok_or("no type")?;
    // Some answers have the open declaration (`T []`); the definition has the length (`T [4]`).
    match name.strip_suffix("[]") {
        Some(open) if ty.name().starts_with(open) => {}
        _ => equal("type", &ty.name(), &name)?,
    }
    let size = expect["sizeof"].as_u64().or(expect["size"].as_u64());
    equal("sizeof", &ty.size(), &size)
}

fn frames(symbols: &Symbols, query: &str, expect: &Json) -> Result<(), String> {
    let address = u64::from_str_radix(query.trim_start_matches("0x"), 16).unwrap();
    let frames = symbols.frames_at(address);
    equal("depth", &Some(frames.len() as u64), &expect["depth"].as_u64())?;
    for (frame, want) in frames.iter().zip(expect["frames"].as_array().unwrap()) {
        equal("function", &frame.function.as_deref(), &want["function"].as_str())?;
        equal("file", &frame.file.as_deref(), &want["file"].as_str())?;
        equal("line", &frame.line.map(u64::from), &want["line"].as_u64())?;
    }
    Ok(())
}

/// Every file of the wheel is read without problems, and `mailboxes` is a constant pointer wherever
/// it exists.
#[test]
fn all_firmware_is_read_without_problems() {
    let Some(root) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS").map(PathBuf::from) else {
        println!("skipped: MESHSCOPE_TT_METAL_ELFS is not set");
        return;
    };
    let mut folders = vec![root.join("ttnn/tt_metal/pre-compiled")];
    let (mut files, mut mailboxes) = (0, 0);
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "elf") {
                files += 1;
                mailboxes += usize::from(has_mailboxes(&path));
            }
        }
    }
    println!("{files} files, {mailboxes} with mailboxes");
    assert!(files > 0);
}

fn has_mailboxes(path: &std::path::Path) -> bool {
    let (symbols, _) = Symbols::open(path).unwrap();
    for name in symbols.type_names() {
        assert!(symbols.type_named(&name).is_some(), "{}: {name}", path.display());
    }
    for name in symbols.variable_names() {
        assert!(symbols.variable(&name).is_some(), "{}: {name}", path.display());
    }
    assert!(!symbols.frames_at(symbols.entry()).is_empty(), "{}", path.display());
    assert_eq!(symbols.problems(), [], "{}", path.display());
    let Ok(place) = symbols.locate("mailboxes->launch[0].kernel_config.enables") else {
        return false;
    };
    let base = symbols.constant("mailboxes").unwrap().as_u64().unwrap();
    let offset = symbols.field("mailboxes_t.launch[0].kernel_config.enables").unwrap().offset;
    assert_eq!(place.address(), base + offset, "{}", path.display());
    true
}
