//! Types that no debug entry has, made for expressions: pointers to what was found, plain numbers,
//! and types as people spell them in casts.

use std::sync::Arc;

use crate::evaluate::Resolved;
use crate::ptype::declaration;
use crate::storage::to_bytes;
use crate::symbols::Symbols;
use crate::types::{Array, Encoding, Kind, Pointer, Target, Type, TypeData};
use crate::units::DieId;

/// The entry of what has none.
const NO_DIE: DieId = DieId(u32::MAX);

/// Stars and lengths one spelled type may have.
const MAX_MARKS: usize = 16;

/// The numbers that C++ always has, under each name that people and compilers give them.
const BASES: [(&[&str], u64, Encoding); 15] = [
    (&["unsigned char", "uint8_t", "std::uint8_t", "u8"], 1, Encoding::Unsigned),
    (&["signed char", "int8_t", "std::int8_t"], 1, Encoding::Signed),
    (
        &["short unsigned int", "unsigned short", "unsigned short int", "uint16_t"],
        2,
        Encoding::Unsigned,
    ),
    (&["short int", "short", "signed short", "int16_t"], 2, Encoding::Signed),
    (&["unsigned int", "unsigned", "uint32_t"], 4, Encoding::Unsigned),
    (&["int", "signed int", "signed", "int32_t"], 4, Encoding::Signed),
    (&["long unsigned int", "unsigned long", "unsigned long int", "size_t"], 4, Encoding::Unsigned),
    (&["long int", "long", "signed long"], 4, Encoding::Signed),
    (
        &["long long unsigned int", "unsigned long long", "unsigned long long int", "uint64_t"],
        8,
        Encoding::Unsigned,
    ),
    (&["long long int", "long long", "signed long long", "int64_t"], 8, Encoding::Signed),
    (&["uintptr_t"], 4, Encoding::Unsigned),
    (&["bool"], 1, Encoding::Bool),
    (&["char"], 1, Encoding::Char),
    (&["float"], 4, Encoding::Float),
    (&["double"], 8, Encoding::Float),
];

fn made(name: &str, size: Option<u64>, kind: Kind) -> Type {
    Type(Arc::new(TypeData { id: NO_DIE, name: name.into(), size, kind }))
}

/// A type for what only the symbol table knows: nothing can be read or followed.
pub(crate) fn unknown() -> Type {
    made("?", None, Kind::Unknown)
}

/// A number as C++ takes one that is written down: `int` where it fits, else 64 bits.
pub(crate) fn number(value: i128) -> Resolved {
    let (name, size, encoding) = if i32::try_from(value).is_ok() {
        ("int", 4, Encoding::Signed)
    } else if u32::try_from(value).is_ok() {
        ("unsigned int", 4, Encoding::Unsigned)
    } else if value > 0 {
        ("long long unsigned int", 8, Encoding::Unsigned)
    } else {
        ("long long int", 8, Encoding::Signed)
    };
    let ty = made(name, Some(size), Kind::Base(encoding));
    Resolved::constant(ty, to_bytes(value as u64, size))
}

/// The type of `&x`.
pub(crate) fn pointer_to(ty: &Type) -> Type {
    let name = declaration(ty.name(), "*");
    let whole = ty.name().ends_with([']', ')']);
    let name = if whole { declaration(ty.name(), "(*)") } else { name };
    let target = Some(Target::Type(ty.clone()));
    made(&name, Some(4), Kind::Pointer(Pointer { reference: false, target }))
}

fn array_of(element: &Type, lengths: Vec<Option<u64>>) -> Type {
    let text = lengths
        .iter()
        .fold(String::new(), |text, length| format!("{text}[{}]", length.unwrap_or_default()));
    let array = Array { element: element.clone(), lengths };
    let size = array.count().zip(element.size()).and_then(|(n, size)| n.checked_mul(size));
    made(&declaration(element.name(), &text), size, Kind::Array(array))
}

/// A type as people spell it: a name with `const` and `volatile` anywhere, stars, and lengths. What
/// is found nowhere in the file but every C++ has is made up.
pub(crate) fn spelled(symbols: &Symbols, text: &str) -> Option<Type> {
    if let Some(ty) = symbols.type_named(text) {
        return Some(ty);
    }
    let (text, lengths) = lengths(text.trim())?;
    let mut name = text.trim_end();
    let mut stars = 0;
    loop {
        name = without_qualifier_behind(name).trim_end();
        let Some(rest) = name.strip_suffix('*') else { break };
        stars += 1;
        name = rest.trim_end();
    }
    if stars > MAX_MARKS {
        return None;
    }
    let mut ty = plain(symbols, without_qualifiers_before(name))?;
    for _ in 0..stars {
        ty = pointer_to(&ty);
    }
    Some(if lengths.is_empty() { ty } else { array_of(&ty, lengths) })
}

fn plain(symbols: &Symbols, name: &str) -> Option<Type> {
    let base = BASES.iter().find(|(names, ..)| names.contains(&name));
    symbols
        .type_named(name)
        .or_else(|| {
            let (names, size, encoding) = base?;
            let known = names.iter().find_map(|name| symbols.type_named(name));
            let fits = known.filter(|ty| ty.size() == Some(*size));
            Some(fits.unwrap_or_else(|| made(name, Some(*size), Kind::Base(*encoding))))
        })
        .or_else(|| {
            let void = || made("void", None, Kind::Void);
            (name == "void").then(void)
        })
}

fn without_qualifier_behind(text: &str) -> &str {
    let mut text = text.trim_end();
    while let Some(rest) = ["const", "volatile"]
        .iter()
        .find_map(|word| text.strip_suffix(word).filter(|rest| rest.ends_with([' ', '*'])))
    {
        text = rest.trim_end();
    }
    text
}

fn without_qualifiers_before(text: &str) -> &str {
    let mut text = text.trim_start();
    while let Some(rest) = ["const ", "volatile "].iter().find_map(|word| text.strip_prefix(word)) {
        text = rest.trim_start();
    }
    text
}

/// The text before the lengths, and the lengths; none if there is something else in the brackets.
fn lengths(text: &str) -> Option<(&str, Vec<Option<u64>>)> {
    let mut lengths = Vec::new();
    let mut text = text;
    while let Some((rest, length)) = text.strip_suffix(']').and_then(|t| t.rsplit_once('[')) {
        let length = length.trim();
        let number = match length.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => length.parse(),
        };
        lengths.insert(0, Some(number.ok()?));
        text = rest.trim_end();
        if lengths.len() > MAX_MARKS {
            return None;
        }
    }
    Some((text, lengths))
}
