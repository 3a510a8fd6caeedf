//! The headers, segments and sections of the ELF file, checked against the file's end.

use std::borrow::Cow;
use std::ops::Range;

use object::LittleEndian;
use object::elf::{self, FileHeader32};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};

use crate::error::Error;
use crate::problem::Problem;

type Header = FileHeader32<LittleEndian>;
const LE: LittleEndian = LittleEndian;

/// The most bytes of all sections of a file together after decompression: a few bytes can claim
/// gigabytes, and with Zstandard contain them.
pub(crate) const MAX_DECOMPRESSED: u64 = 128 << 20;

/// The highest plausible ratio: zlib compresses by 1032 at most.
const MAX_RATIO: u64 = 1100;

/// A loadable segment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SegmentInfo {
    pub(crate) address: u32,
    pub(crate) physical: u32,
    pub(crate) memory_size: u32,
    pub(crate) file: Range<usize>,
    pub(crate) executable: bool,
    pub(crate) writable: bool,
}

/// One section header, with its range in the file (empty for `.bss`).
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SectionInfo {
    pub(crate) name: String,
    pub(crate) address: u32,
    pub(crate) size: u32,
    pub(crate) file: Range<usize>,
    pub(crate) kind: u32,
    pub(crate) link: u32,
    pub(crate) allocated: bool,
    pub(crate) executable: bool,
    pub(crate) writable: bool,
    pub(crate) compressed: Option<Compressed>,
}

/// The header of a compressed section.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Compressed {
    format: elf::CompressionType,
    size: u64,
    /// The length of the header in bytes.
    header: usize,
}

/// The contents of the ELF headers.
#[derive(Clone, Debug, Default)]
pub(crate) struct ElfHeaders {
    pub(crate) entry: u32,
    /// Whether instructions may be compressed to 16 bits.
    pub(crate) compressed_code: bool,
    pub(crate) segments: Vec<SegmentInfo>,
    pub(crate) sections: Vec<SectionInfo>,
}

impl ElfHeaders {
    /// Reads the headers; reports errors of single segments or sections in `problems`.
    pub(crate) fn parse(data: &[u8], problems: &mut Vec<Problem>) -> Result<ElfHeaders, Error> {
        let header = check(data)?;
        if header.e_type(LE) == elf::ET_REL {
            problems.push(Problem::Relocatable);
        }
        let segments = segments(header, data, problems)?;
        let sections = sections(header, data, problems)?;
        let compressed_code = header.e_flags(LE).contains(elf::EF_RISCV_RVC);
        Ok(ElfHeaders { entry: header.e_entry(LE), compressed_code, segments, sections })
    }

    /// Returns the first section of this name.
    pub(crate) fn section(&self, name: &str) -> Option<&SectionInfo> {
        self.sections.iter().find(|section| section.name == name)
    }

    /// Whether an address can contain code. Linkers keep the line tables and ranges of functions
    /// that they dropped, at address 0; these must not match the first bytes of memory.
    pub(crate) fn is_code(&self, address: u32) -> bool {
        let within = |start: u32, size: u32| address.wrapping_sub(start) < size;
        let mut sections = self.sections.iter().filter(|s| s.allocated && s.executable).peekable();
        if sections.peek().is_none() {
            return self.segments.iter().any(|s| s.executable && within(s.address, s.memory_size));
        }
        sections.any(|s| within(s.address, s.size))
    }
}

impl SectionInfo {
    /// Returns the section's bytes, decompressed if needed. The error is a reason for a `Problem`.
    /// `left` is the number of bytes that may still be decompressed.
    pub(crate) fn bytes<'a>(
        &self,
        data: &'a [u8],
        left: &mut u64,
    ) -> Result<Cow<'a, [u8]>, String> {
        let raw = data.get(self.file.clone()).unwrap_or_default();
        let Some(compressed) = self.compressed else { return Ok(Cow::Borrowed(raw)) };
        let packed = raw.get(compressed.header..).unwrap_or_default();
        let claimed = compressed.size;
        let zstd = compressed.format == elf::ELFCOMPRESS_ZSTD;
        let rest = left
            .checked_sub(claimed)
            .filter(|_| zstd || claimed / MAX_RATIO <= packed.len() as u64);
        let Some(rest) = rest else {
            return Err(format!("claims to decompress to {claimed} bytes"));
        };
        *left = rest;
        let format = match compressed.format {
            elf::ELFCOMPRESS_ZLIB => object::CompressionFormat::Zlib,
            elf::ELFCOMPRESS_ZSTD => object::CompressionFormat::Zstandard,
            other => return Err(format!("unknown compression {}", other.0)),
        };
        object::CompressedData { format, data: packed, uncompressed_size: claimed }
            .decompress()
            .map_err(|error| error.to_string())
    }
}

/// Checks that the bytes are an ELF for RISC-V cores.
fn check(data: &[u8]) -> Result<&Header, Error> {
    if !data.starts_with(&elf::ELFMAG) {
        return Err(Error::NotElf { starts: data.iter().take(8).copied().collect() });
    }
    match data.get(elf::ELFMAG.len()..elf::ELFMAG.len() + 2) {
        Some([2, _]) => return Err(Error::Not32Bit),
        Some([1, 2]) => return Err(Error::NotLittleEndian),
        Some([1, 1]) => {}
        Some(_) => return Err(Error::NotElf { starts: data.iter().take(8).copied().collect() }),
        None => return Err(outside("ELF header", 0, size_of::<Header>() as u64, data)),
    }
    let header = Header::parse(data)
        .map_err(|_| outside("ELF header", 0, size_of::<Header>() as u64, data))?;
    match header.e_machine(LE) {
        elf::EM_RISCV => Ok(header),
        elf::Machine(machine) => Err(Error::NotRiscV { machine }),
    }
}

fn outside(what: &'static str, offset: u64, size: u64, data: &[u8]) -> Error {
    Error::Truncated { what, offset, end: offset.saturating_add(size), length: data.len() as u64 }
}

fn segments(
    header: &Header,
    data: &[u8],
    problems: &mut Vec<Problem>,
) -> Result<Vec<SegmentInfo>, Error> {
    let size = u64::from(header.e_phnum(LE)) * u64::from(header.e_phentsize(LE));
    let headers = header
        .program_headers(LE, data)
        .map_err(|_| outside("program headers", u64::from(header.e_phoff(LE)), size, data))?;
    let loaded = headers.iter().filter(|h| h.p_type(LE) == elf::PT_LOAD);
    let segments = loaded.map(|h| {
        let file = clip(h.p_offset(LE), h.p_filesz(LE), data);
        let missing = u64::from(h.p_filesz(LE)) - file.len() as u64;
        if missing > 0 {
            problems.push(Problem::Segment { address: u64::from(h.p_vaddr(LE)), missing });
        }
        SegmentInfo {
            address: h.p_vaddr(LE),
            physical: h.p_paddr(LE),
            memory_size: h.p_memsz(LE),
            file,
            executable: h.p_flags(LE).contains(elf::PF_X),
            writable: h.p_flags(LE).contains(elf::PF_W),
        }
    });
    Ok(segments.collect())
}

fn sections(
    header: &Header,
    data: &[u8],
    problems: &mut Vec<Problem>,
) -> Result<Vec<SectionInfo>, Error> {
    if header.e_shoff(LE) == 0 {
        problems.push(Problem::NoSections);
        return Ok(Vec::new());
    }
    let size = u64::from(header.e_shnum(LE)) * u64::from(header.e_shentsize(LE));
    let headers = header
        .section_headers(LE, data)
        .map_err(|_| outside("section headers", u64::from(header.e_shoff(LE)), size, data))?;
    let names = header.section_strings(LE, data, headers).unwrap_or_default();
    let sections = headers.iter().map(|h| {
        let name = h.name(LE, names).map_or_else(
            |_| format!("at {:#x}", h.sh_offset(LE)),
            |name| String::from_utf8_lossy(name).into_owned(),
        );
        section(name, h, data, problems)
    });
    Ok(sections.collect())
}

fn section(
    name: String,
    h: &elf::SectionHeader32<LittleEndian>,
    data: &[u8],
    problems: &mut Vec<Problem>,
) -> SectionInfo {
    let (offset, size) = h.file_range(LE).unwrap_or_default();
    let file = clip(offset as u32, size as u32, data);
    if (file.len() as u64) < size {
        let reason = format!("the file lacks its last {} bytes", size - file.len() as u64);
        problems.push(Problem::Section { name: name.clone(), reason });
    }
    let compressed = h.compression(LE, data).ok().flatten().map(|(header, ..)| Compressed {
        format: header.ch_type.get(LE),
        size: u64::from(header.ch_size.get(LE)),
        header: size_of::<elf::CompressionHeader32<LittleEndian>>(),
    });
    let old = old_compression(&name, data.get(file.clone()).unwrap_or_default());
    let (name, compressed) = old.map_or((name, compressed), |(name, old)| (name, Some(old)));
    let flags = h.sh_flags(LE);
    SectionInfo {
        name,
        address: h.sh_addr(LE),
        size: h.sh_size(LE),
        file,
        kind: h.sh_type(LE).0,
        link: h.sh_link(LE),
        allocated: flags.contains(elf::SHF_ALLOC),
        executable: flags.contains(elf::SHF_EXECINSTR),
        writable: flags.contains(elf::SHF_WRITE),
        compressed,
    }
}

/// Returns the header of an old compressed section, from before ELF had a flag for compression:
/// `.debug_info` was named `.zdebug_info` and started with `ZLIB` and its size, big-endian.
fn old_compression(name: &str, bytes: &[u8]) -> Option<(String, Compressed)> {
    let plain = name.strip_prefix(".z").filter(|plain| plain.starts_with("debug_"))?;
    let size = bytes.strip_prefix(b"ZLIB")?.first_chunk::<8>()?;
    let size = u64::from_be_bytes(*size);
    Some((format!(".{plain}"), Compressed { format: elf::ELFCOMPRESS_ZLIB, size, header: 12 }))
}

/// Returns the part of `offset..offset + size` inside the file.
fn clip(offset: u32, size: u32, data: &[u8]) -> Range<usize> {
    let start = (offset as usize).min(data.len());
    let end = start.saturating_add(size as usize).min(data.len());
    start..end
}
