//! Times of a fabric snapshot: UTC as RFC 3339 writes it, such as `2026-09-15T12:00:00Z`.

const SECONDS_OF_DAY: u64 = 86_400;

/// Returns microseconds since the Unix epoch; none for other text and for times before it.
pub(super) fn micros(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time, ':')?;
    let date_is_valid = (1970..10_000).contains(&year) && (1..=12).contains(&month) && day < 32;
    if !date_is_valid || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = SECONDS_OF_DAY * days(year, month, day) + 3_600 * hour + 60 * minute + second;
    let micros = fraction.chars().chain("000000".chars()).take(6).collect::<String>();
    Some(seconds * 1_000_000 + micros.parse::<u64>().ok()?)
}

fn numbers(text: &str, between: char) -> Option<[u64; 3]> {
    let found: Option<Vec<u64>> = text.split(between).map(|part| part.parse().ok()).collect();
    found?.try_into().ok()
}

/// Returns the days from 1970 to a date, in the Gregorian calendar; the year starts in March, so
/// that the leap day is its last.
fn days(year: u64, month: u64, day: u64) -> u64 {
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year / 4 - year / 100 + year / 400;
    // 719469 days from March 0000 to 1970, and one because a month starts with 1.
    (365 * year + leap_days + (153 * month + 2) / 5 + day).saturating_sub(719_469)
}
