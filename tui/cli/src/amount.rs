//! Amounts as users write them: sizes with K, M and G, chip lists, counts, times.

use console::run::SizeStep;
use console::words::shown;
use layouts::ChipId;
use machine::words::cycles_of;
use std::collections::BTreeSet;

/// More sizes than this in one sweep are an error of the step.
const MOST_SIZES: usize = 1_000;
/// A larger chip number than this is an error: no mesh has so many chips.
const MOST_CHIP: u16 = 4_095;

/// A count of bytes, with K, M or G for powers of 1024, as nccl-tests reads them.
pub(crate) fn bytes(option: &str, text: &str) -> Result<u64, String> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.strip_suffix(unit).unwrap_or_default();
    let factor = match unit {
        "" | "B" => Some(1),
        "K" | "k" => Some(1 << 10),
        "M" | "m" => Some(1 << 20),
        "G" | "g" => Some(1 << 30),
        _ => None,
    };
    let wrong = || format!("{option}: '{}' is not a size such as 4096, 4K, 1M or 1G", shown(text));
    let factor = factor.ok_or_else(wrong)?;
    if digits.is_empty() {
        return Err(wrong());
    }
    let large = || format!("{option}: {} is more bytes than 64 bits can count", shown(text));
    digits.parse::<u64>().ok().and_then(|count| count.checked_mul(factor)).ok_or_else(large)
}

/// A whole number within a range.
pub(crate) fn count(option: &str, text: &str, least: u32, most: u32) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| {
        format!("{option}: '{}' is not a whole number from {least} to {most}", shown(text))
    })
}

/// A time of the target, in cycles of a nanosecond.
pub(crate) fn time(option: &str, text: &str) -> Result<u64, String> {
    let cycles = cycles_of(text).filter(|cycles| *cycles < u64::MAX);
    cycles.ok_or_else(|| format!("{option}: '{}' is not a time such as 20ms or 500us", shown(text)))
}

/// Chips such as `0-7` or `0-3,5`, in this order, none twice.
pub(crate) fn chips(text: &str) -> Result<Vec<ChipId>, String> {
    let wrong = |part: &str| {
        format!("--chips: '{}' is not a chip number or range such as 0-7", shown(part))
    };
    let number = |part: &str, range: &str| {
        part.parse::<u16>().ok().filter(|chip| *chip <= MOST_CHIP).ok_or_else(|| wrong(range))
    };
    let mut seen = BTreeSet::new();
    let mut chips = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first, part)?, number(last, part)?);
        if first > last {
            return Err(format!("--chips: {part} runs backwards; {last}-{first} does not"));
        }
        for chip in first..=last {
            if !seen.insert(chip) {
                return Err(format!("--chips: chip {chip} is named twice"));
            }
            chips.push(ChipId(chip));
        }
    }
    Ok(chips)
}

/// All sizes of a sweep, the smallest first.
pub(crate) fn sizes(least: u64, most: u64, step: SizeStep) -> Result<Vec<u64>, String> {
    if least == 0 {
        return Err("-b: a size of 0 bytes moves no data".into());
    }
    if most < least {
        return Err(format!("-e: {most} is less than -b {least}"));
    }
    let next = |size: u64| match step {
        SizeStep::Factor(factor) => size.checked_mul(factor),
        SizeStep::Bytes(bytes) => size.checked_add(bytes),
    };
    let mut sizes = vec![least];
    while let Some(size) = sizes.last().copied().and_then(next).filter(|size| *size <= most) {
        if sizes.len() == MOST_SIZES {
            return Err(format!("-b {least} to -e {most} are more than {MOST_SIZES} sizes"));
        }
        sizes.push(size);
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, want) in
            [("1", 1), ("4096", 4096), ("4K", 4096), ("4k", 4096), ("1M", 1 << 20), ("2G", 2 << 30)]
        {
            assert_eq!(bytes("-b", text), Ok(want), "{text}");
        }
        for wrong in ["", "K", "4KB", "-1", "1.5M", "four", "4 K", "\u{1b}[2J", "99999999999G"] {
            let error = bytes("-b", wrong).unwrap_err();
            assert!(error.starts_with("-b: ") && !error.contains('\u{1b}'), "{wrong}: {error}");
        }
        assert!(bytes("-e", "18446744073709551615K").unwrap_err().contains("64 bits"));
    }

    #[test]
    fn sweeps_multiply_or_add() {
        assert_eq!(sizes(4, 32, SizeStep::Factor(2)), Ok(vec![4, 8, 16, 32]));
        assert_eq!(sizes(4, 33, SizeStep::Factor(3)), Ok(vec![4, 12]));
        assert_eq!(sizes(10, 30, SizeStep::Bytes(10)), Ok(vec![10, 20, 30]));
        assert_eq!(sizes(7, 7, SizeStep::Bytes(1)), Ok(vec![7]));
        assert_eq!(sizes(u64::MAX, u64::MAX, SizeStep::Factor(2)), Ok(vec![u64::MAX]));
        assert!(sizes(0, 7, SizeStep::Factor(2)).unwrap_err().starts_with("-b"));
        assert!(sizes(8, 7, SizeStep::Factor(2)).unwrap_err().contains("less than"));
        assert!(sizes(1, 1 << 30, SizeStep::Bytes(1)).unwrap_err().contains("sizes"));
    }

    #[test]
    fn chip_lists_are_ranges_and_numbers() {
        let list = |text| chips(text).map(|c| c.iter().map(|c| c.0).collect::<Vec<_>>());
        assert_eq!(list("0-3,5"), Ok(vec![0, 1, 2, 3, 5]));
        assert_eq!(list("7"), Ok(vec![7]));
        assert_eq!(list("4, 0-1"), Ok(vec![4, 0, 1]));
        for (wrong, word) in [
            ("", "''"),
            ("0-", "'0-'"),
            ("-3", "'-3'"),
            ("a", "'a'"),
            ("0,,1", "''"),
            ("3-0", "backwards"),
            ("0-3,2", "chip 2 is named twice"),
            ("0-99999", "'0-99999'"),
            ("5000", "'5000'"),
            ("1-2-3", "'1-2-3'"),
        ] {
            let error = list(wrong).unwrap_err();
            assert!(error.starts_with("--chips: ") && error.contains(word), "{wrong}: {error}");
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(time("--timeout", "20ms"), Ok(20_000_000));
        assert_eq!(time("--timeout", "1.5m"), Ok(90_000_000_000));
        for wrong in ["", "20", "ms", "20d", "99999999999999999s"] {
            assert!(time("--timeout", wrong).unwrap_err().contains("not a time"), "{wrong}");
        }
    }
}
