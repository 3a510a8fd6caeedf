//! Entry points for untrusted bytes: one function per kind of lookup, shared by cargo-fuzz and the
//! seeded mutator of `tests/mutations`. Each makes all lookups of its kind, and each must return.

use std::path::Path;

use symbols::{Expression, Kind, Module, Registers, Symbols, Type, backtrace};

/// The most names looked up; a file can have any number.
const MAX_NAMES: usize = 100;

/// An entry point: its name and its function.
pub(crate) type Entry = (&'static str, fn(&[u8]));

/// All entry points.
pub(crate) const ENTRIES: [Entry; 5] =
    [("load", load), ("types", types), ("values", values), ("unwind", unwind), ("split", split)];

fn symbols(bytes: &[u8]) -> Option<Symbols> {
    Symbols::load(bytes.to_vec(), "bytes").ok().map(|(symbols, _)| symbols)
}

fn addresses(symbols: &Symbols) -> Vec<u64> {
    let segments = symbols.segments();
    let inside = segments.iter().flat_map(|segment| {
        let length = segment.bytes.len().min(1 << 10) as u64;
        (0..length).step_by(6).map(|offset| segment.address.wrapping_add(offset))
    });
    inside.chain([symbols.entry(), 0, u64::from(u32::MAX)]).collect()
}

/// ELF, symbols, lines and frames.
pub(crate) fn load(bytes: &[u8]) {
    let Some(symbols) = symbols(bytes) else { return };
    let _ = (symbols.section(".text"), symbols.elf().len());
    for address in addresses(&symbols) {
        let _ = symbols.frames_at(address);
        let _ = symbols.symbol_at(address).map(|symbol| symbol.demangled());
        let _ = symbols.file_bytes(address, 64);
        let _ = symbols.initial(address, &mut [0; 16]);
        let _ = symbols.section_at(address);
    }
    let _ = symbols.symbol("start");
    all_code(&symbols);
    problems_have_text(&symbols);
}

/// Functions, and code by source line.
fn all_code(symbols: &Symbols) {
    for name in symbols.function_names().iter().take(MAX_NAMES) {
        let _ = symbols.functions(name).map(|found| found.len());
    }
    for file in symbols.source_files().iter().take(8) {
        for line in symbols.lines_with_code(file).into_iter().take(16) {
            let _ = symbols.code_of_line(file, line).map(|code| code.len());
        }
    }
    let _ = symbols.code_of_line("tiny.cpp", 1).map_err(|error| symbols.suggestions(&error));
}

/// Checks that every problem has a text.
fn problems_have_text(symbols: &Symbols) {
    for problem in symbols.problems() {
        assert!(!problem.to_string().is_empty());
    }
}

/// Types: names, layouts, members, pointers.
pub(crate) fn types(bytes: &[u8]) {
    let Some(symbols) = symbols(bytes) else { return };
    all_types(&symbols);
    problems_have_text(&symbols);
}

fn all_types(symbols: &Symbols) {
    for name in symbols.type_names().iter().take(MAX_NAMES) {
        let Some(ty) = symbols.type_named(name) else { continue };
        one_type(symbols, &ty);
        let _ = symbols.type_named(&format!("struct {name}"));
        let _ = symbols.template_argument(&format!("{name}::N"));
    }
}

fn one_type(symbols: &Symbols, ty: &Type) {
    let _ = ty.layout_text().len();
    let _ = ty.holes().len();
    let _ = ty.decode(&[0x5a; 512]).to_string().len();
    let _ = ty.place("[0][1].slots[2].value");
    for member in ty.members().iter().take(50) {
        if let Some(name) = &member.name {
            let _ = ty.place(name);
        }
        if let Kind::Pointer(_) = member.ty.plain().kind() {
            let _ = symbols.pointee(&member.ty).map(|target| target.size());
        }
    }
}

/// Variables, constants, and expressions over memory whose bytes repeat their address.
pub(crate) fn values(bytes: &[u8]) {
    let Some(symbols) = symbols(bytes) else { return };
    all_values(&symbols);
    problems_have_text(&symbols);
}

fn all_values(symbols: &Symbols) {
    let names = [symbols.variable_names(), symbols.enumerator_names()].concat();
    for name in names.iter().take(MAX_NAMES) {
        let _ = symbols.variable(name);
        let _ =
            symbols.constant(name).map(|constant| constant.ty.decode(&constant.bytes).to_string());
        let _ =
            symbols.locate(&format!("{name}[1].x")).map_err(|error| symbols.suggestions(&error));
        for text in
            [name.clone(), format!("*{name}"), format!("&{name}"), format!("{name}->next->next")]
        {
            let Ok(expression) = Expression::parse(&text) else { continue };
            let place = expression.at(symbols.entry());
            let read = |address: u64, into: &mut [u8]| {
                into.fill(address as u8);
                if address > 0xffff_0000 { Err("unreadable") } else { Ok(()) }
            };
            let _ = symbols.evaluate(&place, read).map(|found| found.value.to_string().len());
        }
    }
}

/// Stacks from many addresses, through memory that leads back into the code.
pub(crate) fn unwind(bytes: &[u8]) {
    let Some(symbols) = symbols(bytes) else { return };
    let modules = [Module::new(symbols.clone()), Module { symbols: symbols.clone(), bias: 0x40 }];
    let code = addresses(&symbols);
    for &address in code.iter().step_by(code.len().div_ceil(16).max(1)) {
        let mut registers = Registers::default();
        registers.pc = u32::try_from(address).ok();
        for number in 1..32 {
            registers.set(number, Some(0xffb0_0000 + u32::from(number) * 16));
        }
        let trace = backtrace(&modules, &registers, |at: u64, into: &mut [u8]| {
            let target = code.get(at as usize / 4 % code.len().max(1)).copied().unwrap_or_default();
            let word = (target as u32).to_le_bytes();
            into.iter_mut().zip(word).for_each(|(byte, new)| *byte = new);
            if at.is_multiple_of(52) { Err("unreadable") } else { Ok(()) }
        });
        assert!(!trace.end.to_string().is_empty());
    }
    problems_have_text(&symbols);
}

/// Two files: the first four bytes are the length of the first, and the second is every other file
/// that the first names.
pub(crate) fn split(bytes: &[u8]) {
    let Some((length, both)) = bytes.split_first_chunk::<4>() else { return };
    let length = (u32::from_le_bytes(*length) as usize).min(both.len());
    let (first, second) = both.split_at(length);
    let read = |_: &Path| Some(second.to_vec());
    let Ok((symbols, _)) = Symbols::load_with(first.to_vec(), "/here/first.elf", read) else {
        return;
    };
    all_types(&symbols);
    all_values(&symbols);
    for address in addresses(&symbols).into_iter().step_by(8) {
        let _ = symbols.frames_at(address);
    }
    all_code(&symbols);
    problems_have_text(&symbols);
}
