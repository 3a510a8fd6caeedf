//! Limits that a unit must keep before addr2line, which has no limits of its own, may read it.

use gimli::{LineProgramHeader, constants as dw};

use crate::die::DieView;
use crate::ranges::{BUDGET, Code};
use crate::sections::Slice;

/// The deepest inlining accepted; real routers nest 15.
const MAX_DEPTH: usize = 200;

/// The most bytes of line tables of all units together: units can share a table, and each reads it.
const MAX_LINES: usize = 64 << 20;

/// The budget left for all units together. Refused units use it up too, since reading them took
/// time.
#[derive(Debug)]
pub(crate) struct Bounds {
    ranges: usize,
    lines: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { ranges: BUDGET, lines: MAX_LINES }
    }
}

impl Bounds {
    /// Reads everything that a lookup can read of one unit. The error is a reason for a `Problem`.
    pub(crate) fn check(&mut self, view: &DieView<'_>, number: usize) -> Result<(), String> {
        self.entries(view, number).map_err(|error| error.to_string())??;
        self.lines(view, number)
    }

    fn entries(&mut self, view: &DieView<'_>, number: usize) -> gimli::Result<Result<(), String>> {
        let Some(unit) = view.unit(number) else { return Ok(Err("no such unit".into())) };
        let mut raw = unit.entries_raw(None)?;
        let mut open: Vec<isize> = Vec::new();
        while !raw.is_empty() {
            let level = raw.next_depth();
            let Some(abbreviation) = raw.read_abbreviation()? else { continue };
            while open.last().is_some_and(|&inside| inside >= level) {
                open.pop();
            }
            let tag = abbreviation.tag();
            let inlined = tag == dw::DW_TAG_inlined_subroutine;
            if !inlined && tag != dw::DW_TAG_subprogram && tag != dw::DW_TAG_compile_unit {
                raw.skip_attributes(abbreviation.attributes())?;
                continue;
            }
            let mut code = Code::default();
            for &spec in abbreviation.attributes() {
                let attribute = raw.read_attribute(spec)?;
                code.note(attribute.name(), attribute.value());
            }
            if !code.each(view.dwarf_of(number), &unit, &mut self.ranges, |_, _| {}) {
                return Ok(Err("too many address ranges".into()));
            }
            if inlined && abbreviation.has_children() {
                open.push(level);
            }
            if open.len() > MAX_DEPTH {
                return Ok(Err(format!("inlined more than {MAX_DEPTH} deep")));
            }
        }
        Ok(Ok(()))
    }

    fn lines(&mut self, view: &DieView<'_>, number: usize) -> Result<(), String> {
        let Some(offset) = view.units.get(number).and_then(|unit| unit.lines) else {
            return Ok(());
        };
        let Ok(program) = view.dwarf.debug_line.program(offset, 4, None, None) else {
            return Ok(());
        };
        let header: &LineProgramHeader<Slice<'_>> = program.header();
        match self.lines.checked_sub(header.unit_length()) {
            Some(left) => self.lines = left,
            None => return Err("too many line tables, or one shared by too many units".into()),
        }
        if is_unreadable(header) { Err("a line table steps back too far".into()) } else { Ok(()) }
    }
}

/// Whether a line table contains the one number that gimli 0.34 cannot negate when it steps back.
pub(crate) fn is_unreadable(header: &LineProgramHeader<Slice<'_>>) -> bool {
    /// The least 64-bit number, as SLEB128.
    const LEAST: [u8; 10] = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f];
    header.raw_program_buf().slice().windows(LEAST.len()).any(|bytes| bytes == LEAST)
}
