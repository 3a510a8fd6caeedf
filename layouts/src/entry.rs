//! One word or register in the data files, and groups of them with a field per name.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Deref;

/// May this be read by somebody who only looks?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Safe to read.
    #[default]
    Read,
    /// Reading changes something: only on a person's command.
    Effect,
    /// Must not be read.
    Never,
}

/// What a person must have allowed before this may be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Writing {
    /// Plain memory, and registers that neither stop nor start anything.
    #[default]
    Write,
    /// Registers that stop a core or look into it.
    Halt,
    /// Words that start firmware or a kernel.
    Launch,
    /// Registers and words that reset or retrain something, or switch its clock off.
    Reset,
    /// Nobody may.
    Never,
}

impl Writing {
    /// The word by which a person allows it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Halt => "halt",
            Self::Launch => "launch",
            Self::Reset => "reset",
            Self::Never => "never",
        }
    }
}

/// A register or word: where it stands in its block, how big it is, what it is, and whether it may be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Byte offset in the group's block (L1 groups: the L1 address).
    pub at: u64,
    /// Size in bytes of one element.
    #[serde(default = "word")]
    pub bytes: u64,
    /// How many elements.
    #[serde(default = "one")]
    pub count: u64,
    /// Bytes from one element to the next; the size where not told.
    #[serde(default)]
    pub stride: Option<u64>,
    /// May it be read.
    #[serde(default)]
    pub access: Access,
    /// What must be allowed before it may be written.
    #[serde(default)]
    pub write: Writing,
    /// Why it may not simply be read.
    #[serde(default)]
    pub why: Option<String>,
    /// What it is.
    pub note: String,
    /// Where the numbers come from, if not from the group's source.
    #[serde(default)]
    pub source: Option<String>,
}

fn word() -> u64 {
    4
}

fn one() -> u64 {
    1
}

impl Entry {
    /// Byte offset of element `index` in the group's block; elements past the last are not checked.
    pub fn nth(&self, index: u64) -> u64 {
        self.at + index * self.step()
    }

    /// First byte after the last element.
    pub fn end(&self) -> u64 {
        self.nth(self.count.saturating_sub(1)) + self.bytes
    }

    /// The element that holds `offset`, and the distance from its start.
    pub fn locate(&self, offset: u64) -> Option<(u64, u64)> {
        let past = offset.checked_sub(self.at)?;
        let (index, rest) = (past.checked_div(self.step())?, past.checked_rem(self.step())?);
        (index < self.count && rest < self.bytes).then_some((index, rest))
    }

    fn step(&self) -> u64 {
        self.stride.unwrap_or(self.bytes)
    }
}

/// A block of registers: `R` has one field per register, so callers write `niu.node_id.at`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group<R> {
    /// Where the numbers come from.
    pub source: String,
    /// Size of the block in bytes.
    pub bytes: u64,
    /// The registers.
    pub registers: R,
}

impl<R> Deref for Group<R> {
    type Target = R;
    fn deref(&self) -> &R {
        &self.registers
    }
}

/// Registers that can be walked by name.
pub trait Named {
    /// Name and entry of each register, in the order of the source.
    fn entries(&self) -> Vec<(&'static str, &Entry)>;
}

/// A [`Group`] whatever its registers are.
pub trait AnyGroup {
    /// Size of the block in bytes.
    fn bytes(&self) -> u64;
    /// Name and entry of each register.
    fn entries(&self) -> Vec<(&'static str, &Entry)>;
    /// Where the numbers of `entry` come from.
    fn source_of<'a>(&'a self, entry: &'a Entry) -> &'a str;
}

impl<R: Named> AnyGroup for Group<R> {
    fn bytes(&self) -> u64 {
        self.bytes
    }
    fn entries(&self) -> Vec<(&'static str, &Entry)> {
        self.registers.entries()
    }
    fn source_of<'a>(&'a self, entry: &'a Entry) -> &'a str {
        entry.source.as_deref().unwrap_or(&self.source)
    }
}

/// Registers by name, as a data file has them.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Entries {
    by_name: BTreeMap<String, Entry>,
    #[serde(skip)]
    missing: Option<&'static str>,
}

impl Entries {
    /// Takes a register out. One that is missing is for [`Self::finish`] to tell: to tell it here would give each of a
    /// group's fields a way out of its own.
    pub(crate) fn take(&mut self, name: &'static str) -> Entry {
        let entry = self.by_name.remove(name);
        if entry.is_none() {
            self.missing = Some(name);
        }
        entry.unwrap_or_default()
    }

    /// Every register that was asked for was there, and no other.
    pub(crate) fn finish(self) -> Result<(), String> {
        match (self.missing, self.by_name.keys().next()) {
            (Some(name), _) => Err(format!("missing register `{name}`")),
            (None, Some(name)) => Err(format!("unknown register `{name}`")),
            (None, None) => Ok(()),
        }
    }
}

/// Declares the fields of a group once; the data file must have exactly these names.
macro_rules! registers {
    ($(#[$meta:meta])* $name:ident { $($field:ident),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, serde::Deserialize)]
        #[serde(try_from = "crate::entry::Entries")]
        pub struct $name {
            $(
                #[doc = concat!("`", stringify!($field), "`: see its note in the data file.")]
                pub $field: $crate::entry::Entry,
            )*
        }

        impl TryFrom<$crate::entry::Entries> for $name {
            type Error = String;
            fn try_from(mut entries: $crate::entry::Entries) -> Result<Self, String> {
                let all = Self { $($field: entries.take(stringify!($field))),* };
                entries.finish().map(|()| all)
            }
        }

        impl $crate::entry::Named for $name {
            fn entries(&self) -> Vec<(&'static str, &$crate::entry::Entry)> {
                vec![$((stringify!($field), &self.$field)),*]
            }
        }
    };
}
pub(crate) use registers;
