//! Names of an enumeration, from the DWARF of the image whose words have its values.

use machine::fabric::Direction;
use std::fmt;
use std::sync::Arc;
use symbols::{Symbols, Type};

/// A value of an enumeration, with its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumerator {
    /// The number.
    pub value: u64,
    /// The name in DWARF, such as `LINK_NONE_LEFT`, if it has one.
    pub name: Option<Arc<str>>,
    /// The name for a narrow column, such as `none left`.
    short: Option<Arc<str>>,
}

impl Enumerator {
    /// Makes a value without a name.
    pub fn unnamed(value: u64) -> Self {
        Self { value, name: None, short: None }
    }

    /// Returns the name without the words that all names of the enumeration share, or the number.
    pub fn short(&self) -> String {
        self.short.as_deref().map_or_else(|| self.value.to_string(), str::to_owned)
    }
}

/// The name, or the number.
impl fmt::Display for Enumerator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => f.write_str(name),
            None if self.value > 9 => write!(f, "{:#x}", self.value),
            None => write!(f, "{}", self.value),
        }
    }
}

impl AsRef<Self> for Enumerator {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// The enumerators of a type, in source order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enumeration(Vec<Enumerator>);

impl Enumeration {
    /// Finds an enumeration by name.
    pub fn named(symbols: &Symbols, name: &str) -> Option<Arc<Self>> {
        Self::of(&symbols.type_named(name)?, "")
    }

    /// Makes the enumeration of a type, without a prefix of its names; none if the type is no
    /// enumeration.
    pub(crate) fn of(ty: &Type, prefix: &str) -> Option<Arc<Self>> {
        let all = ty.enumeration()?.enumerators.iter();
        let named = all.map(|e| (e.value as u64, e.name.strip_prefix(prefix).unwrap_or(&e.name)));
        Some(Arc::new(Self::new(&named.collect::<Vec<_>>())))
    }

    /// Makes an enumeration of values and names.
    pub fn new(all: &[(u64, &str)]) -> Self {
        let shared = |part: &str| all.iter().all(|(_, name)| name.split('_').any(|p| p == part));
        let short = |name: &str| -> Arc<str> {
            let parts: Vec<_> = name.split('_').filter(|part| !shared(part)).collect();
            if parts.is_empty() { name.into() } else { parts.join(" ").to_lowercase().into() }
        };
        let enumerator = |(value, name): &(u64, &str)| Enumerator {
            value: *value,
            name: Some((*name).into()),
            short: Some(short(name)),
        };
        Self(all.iter().map(enumerator).collect())
    }

    /// Makes `eth_chan_directions`, which compilers leave out.
    pub(crate) fn directions() -> Arc<Self> {
        let all: Vec<_> = (0..).zip(Direction::ALL.map(Direction::name)).collect();
        Arc::new(Self::new(&all))
    }

    /// Returns the enumerator of a value; unnamed if the value is unknown.
    pub fn of_value(&self, value: u64) -> Enumerator {
        let found = self.0.iter().find(|enumerator| enumerator.value == value);
        found.cloned().unwrap_or_else(|| Enumerator::unnamed(value))
    }

    /// Returns the value of a name.
    pub(crate) fn value(&self, name: &str) -> Option<u64> {
        let found = self.0.iter().find(|enumerator| enumerator.name.as_deref() == Some(name));
        found.map(|enumerator| enumerator.value)
    }

    /// Returns the position of a value in source order.
    pub fn position(&self, value: u64) -> Option<usize> {
        self.0.iter().position(|enumerator| enumerator.value == value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_name_leaves_out_what_all_names_share() {
        let of = |names: &[&str]| -> Vec<String> {
            let all: Vec<_> = (0..).zip(names.iter().copied()).collect();
            let all = Enumeration::new(&all);
            (0..=names.len() as u64).map(|value| all.of_value(value).short()).collect()
        };
        assert_eq!(of(&["LINK_DIRECT", "LINK_NONE_LEFT"]), ["direct", "none left", "2"]);
        let connections = ["UNUSED_CONNECTION", "CLOSE_CONNECTION_REQUEST"];
        assert_eq!(of(&connections), ["unused", "close request", "2"]);
        assert_eq!(of(&["STARTED"]), ["STARTED", "1"]);
    }
}
