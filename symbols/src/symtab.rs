//! The ELF symbol table: by name and by address, read in place.

use std::ops::Range;

use object::LittleEndian;
use object::elf::{self, Sym32};
use object::pod::slice_from_all_bytes;
use object::read::elf::Sym;

use crate::demangle::demangle;
use crate::image::Image;
use crate::names::hash;

const LE: LittleEndian = LittleEndian;

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SymbolKind {
    /// Code.
    Function,
    /// Data.
    Object,
    /// A label without a type, as assembly and linker scripts leave them.
    Label,
}

/// Who can see a symbol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Binding {
    /// Its own object file.
    Local,
    /// Everyone.
    Global,
    /// Everyone, until somebody defines it for good.
    Weak,
}

/// One entry of the ELF symbol table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Symbol {
    /// The name as the linker saw it, mangled.
    pub name: String,
    /// Where it is.
    pub address: u64,
    /// How many bytes it covers; 0 where the table does not say.
    pub size: u64,
    /// What it stands for.
    pub kind: SymbolKind,
    /// Who can see it.
    pub binding: Binding,
    /// The section it is in; none for absolute symbols.
    pub section: Option<String>,
}

impl Symbol {
    /// The name as a person would write it; none if it is not a mangled C++ name.
    pub fn demangled(&self) -> Option<String> {
        demangle(&self.name)
    }
}

/// Where the table is in the file, and two orders over it.
#[derive(Debug, Default)]
pub(crate) struct SymbolTable {
    symbols: Range<usize>,
    strings: Range<usize>,
    by_name: Vec<(u32, u32)>,
    by_address: Vec<(u32, u32)>,
}

impl SymbolTable {
    /// Sorts the table's entries; undefined symbols, files, sections and mapping marks stay out.
    pub(crate) fn build(data: &[u8], image: &Image) -> SymbolTable {
        let table = image.sections.iter().find(|s| s.kind == elf::SHT_SYMTAB.0);
        let strings = table.and_then(|table| image.sections.get(table.link as usize));
        let (Some(table), Some(strings)) = (table, strings) else { return SymbolTable::default() };
        let mut built = SymbolTable {
            symbols: table.file.clone(),
            strings: strings.file.clone(),
            ..SymbolTable::default()
        };
        let entries = built.entries(data);
        let mut by_name = Vec::with_capacity(entries.len());
        let mut by_address = Vec::with_capacity(entries.len());
        for (index, symbol) in entries.iter().enumerate() {
            let name = built.name(data, symbol);
            if name.is_empty() || kind(symbol).is_none() {
                continue;
            }
            by_name.push((hash(name), index as u32));
            if addressable(symbol, name) {
                by_address.push((symbol.st_value(LE), index as u32));
            }
        }
        by_name.sort_unstable();
        by_address.sort_unstable();
        built.by_name = by_name;
        built.by_address = by_address;
        built
    }

    /// Whether there is anything to build from.
    pub(crate) fn is_in(image: &Image) -> bool {
        image.sections.iter().any(|s| s.kind == elf::SHT_SYMTAB.0)
    }

    fn entries<'a>(&self, data: &'a [u8]) -> &'a [Sym32<LittleEndian>] {
        let bytes = data.get(self.symbols.clone()).unwrap_or_default();
        let whole = bytes.len() - bytes.len() % size_of::<Sym32<LittleEndian>>();
        bytes.get(..whole).and_then(|b| slice_from_all_bytes(b).ok()).unwrap_or_default()
    }

    fn name<'a>(&self, data: &'a [u8], symbol: &Sym32<LittleEndian>) -> &'a [u8] {
        let strings = data.get(self.strings.clone()).unwrap_or_default();
        let rest = strings.get(symbol.st_name(LE) as usize..).unwrap_or_default();
        rest.split(|&byte| byte == 0).next().unwrap_or_default()
    }

    fn symbol(&self, data: &[u8], image: &Image, index: u32) -> Option<Symbol> {
        let symbol = self.entries(data).get(index as usize)?;
        let section = image.sections.get(usize::from(symbol.st_shndx(LE).0));
        Some(Symbol {
            name: String::from_utf8_lossy(self.name(data, symbol)).into_owned(),
            address: u64::from(symbol.st_value(LE)),
            size: u64::from(symbol.st_size(LE)),
            kind: kind(symbol)?,
            binding: match symbol.st_bind() {
                elf::STB_LOCAL => Binding::Local,
                elf::STB_WEAK => Binding::Weak,
                _ => Binding::Global,
            },
            section: section.map(|s| s.name.clone()),
        })
    }

    /// The symbol of that (mangled) name; a global one before a local one.
    pub(crate) fn named(&self, data: &[u8], image: &Image, name: &str) -> Option<Symbol> {
        let wanted = hash(name.as_bytes());
        let start = self.by_name.partition_point(|&(hash, _)| hash < wanted);
        let entries = self.entries(data);
        let mut found = None;
        for &(_, index) in self.by_name.get(start..)?.iter().take_while(|(h, _)| *h == wanted) {
            let Some(symbol) = entries.get(index as usize) else { continue };
            if self.name(data, symbol) != name.as_bytes() {
                continue;
            }
            if symbol.st_bind() != elf::STB_LOCAL {
                return self.symbol(data, image, index);
            }
            found.get_or_insert(index);
        }
        self.symbol(data, image, found?)
    }

    /// All functions, by address.
    pub(crate) fn functions(&self, data: &[u8], image: &Image) -> Vec<Symbol> {
        let symbols = self.by_address.iter().filter_map(|&(_, at)| self.symbol(data, image, at));
        symbols.filter(|symbol| symbol.kind == SymbolKind::Function).collect()
    }

    /// The symbol that covers the address: the nearest at or below it, unless that one ends before.
    pub(crate) fn at(&self, data: &[u8], image: &Image, address: u32) -> Option<Symbol> {
        /// Labels of size 0 and overlapping symbols may hide the right one, but never far away.
        const LOOK_BACK: usize = 64;
        let end = self.by_address.partition_point(|&(value, _)| value <= address);
        let entries = self.entries(data);
        let mut label = None;
        for &(value, index) in self.by_address.get(..end)?.iter().rev().take(LOOK_BACK) {
            let Some(symbol) = entries.get(index as usize) else { continue };
            let size = symbol.st_size(LE);
            if address - value < size {
                return self.symbol(data, image, index);
            }
            if size == 0 && kind(symbol) == Some(SymbolKind::Label) && label.is_none() {
                label = self.symbol(data, image, index).filter(|s| in_section(image, s, address));
            }
        }
        label
    }
}

/// A label reaches to the end of its section at most.
fn in_section(image: &Image, symbol: &Symbol, address: u32) -> bool {
    let section = symbol.section.as_deref().and_then(|name| image.section(name));
    section.is_some_and(|s| s.allocated && address.wrapping_sub(s.address) < s.size)
}

fn kind(symbol: &Sym32<LittleEndian>) -> Option<SymbolKind> {
    if symbol.is_undefined(LE) {
        return None;
    }
    match symbol.st_type() {
        elf::STT_FUNC => Some(SymbolKind::Function),
        elf::STT_OBJECT => Some(SymbolKind::Object),
        elf::STT_NOTYPE => Some(SymbolKind::Label),
        _ => None,
    }
}

/// Absolute symbols are numbers, and RISC-V mapping marks (`$x`, `$d`) and `.L` labels say nothing.
fn addressable(symbol: &Sym32<LittleEndian>, name: &[u8]) -> bool {
    !symbol.is_absolute(LE) && !name.starts_with(b"$") && !name.starts_with(b".L")
}
