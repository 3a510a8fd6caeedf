//! Records, whose lengths are checked before their parser allocates what they say.

use crate::error::Damage;
use mcap::records::{Record, op};

/// Parses the body of a record (the MCAP specification lists the fields of each kind).
///
/// # Errors
/// `Lengths` if a text or map of it ends behind it, `Record` if it is not MCAP.
pub(super) fn parse(kind: u8, body: &[u8]) -> Result<Record<'_>, Damage> {
    lengths_fit(kind, body).ok_or(Damage::Lengths)?;
    mcap::parse_record(kind, body).map_err(Damage::Record)
}

fn lengths_fit(kind: u8, body: &[u8]) -> Option<()> {
    let rest = &mut Fields(body);
    match kind {
        op::HEADER => rest.text()?.text(),
        op::SCHEMA => rest.skip(2)?.text()?.text()?.text(),
        op::CHANNEL => rest.skip(4)?.text()?.text()?.map(),
        op::CHUNK => rest.skip(28)?.text(),
        // Behind its texts, the length of its data and a checksum.
        op::ATTACHMENT => rest.skip(16)?.text()?.text()?.skip(8 + 4),
        op::CHUNK_INDEX => rest.skip(32)?.text()?.skip(8)?.text(),
        op::ATTACHMENT_INDEX => rest.skip(40)?.text()?.text(),
        op::METADATA => rest.text()?.map(),
        op::METADATA_INDEX => rest.skip(16)?.text(),
        _ => Some(rest),
    }
    .map(|_| ())
}

/// What is left of a body.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.0.split_at_checked(bytes)?;
        self.0 = rest;
        Some(field)
    }

    /// Takes a text, or another field behind its length in four bytes.
    fn text_field(&mut self) -> Option<&'a [u8]> {
        let len = self.take(4)?.try_into().map(u32::from_le_bytes).ok()?;
        self.take(len as usize)
    }

    fn skip(&mut self, bytes: usize) -> Option<&mut Self> {
        self.take(bytes).map(|_| self)
    }

    fn text(&mut self) -> Option<&mut Self> {
        self.text_field().map(|_| self)
    }

    /// Skips a map of texts, behind its length in four bytes.
    fn map(&mut self) -> Option<&mut Self> {
        let mut texts = Fields(self.text_field()?);
        while !texts.0.is_empty() {
            texts.text()?;
        }
        Some(self)
    }
}
