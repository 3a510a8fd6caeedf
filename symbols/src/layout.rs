//! Segments, sections, and the file's own bytes at an address.

use crate::bytes::Bytes;
use crate::error::Error;
use crate::image::ElfHeaders;
use crate::mapping;
use crate::symbols::Symbols;
use std::path::Path;

/// A loadable part of the image.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Segment<'a> {
    /// Its address as its core sees it.
    pub address: u64,
    /// The address where the loader puts it, if different: code for private memory is copied from
    /// there.
    pub load_address: u64,
    /// The bytes to load.
    pub bytes: &'a [u8],
    /// Its size in memory; the part after `bytes` is zero.
    pub memory_size: u64,
    /// Whether it holds code.
    pub executable: bool,
    /// Whether the program writes to it.
    pub writable: bool,
}

/// A section of the file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Section<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its address in memory; 0 if it is not loaded.
    pub address: u64,
    /// Its size in memory.
    pub size: u64,
    /// Its bytes in the file; empty for `.bss`.
    pub bytes: &'a [u8],
    /// Whether it is loaded.
    pub allocated: bool,
    /// Whether it holds code.
    pub executable: bool,
    /// Whether the program writes to it.
    pub writable: bool,
}

/// The segments and sections of a file, without what it says of its code: of thousands of files only
/// the texts are compared.
pub struct Elf {
    bytes: Bytes,
    headers: ElfHeaders,
}

impl Elf {
    /// Reads an ELF from a regular file, as [`Symbols::open`] does.
    ///
    /// # Errors
    /// As those of [`Symbols::open`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        mapping::open_in_part(path)
            .map_err(|error| Error::unreadable(path, &error))
            .and_then(Self::new)
    }

    /// Reads an ELF from these bytes.
    ///
    /// # Errors
    /// As those of [`Symbols::load`].
    pub fn load(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Result<Self, Error> {
        Self::new(Box::new(bytes))
    }

    fn new(bytes: Bytes) -> Result<Self, Error> {
        let headers = ElfHeaders::parse((*bytes).as_ref(), &mut Vec::new())?;
        Ok(Self { bytes, headers })
    }

    /// Returns the loadable segments in file order.
    pub fn segments(&self) -> Vec<Segment<'_>> {
        self.headers.segments_of((*self.bytes).as_ref())
    }

    /// Returns the first section of this name.
    pub fn section(&self, name: &str) -> Option<Section<'_>> {
        self.headers.section_of(name, (*self.bytes).as_ref())
    }
}

impl ElfHeaders {
    fn segments_of<'a>(&self, data: &'a [u8]) -> Vec<Segment<'a>> {
        let segments = self.segments.iter().map(|segment| Segment {
            address: segment.address.into(),
            load_address: segment.physical.into(),
            bytes: data.get(segment.file.clone()).unwrap_or_default(),
            memory_size: segment.memory_size.into(),
            executable: segment.executable,
            writable: segment.writable,
        });
        segments.collect()
    }

    fn section_of<'a>(&'a self, name: &str, data: &'a [u8]) -> Option<Section<'a>> {
        let section = self.section(name)?;
        Some(Section {
            name: &section.name,
            address: section.address.into(),
            size: section.size.into(),
            bytes: data.get(section.file.clone()).unwrap_or_default(),
            allocated: section.allocated,
            executable: section.executable,
            writable: section.writable,
        })
    }
}

impl Symbols {
    /// Returns the entry point.
    pub fn entry(&self) -> u64 {
        self.inner.image.entry.into()
    }

    /// Whether instructions may be compressed to 16 bits, which a baby RISC-V core cannot execute.
    pub fn has_compressed_code(&self) -> bool {
        self.inner.image.compressed_code
    }

    /// Returns the loadable segments in file order.
    pub fn segments(&self) -> Vec<Segment<'_>> {
        self.inner.image.segments_of(self.inner.data())
    }

    /// Returns the first section of this name.
    pub fn section(&self, name: &str) -> Option<Section<'_>> {
        self.inner.image.section_of(name, self.inner.data())
    }

    /// Returns the file's bytes at an address: initial values and code, not the current content.
    pub fn file_bytes(&self, address: u64, size: u64) -> Option<&[u8]> {
        self.inner.image.segments.iter().find_map(|segment| {
            let bytes = self.inner.data().get(segment.file.clone())?;
            let start = usize::try_from(address.checked_sub(segment.address.into())?).ok()?;
            bytes.get(start..start.checked_add(usize::try_from(size).ok()?)?)
        })
    }
}
