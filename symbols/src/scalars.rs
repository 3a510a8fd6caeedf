//! Types that are single values: base types, and types that build no record.

use gimli::{AttributeValue, constants as dw};

use crate::builder::Builder;
use crate::die::Die;
use crate::types::{Encoding, Kind, Type};

impl<'a> Builder<'_, 'a> {
    /// Returns the entry's type if it contains no record, so that building it cannot recurse.
    pub(crate) fn scalar_target(&mut self, die: &Die<'a>) -> Option<Type> {
        /// The most typedefs and qualifiers followed.
        const MAX_OUTER: usize = 16;
        let first = self.view.reference(die, dw::DW_AT_type)?;
        let mut inner = first;
        for _ in 0..MAX_OUTER {
            let die = self.view.die(inner)?;
            match die.tag() {
                dw::DW_TAG_base_type | dw::DW_TAG_enumeration_type | dw::DW_TAG_pointer_type => {
                    return Some(self.build(first));
                }
                dw::DW_TAG_typedef | dw::DW_TAG_const_type | dw::DW_TAG_volatile_type => {
                    inner = self.view.reference(&die, dw::DW_AT_type)?;
                }
                _ => return None,
            }
        }
        None
    }

    pub(crate) fn base(&mut self, die: &Die<'a>) -> Type {
        let encoding = match die.attr(dw::DW_AT_encoding) {
            Some(AttributeValue::Encoding(encoding)) => encoding,
            _ => dw::DwAte(0),
        };
        let name = self.view.name(die);
        let is_char = matches!(name.as_deref(), Some("char" | "char8_t" | "char16_t" | "char32_t"));
        let encoding = match encoding {
            dw::DW_ATE_boolean => Encoding::Bool,
            dw::DW_ATE_float => Encoding::Float,
            dw::DW_ATE_unsigned_char | dw::DW_ATE_signed_char | dw::DW_ATE_UTF if is_char => {
                Encoding::Char
            }
            dw::DW_ATE_unsigned | dw::DW_ATE_unsigned_char | dw::DW_ATE_UTF => Encoding::Unsigned,
            dw::DW_ATE_signed | dw::DW_ATE_signed_char => Encoding::Signed,
            _ => Encoding::Other,
        };
        self.finish(die.id, die.udata(dw::DW_AT_byte_size), Kind::Base(encoding))
    }
}
