//! An image's text, its address in L1, and its comparison with the bytes read there.

use super::Image;
use layouts::{ChipLayout, CoreId, NocAddr, Space, TileKind};
use machine::snapshot::{AccessError, Snapshot};
use schemars::JsonSchema;
use serde::Serialize;
use symbols::{Elf, Section, Segment};

/// Size of a sample at the start, in the middle and at the end of a text: one transaction each.
pub(super) const WINDOW_BYTES: u32 = 64;

/// A part of an image's text, by linked address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TextWindow {
    /// Linked address of the first byte.
    pub(crate) addr: u32,
    /// Length in bytes.
    pub(crate) len: u32,
}

/// The first word at which a text and L1 differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Tile-local address of the word.
    pub at: u64,
    /// The word in the image.
    pub expected: u32,
    /// The word in L1.
    pub found: u32,
}

/// The result of comparing an image's text with L1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(into = "Option<&'static str>")]
#[schemars(with = "Option<String>", inline)]
pub enum TextCheck {
    /// No comparison yet.
    #[default]
    NotCompared,
    /// The build id was found; no more was compared.
    BuildId,
    /// All compared bytes are equal.
    Equal,
    /// The first difference.
    Differs(Difference),
    /// The core runs the text from instruction RAM, which only the core can read.
    Iram,
    /// L1 could not be read.
    Unread(AccessError),
}

/// In JSON: a name, or null.
impl From<TextCheck> for Option<&'static str> {
    fn from(check: TextCheck) -> Self {
        Some(match check {
            TextCheck::NotCompared => return None,
            TextCheck::BuildId => "build-id",
            TextCheck::Equal => "equal",
            TextCheck::Differs(_) => "differs",
            TextCheck::Iram => "iram",
            TextCheck::Unread(error) => error.name(),
        })
    }
}

/// The result of comparing an image's text with L1, and how many bytes were compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Number of bytes compared with L1: of its text, or of its build id.
    pub compared_bytes: u32,
    /// Length of its text in bytes.
    pub text_bytes: u32,
    /// The result of the comparison: equal (of the whole text), build-id (only that was compared,
    /// and found), differs, iram (it runs from instruction RAM, which only the core itself can
    /// read), or the reason of `gaps` for which L1 was not read. Null: nothing was compared.
    pub check: TextCheck,
}

impl Comparison {
    /// Whether more bytes could not change the result.
    pub(crate) fn is_final(&self) -> bool {
        let all = self.compared_bytes == self.text_bytes && self.text_bytes > 0;
        matches!(self.check, TextCheck::Differs(_)) || all
    }
}

fn length(text: &[TextRange<'_>]) -> u32 {
    text.iter().map(|(_, bytes)| bytes.len() as u32).sum()
}

/// Executable bytes with their linked address.
pub(crate) type TextRange<'a> = (u32, &'a [u8]);

impl Image {
    /// Returns the executable bytes as loaded, by linked address.
    pub fn text(&self) -> Vec<TextRange<'_>> {
        if let Some(placed) = &self.placed {
            return text_of(placed.segments(), placed.section(TEXT).as_ref());
        }
        let segments = self.segments();
        let mixed = segments.iter().any(|segment| segment.executable && segment.writable);
        text_of(segments, mixed.then(|| self.symbols.section(TEXT)).flatten().as_ref())
    }

    /// Returns the length of the text in bytes.
    pub(super) fn text_bytes(&self) -> u32 {
        length(&self.text())
    }

    /// Returns the whole text as windows.
    pub(crate) fn whole(&self) -> Vec<TextWindow> {
        let window =
            |(addr, bytes): &TextRange<'_>| TextWindow { addr: *addr, len: bytes.len() as u32 };
        self.text().iter().map(window).collect()
    }

    /// Returns windows at start, middle and end of the text.
    pub(crate) fn samples(&self) -> Vec<TextWindow> {
        self.whole().into_iter().flat_map(samples).collect()
    }
}

/// Returns the executable bytes of an ELF.
pub(crate) fn stretches(elf: &Elf) -> Vec<TextRange<'_>> {
    text_of(elf.segments(), elf.section(TEXT).as_ref())
}

/// The section with the code.
const TEXT: &str = ".text";

/// Returns the executable bytes of segments; of one that also holds data, those up to the end of the
/// section with the code.
fn text_of<'a>(segments: Vec<Segment<'a>>, code: Option<&Section<'_>>) -> Vec<TextRange<'a>> {
    let end = |segment: &Segment<'_>| {
        let code = code.filter(|_| segment.writable)?;
        code.address.checked_add(code.size)?.checked_sub(segment.address)
    };
    let bytes = |segment: &Segment<'a>| {
        let end = end(segment).map_or(segment.bytes.len(), |end| end as usize);
        segment.bytes.get(..end).unwrap_or(segment.bytes)
    };
    let text =
        segments.into_iter().filter(|segment| segment.executable && !segment.bytes.is_empty());
    text.map(|segment| (segment.address as u32, bytes(&segment))).collect()
}

/// Returns windows at start, middle and end of a text; the whole of a short one.
pub(crate) fn samples(whole: TextWindow) -> Vec<TextWindow> {
    if whole.len <= 3 * WINDOW_BYTES {
        return vec![whole];
    }
    let middle = (whole.len / 2) & !3;
    let starts = [0, middle, whole.len - WINDOW_BYTES];
    starts.map(|start| TextWindow { addr: whole.addr + start, len: WINDOW_BYTES }).to_vec()
}

/// Returns the bytes of a window; none if the text does not have them.
pub(crate) fn bytes_of<'a>(text: &[TextRange<'a>], window: TextWindow) -> Option<&'a [u8]> {
    text.iter().find_map(|(addr, bytes)| {
        let start = window.addr.checked_sub(*addr)? as usize;
        bytes.get(start..start.checked_add(window.len as usize)?)
    })
}

/// Returns the L1 address of a linked address; none in instruction RAM without a copy in L1.
pub(crate) fn in_l1(layout: &ChipLayout, core: CoreId, addr: u32, bias: u32) -> Option<NocAddr> {
    let kind = layout.kind_at(core.tile);
    let range = layout.ranges.at(Space::Tile(kind), addr.into());
    let offset = match range.filter(|range| range.name == "iram") {
        None => addr.wrapping_add(bias).into(),
        // The ERISC's IRAM is a copy of L1 (tt-metal.md 1.2); NCRISC's source is not kept.
        Some(iram) if kind == TileKind::Eth => {
            layout.eth.l1.kernel_text.at + (u64::from(addr) - iram.start)
        }
        Some(_) => return None,
    };
    Some(NocAddr { chip: core.chip, tile: core.tile, offset })
}

/// Compares windows of a text with L1; none if the plan did not have them.
pub(crate) fn compare(
    layout: &ChipLayout,
    snapshot: &Snapshot,
    core: CoreId,
    text: &[TextRange<'_>],
    bias: u32,
    windows: &[TextWindow],
) -> Option<Comparison> {
    let text_bytes = length(text);
    let mut result = Comparison { text_bytes, ..Comparison::default() };
    let of_image = windows.iter().filter(|window| bytes_of(text, **window).is_some());
    let mut places = of_image.filter_map(|w| Some((in_l1(layout, core, w.addr, bias)?, w.len)));
    // One window, which another question read, decides nothing.
    if places.any(|(at, len)| snapshot.bytes(at, len) == Err(AccessError::NotRequested)) {
        return None;
    }
    for window in windows {
        let Some(expected) = bytes_of(text, *window) else { continue };
        let Some(addr) = in_l1(layout, core, window.addr, bias) else {
            result.check = TextCheck::Iram;
            continue;
        };
        match snapshot.bytes(addr, window.len) {
            Err(reason) => result.check = TextCheck::Unread(reason),
            Ok(found) => {
                result.compared_bytes += window.len;
                if let Some(difference) = first_difference(addr.offset, expected, found) {
                    result.check = TextCheck::Differs(difference);
                    return Some(result);
                }
            }
        }
    }
    if result.check == TextCheck::NotCompared && result.compared_bytes > 0 {
        result.check = TextCheck::Equal;
    }
    (result.check != TextCheck::NotCompared).then_some(result)
}

/// Returns the first word that differs, of bytes at `at`.
pub(crate) fn first_difference(at: u64, expected: &[u8], found: &[u8]) -> Option<Difference> {
    let byte = expected.iter().zip(found).position(|(a, b)| a != b)?;
    let word = byte - byte % 4;
    let read = |bytes: &[u8]| {
        let bytes = bytes.iter().skip(word).take(4).rev();
        bytes.fold(0, |value, &byte| value << 8 | u32::from(byte))
    };
    Some(Difference { at: at + word as u64, expected: read(expected), found: read(found) })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use layouts::{ChipId, CoreKind, NocXy};

    fn core(x: u8, y: u8, core: CoreKind) -> CoreId {
        CoreId { chip: ChipId(0), tile: NocXy { x, y }, core }
    }

    #[test]
    fn instruction_ram_is_compared_where_l1_keeps_its_source() {
        let erisc = core(9, 0, CoreKind::Erisc);
        let layout = layouts::ChipKind::Wormhole.layout();
        assert_eq!(in_l1(layout, erisc, 0xFFC0_0010, 0).unwrap().offset, 0xA850);
        assert_eq!(in_l1(layout, erisc, 0x9040, 0).unwrap().offset, 0x9040);
        assert_eq!(in_l1(layout, core(1, 2, CoreKind::Ncrisc), 0xFFC0_0000, 0), None);
        let moved = in_l1(layout, core(1, 2, CoreKind::Brisc), 0x6000, 0x3000u32.wrapping_neg());
        assert_eq!(moved.unwrap().offset, 0x3000);
    }

    #[test]
    fn a_short_text_is_compared_whole() {
        let short = TextWindow { addr: 8, len: 100 };
        assert_eq!(samples(short), [short]);
        let long = samples(TextWindow { addr: 0x1000, len: 0x1002 });
        let ends: Vec<_> = long.iter().map(|w| (w.addr, w.len)).collect();
        assert_eq!(ends, [(0x1000, 64), (0x1800, 64), (0x1FC2, 64)]);
    }

    #[test]
    fn a_difference_is_a_word() {
        let found = first_difference(0x9040, &[1, 2, 3, 4, 5, 6, 7, 8], &[1, 2, 3, 4, 5, 6, 0, 8]);
        let expected = Difference { at: 0x9044, expected: 0x0807_0605, found: 0x0800_0605 };
        assert_eq!(found, Some(expected));
        assert_eq!(first_difference(0, &[1, 2], &[1, 2, 3]), None);
    }
}
