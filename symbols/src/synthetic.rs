//! Types without a debug entry, made for expressions: pointers, plain numbers, and types as spelled
//! in casts.

use std::sync::Arc;

use crate::expression::Literal;
use crate::ptype::declaration;
use crate::resolved::Resolved;
use crate::storage::to_bytes;
use crate::symbols::Symbols;
use crate::types::{Array, Encoding, Kind, Pointer, Target, Type, TypeData};
use crate::units::DieId;

/// The id of types without an entry.
const NO_DIE: DieId = DieId(u32::MAX);

/// The most stars or lengths of one spelled type.
const MAX_MARKS: usize = 16;

/// The numbers that C++ always has, under all their names.
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

fn new_type(name: &str, size: Option<u64>, kind: Kind) -> Type {
    Type(Arc::new(TypeData { id: NO_DIE, name: name.into(), size, kind }))
}

/// Returns the type of a symbol whose debug information has no size: with that of the symbol, its
/// array is complete, and other content is a number or bytes. Without both it cannot be read.
pub(crate) fn sized(ty: Option<&Type>, size: u64) -> Type {
    let name = ty.map_or("?", Type::name);
    let open = ty.and_then(Type::array).filter(|array| array.lengths.first() == Some(&None));
    let complete = open.and_then(|array| {
        let rest = array.lengths.get(1..)?;
        let inner = rest.iter().try_fold(array.element.size()?, |n, it| n.checked_mul((*it)?))?;
        let length = size.checked_div(inner).filter(|_| size.checked_rem(inner) == Some(0))?;
        let lengths = std::iter::once(Some(length)).chain(rest.iter().copied());
        Some(array_of(&array.element, lengths.collect()))
    });
    complete.unwrap_or_else(|| match size {
        0 => ty.cloned().unwrap_or_else(|| new_type("?", None, Kind::Unknown)),
        1 | 2 | 4 | 8 => new_type(name, Some(size), Kind::Base(Encoding::Unsigned)),
        _ => {
            let byte = new_type("?", Some(1), Kind::Base(Encoding::Unsigned));
            let array = Array { element: byte, lengths: vec![Some(size)] };
            new_type(name, Some(size), Kind::Array(array))
        }
    })
}

/// Returns a number with the type that C++ gives its literal: the first that its suffix allows and
/// that holds it.
pub(crate) fn number(literal: Literal) -> Resolved {
    const TYPES: [(&str, usize, u64, bool); 6] = [
        ("int", 0, 4, true),
        ("unsigned int", 0, 4, false),
        ("long int", 1, 4, true),
        ("long unsigned int", 1, 4, false),
        ("long long int", 2, 8, true),
        ("long long unsigned int", 2, 8, false),
    ];
    let Literal { value, decimal, unsigned, longs } = literal;
    let fits = |&&(_, length, size, signed): &&(&str, usize, u64, bool)| {
        let allowed = if signed { !unsigned } else { unsigned || !decimal };
        let highest = (1i128 << (size * 8 - u64::from(signed))) - 1;
        length >= longs && allowed && value.abs() <= highest
    };
    let found = TYPES.iter().find(fits);
    let &(name, _, size, signed) = found.unwrap_or(&("long long unsigned int", 2, 8, false));
    let encoding = if signed { Encoding::Signed } else { Encoding::Unsigned };
    let ty = new_type(name, Some(size), Kind::Base(encoding));
    Resolved::computed(ty, to_bytes(value as u64, size))
}

/// Returns an integer of 4 or 8 bytes.
pub(crate) fn integer(value: i128, size: u64, signed: bool) -> Resolved {
    let (name, encoding) = match (size, signed) {
        (4, true) => ("int", Encoding::Signed),
        (4, false) => ("unsigned int", Encoding::Unsigned),
        (_, true) => ("long long int", Encoding::Signed),
        (_, false) => ("long long unsigned int", Encoding::Unsigned),
    };
    Resolved::computed(
        new_type(name, Some(size), Kind::Base(encoding)),
        to_bytes(value as u64, size),
    )
}

/// Returns the value of `sizeof`.
pub(crate) fn size(value: u64) -> Resolved {
    number(Literal { value: value.into(), decimal: true, unsigned: true, longs: 0 })
}

/// Returns the type of `&x`.
pub(crate) fn pointer_to(ty: &Type) -> Type {
    let name = declaration(ty.name(), "*");
    let whole = ty.name().ends_with([']', ')']);
    let name = if whole { declaration(ty.name(), "(*)") } else { name };
    let target = Some(Target::Type(ty.clone()));
    new_type(&name, Some(4), Kind::Pointer(Pointer { reference: false, target }))
}

fn array_of(element: &Type, lengths: Vec<Option<u64>>) -> Type {
    let text = lengths
        .iter()
        .fold(String::new(), |text, length| format!("{text}[{}]", length.unwrap_or_default()));
    let array = Array { element: element.clone(), lengths };
    // A size that overflows saturates: no memory is that large.
    let size = element.size().map(|size| {
        let lengths = array.lengths.iter().flatten();
        lengths.fold(size, |size, length| size.saturating_mul(*length))
    });
    new_type(&declaration(element.name(), &text), size, Kind::Array(array))
}

/// Returns a type as spelled in source: a name with `const` and `volatile` anywhere, stars, and
/// lengths. Types that C++ always has are made if the file does not have them.
pub(crate) fn spelled_type(symbols: &Symbols, text: &str) -> Option<Type> {
    if let Some(ty) = symbols.type_named(text) {
        return Some(ty);
    }
    let (text, lengths) = lengths(text.trim())?;
    let mut stars = Vec::new();
    let (mut name, mut own) = qualifiers_behind(text);
    while let Some(rest) = name.strip_suffix('*') {
        stars.push(own);
        (name, own) = qualifiers_behind(rest);
    }
    if stars.len() > MAX_MARKS {
        return None;
    }
    let (name, before) = qualifiers_before(name);
    let mut ty = qualified(plain(symbols, name)?, own.and(before));
    for own in stars.into_iter().rev() {
        ty = qualified(pointer_to(&ty), own);
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
            Some(fits.unwrap_or_else(|| new_type(name, Some(*size), Kind::Base(*encoding))))
        })
        .or_else(|| {
            let void = || new_type("void", None, Kind::Void);
            (name == "void").then(void)
        })
}

/// The qualifiers of one part of a type.
#[derive(Clone, Copy, Default)]
struct Qualifiers {
    constant: bool,
    volatile: bool,
}

impl Qualifiers {
    fn and(self, other: Qualifiers) -> Qualifiers {
        Qualifiers {
            constant: self.constant || other.constant,
            volatile: self.volatile || other.volatile,
        }
    }

    fn note(&mut self, word: &str) {
        self.constant |= word == "const";
        self.volatile |= word == "volatile";
    }
}

/// Adds qualifiers: before a name, and after a pointer's star.
fn qualified(ty: Type, own: Qualifiers) -> Type {
    let words = match (own.constant, own.volatile) {
        (false, false) => return ty,
        (true, false) => "const",
        (false, true) => "volatile",
        (true, true) => "const volatile",
    };
    let pointer = ty.name().ends_with('*');
    let name = if pointer { format!("{} {words}", ty.name()) } else { format!("{words} {ty}") };
    let size = ty.size();
    new_type(&name, size, Kind::Qualified(ty))
}

fn qualifiers_behind(text: &str) -> (&str, Qualifiers) {
    let (mut text, mut found) = (text.trim_end(), Qualifiers::default());
    while let Some((word, rest)) = ["const", "volatile"].into_iter().find_map(|word| {
        let rest = text.strip_suffix(word).filter(|rest| rest.ends_with([' ', '*']));
        rest.map(|rest| (word, rest))
    }) {
        found.note(word);
        text = rest.trim_end();
    }
    (text, found)
}

fn qualifiers_before(text: &str) -> (&str, Qualifiers) {
    let (mut text, mut found) = (text.trim_start(), Qualifiers::default());
    while let Some((word, rest)) = ["const", "volatile"].into_iter().find_map(|word| {
        let rest = text.strip_prefix(word).filter(|rest| rest.starts_with(' '));
        rest.map(|rest| (word, rest))
    }) {
        found.note(word);
        text = rest.trim_start();
    }
    (text, found)
}

/// Returns the text before the lengths, and the lengths; none if the brackets contain anything
/// else.
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
