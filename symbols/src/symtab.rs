//! The ELF symbol table, searched in place by name and by address.

use std::ops::Range;

use object::LittleEndian;
use object::elf::{self, Sym32};
use object::pod::slice_from_all_bytes;
use object::read::elf::Sym;

use crate::demangle::demangle;
use crate::image::ElfHeaders;
use crate::names::hash;

const LE: LittleEndian = LittleEndian;

/// The kind of a symbol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SymbolKind {
    /// Code.
    Function,
    /// Data.
    Object,
    /// A label without a type, as in assembly and linker scripts.
    Label,
}

/// The visibility of a symbol.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Binding {
    /// Visible in its own object file.
    Local,
    /// Visible everywhere.
    Global,
    /// Visible everywhere, and replaced by a global definition.
    Weak,
}

/// One entry of the ELF symbol table.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Symbol {
    /// The mangled name.
    pub name: String,
    /// The address.
    pub address: u64,
    /// The number of bytes it covers; 0 if the table has no size.
    pub size: u64,
    /// The kind.
    pub kind: SymbolKind,
    /// The visibility.
    pub binding: Binding,
    /// Its section; none for absolute symbols.
    pub section: Option<String>,
}

impl Symbol {
    /// Returns the name as written in source; none if it is not a mangled C++ name.
    pub fn demangled(&self) -> Option<String> {
        demangle(&self.name)
    }
}

/// The place of the table in the file, and two orders over it.
#[derive(Debug, Default)]
pub(crate) struct SymbolTable {
    symbols: Range<usize>,
    strings: Range<usize>,
    by_name: Vec<(u32, u32)>,
    by_address: Vec<(u32, u32)>,
}

impl SymbolTable {
    /// Sorts the table's entries; excludes undefined symbols, files, sections and mapping symbols.
    pub(crate) fn build(data: &[u8], image: &ElfHeaders) -> SymbolTable {
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

    /// Whether the image has a symbol table.
    pub(crate) fn is_in(image: &ElfHeaders) -> bool {
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

    fn symbol(&self, data: &[u8], image: &ElfHeaders, index: u32) -> Option<Symbol> {
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

    /// Returns the symbol of this mangled name; prefers a global symbol to a local one.
    pub(crate) fn named(&self, data: &[u8], image: &ElfHeaders, name: &str) -> Option<Symbol> {
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

    /// Returns all functions, by address.
    pub(crate) fn functions(&self, data: &[u8], image: &ElfHeaders) -> Vec<Symbol> {
        let symbols = self.by_address.iter().filter_map(|&(_, at)| self.symbol(data, image, at));
        symbols.filter(|symbol| symbol.kind == SymbolKind::Function).collect()
    }

    /// Returns the symbol that covers the address: the nearest at or below it that reaches the
    /// address.
    pub(crate) fn at(&self, data: &[u8], image: &ElfHeaders, address: u32) -> Option<Symbol> {
        /// Labels of size 0 and overlapping symbols may precede the right one, but not many.
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

/// Whether the address is in the label's section, where a label ends at the latest.
fn in_section(image: &ElfHeaders, symbol: &Symbol, address: u32) -> bool {
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

/// Whether a symbol names an address. Absolute symbols are numbers; RISC-V mapping symbols (`$x`,
/// `$d`) and `.L` labels have no meaning for users.
fn addressable(symbol: &Sym32<LittleEndian>, name: &[u8]) -> bool {
    !symbol.is_absolute(LE) && !name.starts_with(b"$") && !name.starts_with(b".L")
}
