//! The initial content of memory: the file's bytes, and the zeros of `.bss`.

use crate::error::Error;
use crate::layout::Section;
use crate::symbols::Symbols;

impl Symbols {
    /// Fills `bytes` with the initial values and code at an address as its core sees it, not with
    /// the current content. Code and data that start code copies to private memory count as copied.
    pub fn initial(&self, address: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let length = bytes.len() as u64;
        let absent = || Error::NotInFile { address, length };
        let end = address.checked_add(length).ok_or_else(absent)?;
        let segment = self.inner.image.segments.iter().find(|segment| {
            let start = u64::from(segment.address);
            start <= address && end <= start.saturating_add(segment.memory_size.into())
        });
        let segment = segment.ok_or_else(absent)?;
        let file = self.inner.data().get(segment.file.clone()).unwrap_or_default();
        let start = usize::try_from(address - u64::from(segment.address)).map_err(|_| absent())?;
        let known = file.get(start..).unwrap_or_default();
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = known.get(at).copied().unwrap_or(0);
        }
        Ok(())
    }

    /// Returns how many bytes from an address have an initial value.
    pub fn initial_length(&self, address: u64) -> u64 {
        let ends = self.inner.image.segments.iter().filter_map(|segment| {
            let start = u64::from(segment.address);
            let end = start.saturating_add(segment.memory_size.into());
            (start..end).contains(&address).then(|| end - address)
        });
        ends.max().unwrap_or(0)
    }

    /// Returns the section that contains an address.
    pub fn section_at(&self, address: u64) -> Option<Section<'_>> {
        let address = u32::try_from(address).ok()?;
        let mut sections = self.inner.image.sections.iter();
        let found = sections.find(|s| s.allocated && address.wrapping_sub(s.address) < s.size)?;
        self.section(&found.name)
    }
}
