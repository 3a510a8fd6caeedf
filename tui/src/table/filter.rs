//! What is typed after `/`: words and fields, all of which must hold: `state=wait chip=3 rate<1M`.

use super::Row;

/// What a row is filtered and sorted by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Value {
    /// A number, in the unit of its field; none if it is not known.
    Number(Option<u64>),
    /// A text, in small letters.
    Text(String),
}

/// The terms of a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter(Vec<Term>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    /// A part of a text of the row, or of none.
    Word { word: String, holds: bool },
    /// A field against a value.
    Field { field: String, sign: Sign, text: String, number: Option<u64> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Is,
    IsNot,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// The longer ones first.
const SIGNS: [(&str, Sign); 6] = [
    ("!=", Sign::IsNot),
    ("<=", Sign::AtMost),
    (">=", Sign::AtLeast),
    ("=", Sign::Is),
    ("<", Sign::Less),
    (">", Sign::More),
];

impl Filter {
    /// Reads a filter for rows with these fields.
    ///
    /// # Errors
    /// A sentence about a field that they do not have, or a number that is none.
    pub(crate) fn parse(text: &str, fields: &[&'static str]) -> Result<Self, String> {
        text.to_lowercase().split_whitespace().map(|term| Term::parse(term, fields)).collect()
    }

    /// Whether a row passes.
    pub(crate) fn holds(&self, row: &Row) -> bool {
        self.0.iter().all(|term| term.holds(row))
    }
}

impl FromIterator<Term> for Filter {
    fn from_iter<T: IntoIterator<Item = Term>>(terms: T) -> Self {
        Self(terms.into_iter().collect())
    }
}

impl Term {
    fn parse(term: &str, fields: &[&'static str]) -> Result<Self, String> {
        let first = SIGNS.iter().filter_map(|(text, sign)| Some((term.find(text)?, text, sign)));
        let Some((at, text, sign)) = first.min_by_key(|(at, text, _)| (*at, 2 - text.len())) else {
            let bare = term.strip_prefix('-').filter(|rest| !rest.is_empty());
            let word = bare.unwrap_or(term).to_owned();
            return Ok(Self::Word { word, holds: bare.is_none() });
        };
        let (field, value) = (&term[..at], &term[at + text.len()..]);
        // Of a table without rows nothing is known.
        if !fields.is_empty() && !fields.contains(&field) {
            return Err(format!("no field is called {field}: {}", fields.join(", ")));
        }
        let number = number(value);
        let orders = !matches!(sign, Sign::Is | Sign::IsNot);
        if orders && number.is_none() && !value.is_empty() {
            return Err(format!("{field} is a number, such as 10, 4k, 1M or 20ms, not '{value}'"));
        }
        Ok(Self::Field { field: field.to_owned(), sign: *sign, text: value.to_owned(), number })
    }

    fn holds(&self, row: &Row) -> bool {
        match self {
            Self::Word { word, holds } => {
                let has = |cell: &super::Cell| cell.text.content.to_lowercase().contains(word);
                row.cells.iter().any(has) == *holds
            }
            Self::Field { field, sign, text, number } => {
                let cells = row.cells.iter().map(|cell| (cell.field, &cell.value));
                let hidden = row.hidden.iter().map(|(field, value)| (*field, value));
                let mut values = cells.chain(hidden).filter(|(name, _)| name == field);
                let is = |value: &Value| compares(value, *sign, text, *number);
                // Not to be 3 holds if none of several is.
                if *sign == Sign::IsNot {
                    return values.all(|(_, value)| is(value));
                }
                values.any(|(_, value)| is(value))
            }
        }
    }
}

fn compares(value: &Value, sign: Sign, text: &str, number: Option<u64>) -> bool {
    match (value, sign) {
        // Still being typed.
        _ if text.is_empty() => true,
        (Value::Text(own), Sign::Is) => own.contains(text),
        (Value::Text(own), Sign::IsNot) => !own.contains(text),
        (Value::Text(_), _) => false,
        (Value::Number(None), Sign::Is) => text == "?",
        (Value::Number(None), sign) => sign == Sign::IsNot && text != "?",
        (Value::Number(Some(own)), sign) => match (sign, number) {
            (Sign::IsNot, number) => number != Some(*own),
            (_, None) => false,
            (Sign::Is, Some(number)) => *own == number,
            (Sign::Less, Some(number)) => *own < number,
            (Sign::AtMost, Some(number)) => *own <= number,
            (Sign::More, Some(number)) => *own > number,
            (Sign::AtLeast, Some(number)) => *own >= number,
        },
    }
}

/// A count such as 4k or 0x20, or a time in cycles of a nanosecond such as 20ms.
fn number(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 9] = [
        ("", 1),
        ("b", 1),
        ("k", 1_000),
        ("m", 1_000_000),
        ("g", 1_000_000_000),
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
    ];
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok();
    }
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let mut value = whole.parse::<u64>().ok()?.checked_mul(*factor)?;
    let mut share = *factor;
    for digit in part.chars() {
        share /= 10;
        value = value.checked_add(share * u64::from(digit.to_digit(10)?))?;
    }
    Some(value)
}
