//! A word or register of the data files, and groups of them with a field per name.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::Deref;

/// Whether a passive client may read a range or register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadAccess {
    /// Safe to read.
    #[default]
    Read,
    /// Reading has a side effect, and needs the user's command.
    Effect,
    /// Must not be read.
    Never,
}

/// The user's permission that a write needs.
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WritePermission {
    /// Plain memory, and registers that neither stop nor start a core.
    #[default]
    Write,
    /// The control register of the debug bus, which changes no core.
    Sample,
    /// Registers that stop or inspect a core.
    Halt,
    /// Words that start firmware or a kernel.
    Launch,
    /// Registers and words that reset, retrain or clock-gate hardware.
    Reset,
    /// Writing is never permitted.
    Never,
}

impl WritePermission {
    /// Returns the permission's name on the command line.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// A register or word: its place in its block, size, meaning and access rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Byte offset in the group's block (L1 groups: the L1 address).
    pub at: u64,
    /// Size in bytes of one element.
    #[serde(default = "word")]
    pub bytes: u64,
    /// Number of elements.
    #[serde(default = "one")]
    pub count: u64,
    /// Bytes from one element to the next; `bytes` if missing.
    #[serde(default)]
    pub stride: Option<u64>,
    /// Whether it may be read.
    #[serde(default)]
    pub access: ReadAccess,
    /// The permission that a write needs.
    #[serde(default)]
    pub write: WritePermission,
    /// Why it may not be read without a command.
    #[serde(default)]
    pub why: Option<String>,
    /// Its meaning.
    pub note: String,
    /// Source of the numbers, if not the group's.
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
    /// Returns the byte offset of element `index` in the group's block, without a check of `index`.
    pub fn nth(&self, index: u64) -> u64 {
        self.at + index * self.step()
    }

    /// Returns the offset after the last element.
    pub fn end(&self) -> u64 {
        self.nth(self.count.saturating_sub(1)) + self.bytes
    }

    /// Returns the element that contains `offset`, and the offset in the element.
    pub fn locate(&self, offset: u64) -> Option<(u64, u64)> {
        let past = offset.checked_sub(self.at)?;
        let (index, rest) = (past.checked_div(self.step())?, past.checked_rem(self.step())?);
        (index < self.count && rest < self.bytes).then_some((index, rest))
    }

    fn step(&self) -> u64 {
        self.stride.unwrap_or(self.bytes)
    }
}

/// A block of registers. `R` has one field per register, so that callers write `niu.node_id.at`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group<R> {
    /// Source of the numbers.
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

/// Registers that can be listed by name.
pub trait Named {
    /// Returns the name and entry of each register, in the order of the source.
    fn entries(&self) -> Vec<(&'static str, &Entry)>;
}

/// A [`Group`] of any type of registers.
pub trait AnyGroup {
    /// Returns the size of the block in bytes.
    fn bytes(&self) -> u64;
    /// Returns the name and entry of each register.
    fn entries(&self) -> Vec<(&'static str, &Entry)>;
    /// Returns the source of the numbers of `entry`.
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
    /// Takes a register out. [`Self::finish`] reports a missing one: an error here would give each
    /// field of a group an early return of its own.
    pub(crate) fn take(&mut self, name: &'static str) -> Entry {
        let entry = self.by_name.remove(name);
        if entry.is_none() {
            self.missing = Some(name);
        }
        entry.unwrap_or_default()
    }

    /// Returns an error unless exactly the registers that were taken are there.
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
