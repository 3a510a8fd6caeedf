//! The deserializer of a tree.

use super::{Node, TextError, Value};
use serde::de::value::U64Deserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;
use std::fmt;
use std::marker::PhantomData;
use std::slice::Iter;

impl Error for TextError {
    fn custom<T: fmt::Display>(what: T) -> Self {
        Self::new(0, what.to_string())
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let expected = expected.join(", ");
        Self::new(0, format!("unknown field `{field}`, expected one of {expected}"))
    }
}

impl Node {
    fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// A whole number, decimal or with the prefix of another base.
    fn number(&self) -> Option<i128> {
        let text = self.text()?.trim();
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (base, digits) = match digits.get(..2) {
            Some("0x" | "0X") => (16, &digits[2..]),
            Some("0o" | "0O") => (8, &digits[2..]),
            Some("0b" | "0B") => (2, &digits[2..]),
            _ if digits.len() > 1 && digits.starts_with('0') => return None,
            _ => (10, digits),
        };
        let well_parted = digits.split('_').all(|part| !part.is_empty());
        if !well_parted || digits.starts_with(['+', '-']) {
            return None;
        }
        let number = i128::from_str_radix(&digits.replace('_', ""), base).ok()?;
        Some(if negative { -number } else { number })
    }

    fn truth(&self) -> Option<bool> {
        let text = self.text()?;
        let one_of = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
        if one_of(["true", "yes", "y", "on"]) {
            Some(true)
        } else {
            one_of(["false", "no", "n", "off"]).then_some(false)
        }
    }

    fn string(&self) -> Result<&str, TextError> {
        let text = self.text().filter(|_| !self.is_null());
        text.ok_or_else(|| self.wrong("expected a string"))
    }

    fn items(&self) -> Result<Items<'_>, TextError> {
        match &self.value {
            Value::List(items) => Ok(Items(items.iter())),
            _ if self.is_null() => Ok(Items([].iter())),
            _ => Err(self.wrong("expected sequence start")),
        }
    }

    fn pairs(&self) -> Result<Pairs<'_>, TextError> {
        match &self.value {
            Value::Map(pairs) => Ok(Pairs { left: pairs.iter(), value: None }),
            _ if self.is_null() => Ok(Pairs { left: [].iter(), value: None }),
            _ => Err(self.wrong("expected mapping start")),
        }
    }
}

macro_rules! whole {
    ($($method:ident $visit:ident $type:ident,)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
            let number = self.number().and_then(|number| $type::try_from(number).ok());
            visitor.$visit(number.ok_or_else(|| self.wrong(concat!("invalid ", stringify!($type))))?)
        }
    )*};
}

impl<'de> Deserializer<'de> for &Node {
    type Error = TextError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        match &self.value {
            Value::List(_) => self.deserialize_seq(visitor),
            Value::Map(_) => self.deserialize_map(visitor),
            Value::Scalar { .. } if self.is_null() => visitor.visit_unit(),
            Value::Scalar { text, plain: false } => visitor.visit_str(text),
            Value::Scalar { text, plain: true } => {
                match (self.number().and_then(|number| u64::try_from(number).ok()), self.truth()) {
                    (Some(number), _) => visitor.visit_u64(number),
                    (None, Some(truth)) => visitor.visit_bool(truth),
                    (None, None) => visitor.visit_str(text),
                }
            }
        }
    }

    whole!(
        deserialize_u8 visit_u8 u8, deserialize_u16 visit_u16 u16, deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64, deserialize_i8 visit_i8 i8, deserialize_i16 visit_i16 i16,
        deserialize_i32 visit_i32 i32, deserialize_i64 visit_i64 i64,
    );

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_bool(self.truth().ok_or_else(|| self.wrong("invalid bool"))?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_str(self.string()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_str(self.string()?)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_str(self.text().unwrap_or_default())
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, TextError> {
        match name {
            SPANNED => visitor.visit_seq(LineAndValue { line: Some(self.line), node: self }),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        let mut items = self.items()?;
        let count = items.0.len();
        let value = visitor.visit_seq(&mut items)?;
        match items.0.len() {
            0 => Ok(value),
            left => Err(self.wrong(&format!("expected {} values, not {count}", count - left))),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, TextError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, TextError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_map(self.pairs()?)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TextError> {
        visitor.visit_map(self.pairs()?)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TextError> {
        visitor.visit_enum(self.string()?.into_deserializer())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_unit()
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        let number = self.text().and_then(|text| text.parse().ok());
        visitor.visit_f64(number.ok_or_else(|| self.wrong("invalid number"))?)
    }

    forward_to_deserialize_any! { i128 u128 f32 char bytes byte_buf unit unit_struct }
}

struct Items<'a>(Iter<'a, Node>);

impl<'de> SeqAccess<'de> for &mut Items<'_> {
    type Error = TextError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, TextError> {
        let Some(item) = self.0.next() else { return Ok(None) };
        seed.deserialize(item).map(Some).map_err(|error| error.at(item.line))
    }
}

struct Pairs<'a> {
    left: Iter<'a, (Node, Node)>,
    value: Option<&'a Node>,
}

impl<'de> MapAccess<'de> for Pairs<'_> {
    type Error = TextError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, TextError> {
        let Some((key, value)) = self.left.next() else { return Ok(None) };
        self.value = Some(value);
        seed.deserialize(key).map(Some).map_err(|error| error.at(key.line))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, TextError> {
        let value = self.value.take().ok_or_else(|| TextError::custom("no key before a value"))?;
        seed.deserialize(value).map_err(|error| error.at(value.line))
    }
}

/// A value with the line it begins in.
#[derive(Clone, Copy, Debug)]
pub struct Spanned<T> {
    /// The line, from 1.
    pub line: u64,
    /// The value.
    pub value: T,
}

/// The name by which [`Spanned`] asks [`Node`] for [`LineAndValue`].
const SPANNED: &str = "a value with its line";

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(SPANNED, SpannedVisitor(PhantomData))
    }
}

struct SpannedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SpannedVisitor<T> {
    type Value = Spanned<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SPANNED)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut both: A) -> Result<Spanned<T>, A::Error> {
        match (both.next_element()?, both.next_element()?) {
            (Some(line), Some(value)) => Ok(Spanned { line, value }),
            _ => Err(A::Error::custom(SPANNED)),
        }
    }
}

/// First the line, then the value.
struct LineAndValue<'a> {
    line: Option<u64>,
    node: &'a Node,
}

impl<'de> SeqAccess<'de> for LineAndValue<'_> {
    type Error = TextError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, TextError> {
        match self.line.take() {
            Some(line) => seed.deserialize(U64Deserializer::new(line)),
            None => seed.deserialize(self.node),
        }
        .map(Some)
    }
}
