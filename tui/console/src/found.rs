//! The result of an expression on a core: its place, and its value or why there is none.

use machine::snapshot::AccessError;
use std::fmt;
use symbols::{Evaluated, Storage, Type};

/// The result of an expression.
pub struct Found {
    /// The type; none if it is not known.
    pub ty: Option<Type>,
    /// Its size in bytes.
    pub size: Option<u64>,
    /// Where the value is.
    pub storage: Storage,
    /// The value.
    pub value: Value,
}

/// A value, or why there is none.
pub enum Value {
    /// The value.
    Known(symbols::Value),
    /// Why it could not be read.
    Missing(Unread),
}

impl Found {
    /// From the debug information.
    pub fn of(evaluated: Evaluated) -> Self {
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
    pub fn type_name(&self) -> &str {
        self.ty.as_ref().map_or("?", Type::name)
    }
}

/// Why memory could not be read.
#[derive(Clone, Debug)]
pub enum Unread {
    /// Only the core itself can read it.
    Nowhere(String),
    /// Nothing is known to be at this address.
    Unmapped(String),
    /// The target did not read it.
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
    /// The reason for JSON, and the sentence.
    pub fn reason(&self) -> (&'static str, String) {
        match self {
            Self::Nowhere(why) => ("private", why.clone()),
            Self::Unmapped(why) => ("unmapped", why.clone()),
            Self::Access(error) => (error.name(), error.to_string()),
        }
    }
}
