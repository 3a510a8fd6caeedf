//! `write`: writes words or bytes into a tile, and prints the value before.

use super::read::misplaced;
use crate::output::{json, say, text};
use crate::shape::Written;
use crate::shape::schema;
use crate::target::{Style, open};
use crate::verb::{Ask, Pages, Schemas, Verb, unrefused};
use console::exit::{Failure, Outcome};
use console::locate;
use console::machine::Opening;
use console::words::{self, hex};
use layouts::{NocAddr, Space};
use machine::snapshot::{AccessError, Span};

/// Write memory or a register of a tile, once, and print the value before.
///
/// On a target outside this process it needs --allow write, and where cores are started,
/// stopped or reset --allow launch, halt or reset. Each write is first appended to the audit
/// log.
#[derive(clap::Args, Debug)]
pub(crate) struct WriteArguments {
    /// The place: <chip>:<x>-<y>:<addr> in NOC 0 coordinates, or <chip>:e<channel>:<addr>; the
    /// address decimal or 0x hexadecimal.
    pub(crate) place: String,
    /// Words of 32 bits, decimal or 0x hexadecimal.
    #[arg(required_unless_present = "bytes", value_name = "VALUE")]
    pub(crate) values: Vec<String>,
    /// Bytes instead of words, in the order of memory; neighbouring bytes in memory are
    /// unchanged.
    #[arg(long, value_name = "HEX", conflicts_with = "values")]
    pub(crate) bytes: Option<String>,
}

impl Verb for WriteArguments {
    const NAME: &str = "write";
    const PAGES: Pages = &[("write", include_str!("../manual/verbs/write.md"))];
    const SCHEMAS: Schemas = &[("write", schema::<Written>)];
    fn no_table(&self) -> Option<&'static str> {
        Some("write")
    }
    const QUESTION: Ask<Self> = Some(|verb, _| {
        let WriteRequest { addr, bytes } = WriteRequest::of(&verb.what())?;
        let span = Span { addr, len: bytes.len() as u32 };
        Ok(Some(Box::new(move |machine| unrefused(machine.target().preview_write(span)))))
    });
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(target, style, &self.what())
    }
}

impl WriteArguments {
    fn what(&self) -> What<'_> {
        What { place: &self.place, values: &self.values, bytes: self.bytes.as_deref() }
    }
}

/// The data to write.
pub(super) struct What<'a> {
    pub(super) place: &'a str,
    pub(super) values: &'a [String],
    pub(super) bytes: Option<&'a str>,
}

/// The address, and the bytes in the order of memory.
pub(super) struct WriteRequest {
    pub(super) addr: NocAddr,
    pub(super) bytes: Vec<u8>,
}

impl WriteRequest {
    /// Parses the arguments, before a target is opened.
    pub(super) fn of(what: &What<'_>) -> Result<Self, Failure> {
        let (chip, tile, offset) = locate::address(what.place).map_err(Failure::Usage)?;
        let bytes = match what.bytes {
            Some(text) => bytes(text).map_err(Failure::Usage)?,
            None => words_of(what.values).map_err(Failure::Usage)?,
        };
        let addr = NocAddr { chip, tile, offset };
        let kind = locate::layout().kind_at(tile);
        let judged =
            locate::layout().write_permission(Space::Tile(kind), offset, bytes.len() as u64);
        misplaced(words::tile(kind), addr, bytes.len() as u64, judged.err())?;
        Ok(Self { addr, bytes })
    }
}

pub(super) fn run(opening: &Opening, style: Style, what: &What<'_>) -> Result<Outcome, Failure> {
    let WriteRequest { addr, bytes } = WriteRequest::of(what)?;
    let mut machine = open(opening)?;
    if machine.mesh().chip(addr.chip).is_none() {
        let chip = addr.chip;
        return Err(Failure::Usage(format!("{addr}: there is no chip {chip} in this mesh")));
    }
    let failed = |error| Failure::of_access(&addr.to_string(), &error);
    let target = machine.target();
    target.commanded_by("write");
    let written = match target.bus() {
        Some(bus) => bus.replace(addr, &bytes),
        None => target.write(addr, &bytes).map(|()| Err(AccessError::NotRequested)),
    };
    let old = written.map_err(failed)?;
    // Reading the time completes earlier writes to a remote chip, and reports their errors.
    let cycles = target.now().map_err(failed)?;
    say(&format!("{} at {} of its own time", opening.words, words::cycles(cycles)));
    let show = if style.json || what.bytes.is_some() { hex } else { as_words };
    let (old, new) = (old.as_ref().map(|old| show(old)), show(&bytes));
    if style.json {
        json(Written::new(addr, old, new))?;
    } else {
        let old = old.unwrap_or_else(|reason| format!("not read ({reason})"));
        text(&format!("{addr}  old {old}  new {new}\n"))?;
    }
    Ok(Outcome::Healthy)
}

/// Parses words.
fn as_words(bytes: &[u8]) -> String {
    let words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    words.map(|word| format!("{word:#010x}")).collect::<Vec<_>>().join(" ")
}

/// 32-bit words, little-endian as on the device.
fn words_of(values: &[String]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(values.len() * 4);
    for value in values {
        let word = u32::try_from(locate::number(value)?)
            .map_err(|_| format!("'{value}' is more than a word of 32 bits"))?;
        bytes.extend(word.to_le_bytes());
    }
    Ok(bytes)
}

/// Parses bytes in the order of memory, two hexadecimal digits each.
fn bytes(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<char> = text.chars().filter(|c| !matches!(c, '_' | ' ')).collect();
    let wrong = || format!("'{text}' is not bytes: two hexadecimal digits each");
    if digits.is_empty() || !digits.len().is_multiple_of(2) {
        return Err(wrong());
    }
    let byte = |pair: &[char]| {
        let digit = |c: &char| c.to_digit(16).ok_or_else(wrong);
        let [high, low] = pair else { return Err(wrong()) };
        Ok((digit(high)? << 4 | digit(low)?) as u8)
    };
    digits.chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn words_and_bytes_are_read_as_people_write_them() {
        let words =
            |values: &[&str]| words_of(&values.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>());
        assert_eq!(words(&["0x11223344", "1"]).unwrap(), [0x44, 0x33, 0x22, 0x11, 1, 0, 0, 0]);
        assert!(words(&["0x1_0000_0000"]).unwrap_err().contains("32 bits"));
        assert!(words(&["ten"]).unwrap_err().contains("'ten'"));
        assert_eq!(bytes("aa_BB cc").unwrap(), [0xAA, 0xBB, 0xCC]);
        for wrong in ["", "a", "abc", "0xab", "gg"] {
            assert!(bytes(wrong).unwrap_err().contains("hexadecimal"), "{wrong}");
        }
    }
}
