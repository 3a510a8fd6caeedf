//! The places in an image's code that set waypoints. Built-in images list them in the section
//! `.meshscope.waypoints`; in other images they are the stores of letters to constant addresses.

use crate::kinds::SourceLine;
use std::collections::BTreeMap;
use symbols::{ConstantStore, Location, Symbols};

/// Bytes of one record: code, line, offset of the file's path, address.
const RECORD: usize = 16;
/// The function of tt-metal's macro `WAYPOINT` (tt-metal: api/debug/waypoint.h).
const SETTER: &str = "write_debug_waypoint";

/// Code that sets a waypoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaypointPlace {
    /// The letters, without padding.
    pub code: String,
    /// Address of the storing code, as linked.
    pub address: u32,
    /// The address that it stores to; none if it is known to be the core's waypoint.
    pub word: Option<u32>,
    /// File and line, and the functions around them, innermost first.
    pub lines: Vec<SourceLine>,
}

/// Returns the places in an image. A place with a word sets a waypoint only on a core whose
/// waypoint is there.
pub(super) fn read(symbols: &Symbols) -> Vec<WaypointPlace> {
    match symbols.section(".meshscope.waypoints") {
        Some(section) => {
            let files = symbols.section(".meshscope.files").map_or(&[][..], |files| files.bytes);
            let records = section.bytes.chunks_exact(RECORD);
            records.filter_map(|record| listed(symbols, record, files)).collect()
        }
        None => stored(symbols),
    }
}

fn listed(symbols: &Symbols, record: &[u8], files: &[u8]) -> Option<WaypointPlace> {
    let word = |at: usize| Some(u32::from_le_bytes(*record.get(at..)?.first_chunk()?));
    let (line, file, address) = (word(4)?, word(8)? as usize, word(12)?);
    let path = files.get(file..).and_then(|rest| rest.split(|&byte| byte == 0).next());
    let path = path.map(|path| plain(&String::from_utf8_lossy(path)));
    let mut lines: Vec<_> = symbols.frames_at(address.into()).iter().map(source_line).collect();
    // Frames inside the line with WAYPOINT belong to the macro.
    let here = |at: &SourceLine| at.line == Some(line) && at.file == path;
    match lines.iter().rposition(here) {
        Some(innermost) => drop(lines.drain(..innermost)),
        None => lines.insert(0, SourceLine { function: None, file: path, line: Some(line) }),
    }
    Some(WaypointPlace { code: code(record), address, word: None, lines })
}

/// Finds the stores of letters. Paths of the code can share a store: then each constant has its own
/// place.
fn stored(symbols: &Symbols) -> Vec<WaypointPlace> {
    let stores = symbols.constant_stores();
    let mut constants: BTreeMap<u64, usize> = BTreeMap::new();
    for store in &stores {
        *constants.entry(store.pc).or_default() += 1;
    }
    let place = |store: &ConstantStore| {
        let shared = constants.get(&store.pc).is_some_and(|count| *count > 1);
        let address = if shared { store.made_at } else { store.pc };
        let code = letters(store.value)?;
        let frames = symbols.frames_at(address);
        let inside = frames.iter().take_while(|frame| frame.inlined && is_setter(frame)).count();
        let lines = frames.iter().skip(inside).map(source_line).collect();
        Some(WaypointPlace { code, address: address as u32, word: Some(store.address), lines })
    };
    stores.iter().filter_map(place).collect()
}

fn is_setter(frame: &Location) -> bool {
    frame.function.as_deref().is_some_and(|name| name.split('<').next() == Some(SETTER))
}

/// Returns the code that a word holds; none if it holds anything but letters and padding.
fn letters(word: u32) -> Option<String> {
    let bytes = word.to_le_bytes();
    let len = bytes.iter().take_while(|byte| byte.is_ascii_graphic()).count();
    let padding = bytes.get(len..)?.iter().all(|&byte| byte == 0);
    (len > 0 && padding).then(|| code(&bytes))
}

pub(crate) fn source_line(frame: &Location) -> SourceLine {
    SourceLine {
        function: frame.name().map(Into::into),
        file: frame.file.as_deref().map(plain),
        line: frame.line,
    }
}

/// Strips the `./` with which paths of debug information, but not the macro's, can begin.
fn plain(path: &str) -> String {
    path.trim_start_matches("./").to_owned()
}

/// Returns the characters of a waypoint word up to the first zero byte; unprintable ones become
/// `?`.
pub fn code(word: &[u8]) -> String {
    let letters = word.iter().take(4).take_while(|&&byte| byte != 0);
    letters.map(|&b| if b.is_ascii_graphic() { char::from(b) } else { '?' }).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{WaypointPlace, letters, read};
    use std::collections::BTreeSet;
    use std::path::PathBuf;
    use symbols::Symbols;

    #[test]
    fn a_code_has_one_to_four_letters() {
        let word = |bytes: &[u8; 4]| letters(u32::from_le_bytes(*bytes));
        assert_eq!(word(b"FWSW").as_deref(), Some("FWSW"));
        assert_eq!(word(b"R\0\0\0").as_deref(), Some("R"));
        assert_eq!((word(b"\0\0\0\0"), word(b"K\0D\0"), word(b"\x01\0\0\0")), (None, None, None));
    }

    /// Returns the places of an ELF that set the waypoint at this address.
    fn places(elf: &str, word: u32) -> Vec<WaypointPlace> {
        let (symbols, _) = Symbols::open(elf).unwrap();
        let places = read(&symbols).into_iter();
        places.filter(|place| place.word.is_none_or(|at| at == word)).collect()
    }

    /// Returns code and line of each place in order, each once.
    fn lines(places: &[WaypointPlace]) -> BTreeSet<(u32, String)> {
        places.iter().map(|place| (place.lines[0].line.unwrap(), place.code.clone())).collect()
    }

    #[test]
    fn every_waypoint_of_a_source_is_found_however_it_is_compiled() {
        let cases = concat!(env!("CARGO_MANIFEST_DIR"), "/../../firmware/cases");
        let source = std::fs::read_to_string(format!("{cases}/waypoints.cpp")).unwrap();
        let set = |(number, line): (usize, &str)| {
            let (code, _) = line.trim().strip_prefix("WAYPOINT(\"")?.split_once('"')?;
            Some((number as u32 + 1, code.to_owned()))
        };
        let want: BTreeSet<_> = source.lines().enumerate().filter_map(set).collect();
        assert_eq!(want.len(), 14);
        for name in ["waypoints", "waypoints-small", "waypoints-lto"] {
            let found = places(&format!("{cases}/images/{name}.elf"), 0x3_E224);
            assert_eq!(lines(&found), want, "{name}");
            // A function that is inlined twice sets its waypoints at two places.
            let copies = found.iter().filter(|place| place.code == "WFCW");
            let callers: BTreeSet<_> = copies.map(|place| &place.lines[1].function).collect();
            assert_eq!(callers.len(), 2, "{name}: {callers:?}");
        }
    }

    #[test]
    fn tt_metals_kernels_set_waypoints_in_their_source_lines() {
        let Some(folder) = std::env::var_os("MESHSCOPE_TT_KERNELS") else {
            println!("skipped: MESHSCOPE_TT_KERNELS is not set");
            return;
        };
        let elf = |name: &str| PathBuf::from(&folder).join(name).display().to_string();
        let checks = [
            ("router_a_waypoints/erisc.elf", 0x3_E224, 30, "FSCD"),
            ("worker_waypoints/brisc.elf", 0x4E4, 60, "FWSW"),
        ];
        for (name, word, least, code) in checks {
            let found = places(&elf(name), word);
            assert!(found.len() >= least, "{name}: {}", found.len());
            assert!(found.iter().any(|place| place.code == code), "{name}: {code}");
            for place in found {
                let line = &place.lines[0];
                let text = std::fs::read_to_string(line.file.as_ref().unwrap()).unwrap();
                let text = text.lines().nth(line.line.unwrap() as usize - 1).unwrap();
                let set = format!("WAYPOINT(\"{}\")", place.code);
                assert!(text.contains(&set), "{name}: {text} for {place:?}");
            }
        }
        for (name, word) in [("router_a/erisc.elf", 0x3_E224), ("worker/brisc.elf", 0x4E4)] {
            assert_eq!(places(&elf(name), word), [], "{name}");
        }
    }

    #[test]
    fn released_firmware_sets_none() {
        let Some(root) = std::env::var_os("MESHSCOPE_TT_METAL_ELFS") else {
            println!("skipped: MESHSCOPE_TT_METAL_ELFS is not set");
            return;
        };
        let build = "ttnn/tt_metal/pre-compiled/1003041148146844629";
        let build = PathBuf::from(root).join(build);
        for core in ["brisc", "ncrisc", "trisc0", "trisc1", "trisc2", "erisc"] {
            let elf = build.join(core).join(format!("{core}.elf")).display().to_string();
            let words = match core {
                "erisc" => vec![0x3_E224],
                _ => (0..5).map(|index| 0x4E4 + 4 * index).collect(),
            };
            let all = words.into_iter().flat_map(|word| places(&elf, word));
            assert_eq!(all.collect::<Vec<_>>(), [], "{core}");
        }
    }
}
