//! By how much counters grow from one row to the next, also from file to file.

use crate::row::{Kind, Row, Text};
use std::collections::HashMap;

/// The counter of one end of a link.
type Counter = (Text, Option<Text>, [Option<i32>; 3], Text);

/// The newest value of each counter.
#[derive(Debug, Default)]
pub struct Changes(HashMap<Counter, (i64, i64)>);

/// Counters that count what is wrong.
const COUNTS_TROUBLE: [&str; 3] = ["retrain_count", "crc_errors", "uncorrected_codewords"];

impl Changes {
    /// Fills in the growth of a counter or gauge since its row before, and whether that is trouble. A
    /// counter that is smaller than before has begun again from 0. A row that is older than the one before, such as
    /// that of a file that overlaps, gets none.
    pub fn note(&mut self, row: &mut Row) {
        let Some(value) = row.value else { return };
        let at = [row.tray, row.chip, row.channel];
        let counter = (row.host.clone(), row.board.clone(), at, row.name.clone());
        let before = self.0.get(&counter).copied();
        if before.is_some_and(|(time, _)| time > row.time_micros) {
            return;
        }
        let again = |before| value < before && row.kind != Kind::Card;
        let grown = |before| if again(before) { value } else { value - before };
        row.change = before.map(|(_, before)| grown(before));
        let counts = COUNTS_TROUBLE.contains(&&*row.name);
        row.trouble |= counts && row.change.is_some_and(|change| change > 0);
        self.0.insert(counter, (row.time_micros, value));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::{Source, text};

    #[test]
    fn counters_grow_from_file_to_file() {
        let mut changes = Changes::default();
        let mut grown = |file: &str, time, value| {
            let source = Source::of(file, "h1", time);
            let mut row = Row {
                value: Some(value),
                chip: Some(1),
                ..source.row(Kind::Link, text("retrain_count"))
            };
            changes.note(&mut row);
            (row.change, row.trouble)
        };
        assert_eq!(grown("a", 1, 5), (None, false));
        assert_eq!(grown("a", 2, 5), (Some(0), false));
        assert_eq!(grown("b", 3, 7), (Some(2), true));
        assert_eq!(grown("a", 2, 5), (None, false));
        assert_eq!(grown("b", 4, 1), (Some(1), true));
        let mut cooler = |time, value| {
            let row = Source::of("a", "h1", time).row(Kind::Card, text("temperature_millicelsius"));
            let mut row = Row { value: Some(value), ..row };
            changes.note(&mut row);
            row.change
        };
        assert_eq!((cooler(1, 45_000), cooler(2, 44_500)), (None, Some(-500)));
    }
}
