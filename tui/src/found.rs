//! What an expression led to on a core: where it is, and its value or why there is none.

use crate::words;
use machine::snapshot::AccessError;
use std::fmt;
use symbols::{Evaluated, Storage, Type};

/// What an expression led to.
pub(crate) struct Found {
    /// The type; none if that could not be found out.
    pub(crate) ty: Option<Type>,
    /// Its size in bytes.
    pub(crate) size: Option<u64>,
    /// Where the value is.
    pub(crate) storage: Storage,
    /// The value.
    pub(crate) value: Value,
}

/// A value, or why there is none.
pub(crate) enum Value {
    /// What stands there.
    Known(symbols::Value),
    /// Why it could not be read.
    Missing(Unread),
}

impl Found {
    /// From what the debug information says.
    pub(crate) fn of(evaluated: Evaluated) -> Self {
        let Evaluated { ty, storage, value, .. } = evaluated;
        let value = match &storage {
            Storage::Elsewhere(_) | Storage::Moving(_) => {
                let why = format!("it is {storage}, where nothing outside the core can read it");
                Value::Missing(Unread::Nowhere(why))
            }
            _ => Value::Known(value),
        };
        Self { size: ty.size(), ty: Some(ty), storage, value }
    }

    /// The type's name.
    pub(crate) fn type_name(&self) -> &str {
        self.ty.as_ref().map_or("?", Type::name)
    }
}

/// Why memory cannot be had.
#[derive(Clone, Debug)]
pub(crate) enum Unread {
    /// Only the core itself sees it.
    Nowhere(String),
    /// Nothing stands there.
    Unmapped(String),
    /// The target did not give it.
    Access(AccessError),
}

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nowhere(why) | Self::Unmapped(why) => f.write_str(why),
            Self::Access(error) => write!(f, "{error}"),
        }
    }
}

impl Unread {
    /// The word that JSON promises, and the sentence.
    pub(crate) fn reason(&self) -> (&'static str, String) {
        match self {
            Self::Nowhere(why) => ("private", why.clone()),
            Self::Unmapped(why) => ("unmapped", why.clone()),
            Self::Access(error) => (words::reason(error), error.to_string()),
        }
    }
}
