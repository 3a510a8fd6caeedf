//! Verbs as whole processes: the first word, a lookup, bus transactions, what a moment of a
//! recording costs.

use crate::process::{Programs, milliseconds, run, vendor, wall_milliseconds};
use crate::{Held, Row};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Meshes whose first snapshot is counted.
const COUNTED: [&str; 3] = ["n300", "t3000", "galaxy"];
const MOMENTS: u32 = 30;

pub(crate) fn rows(programs: &Programs) -> Vec<Row> {
    let mut rows = vec![first_word(programs, &programs.ours, "first word, our library")];
    rows.extend(vendor("wh").map(|library| {
        let row = first_word(programs, &library, "first word, vendor's library");
        let Held::Ratio(ratio) = row.held else { return row };
        Row { held: Held::Peer(ratio), ..row }
    }));
    rows.push(lookup(programs));
    rows.extend(COUNTED.iter().map(|mesh| transactions(programs, mesh)));
    rows.push(moment(programs));
    rows
}

fn time(name: &str, ours: f64, peer: &str, theirs: f64) -> Row {
    Row {
        name: name.to_owned(),
        value: format!("{ours:.1} ms"),
        anchor: format!("{peer} {theirs:.1} ms"),
        held: Held::Ratio(theirs / ours),
    }
}

fn first_word(programs: &Programs, library: &Path, name: &str) -> Row {
    let bare = wall_milliseconds(|| {
        let mut command = Command::new(&programs.client);
        command.env("MESHSCOPE_MESH", "n150").arg(library).arg("word");
        command
    });
    let ours = wall_milliseconds(|| {
        let target = format!("ttsim:{}", library.display());
        let mut command = meshscope(programs, &target, &["read", "0:1-1:0x0", "4"]);
        command.env("MESHSCOPE_MESH", "n150");
        command
    });
    time(name, ours, "bare client", bare)
}

fn meshscope(programs: &Programs, target: &str, words: &[&str]) -> Command {
    let mut command = Command::new(&programs.meshscope);
    command.args(["--target", target]).args(words);
    command
}

fn lookup(programs: &Programs) -> Row {
    let image: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "../firmware/images/erisc_base.elf"].iter().collect();
    let gdb = milliseconds(|| {
        let mut command = Command::new("gdb");
        command.args(["-batch", "-nx", "-ex", "ptype/o boot_results_t"]).arg(&image);
        command
    });
    let ours = milliseconds(|| {
        let mut command = Command::new(&programs.meshscope);
        command.args(["symbols", "type", "boot_results_t", "--elf"]).arg(&image);
        command
    });
    time("members of a type", ours, "gdb", gdb)
}

/// Counts the bus transactions of the first picture, start of the target included.
fn transactions(programs: &Programs, mesh: &str) -> Row {
    let ran = run(&mut meshscope(programs, &format!("emulator:{mesh}"), &["mesh"]));
    let before = ran.errors.split(" bus transactions").next().unwrap();
    let count: u64 = before.rsplit(' ').next().unwrap().parse().unwrap();
    Row {
        name: format!("bus transactions, mesh of {mesh}"),
        value: count.to_string(),
        anchor: String::new(),
        held: Held::Count(count),
    }
}

/// A moment of a recording, over one snapshot with the same start.
fn moment(programs: &Programs) -> Row {
    let folder = programs.client.with_file_name("table-recording");
    let record = |moments: u32| {
        milliseconds(|| {
            let _ = std::fs::remove_file(&folder);
            let mut command = meshscope(programs, "emulator:t3000", &["record", "--moments"]);
            command.arg(moments.to_string()).args(["--every", "100_000"]).arg(&folder);
            command
        })
    };
    let (one, many) = (record(1), record(1 + MOMENTS));
    let each = (many - one) / f64::from(MOMENTS);
    time("a moment of a recording, t3000", each, "the first", one)
}
