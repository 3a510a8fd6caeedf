//! Counts, sizes and times in words.

use serde::Serializer;
use std::fmt::{Display, Write as _};

/// Units of time, with their cycles of 1 ns, the shortest first.
pub(crate) const UNITS: [(&str, u64); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Serializes a value as its words.
///
/// # Errors
/// That of the serializer.
pub fn in_words<S: Serializer>(value: &impl Display, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(value)
}

/// Formats a count with its noun: `1 entry`, `2 entries`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Formats device time at 1 GHz (a cycle is a nanosecond), in the largest unit that keeps it readable.
pub fn cycles(cycles: u64) -> String {
    match cycles {
        0..10_000 => format!("{cycles} ns"),
        10_000..10_000_000 => format!("{:.2} us", cycles as f64 / 1e3),
        10_000_000..10_000_000_000 => format!("{:.3} ms", cycles as f64 / 1e6),
        _ => format!("{:.3} s", cycles as f64 / 1e9),
    }
}

/// Formats bytes in the order of memory, two digits each.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Formats a count of bytes, exact below 10,000 or if it is a whole number of KiB.
pub fn bytes(bytes: u64) -> String {
    match bytes {
        1024.. if bytes.is_multiple_of(1024) && bytes < 10_240_000 => format!("{}K", bytes / 1024),
        0..10_000 => format!("{bytes}B"),
        10_000..10_240_000 => format!("{}K", bytes / 1024),
        _ => format!("{}M", bytes / (1024 * 1024)),
    }
}

/// Parses a number, hexadecimal after `0x`; `_` may separate digits.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub fn number(text: &str) -> Result<u64, String> {
    let digits = text.replace('_', "");
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    value.map_err(|_| format!("'{text}' is not a number (decimal, or hexadecimal after 0x)"))
}

/// Parses a time with its unit, such as `20ms`, `1.5s` or `10m` for 10 minutes, into cycles of 1 ns;
/// none for other words. More than 64 bits hold is the most that they do.
pub fn cycles_of(text: &str) -> Option<u64> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == &text[number.len()..])?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |digits: &str| digits.bytes().all(|it| it.is_ascii_digit());
    if [whole, part].iter().any(|digits| digits.is_empty() || !is_number(digits)) {
        return None;
    }
    let mut cycles = whole.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(*unit);
    let mut place = *unit;
    for digit in part.bytes() {
        place /= 10;
        cycles = cycles.saturating_add(u64::from(digit - b'0') * place);
    }
    Some(cycles)
}

#[cfg(test)]
mod tests {
    use super::cycles_of;

    #[test]
    fn times_have_units() {
        let times = ["20ms", "500us", "1.5s", "0.25us", "2m", "0ns", "3.14159265358979s"];
        let cycles = [20_000_000, 500_000, 1_500_000_000, 250, 120_000_000_000, 0, 3_141_592_653];
        assert_eq!(times.map(cycles_of), cycles.map(Some));
        assert_eq!(cycles_of("99999999999999999999999s"), Some(u64::MAX));
        for wrong in ["", "20", "ms", "1.s", ".5s", "1.2.3s", "-1s", "5d", "1e3s"] {
            assert_eq!(cycles_of(wrong), None, "{wrong}");
        }
    }
}
