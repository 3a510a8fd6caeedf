//! A table: rows that are filtered, sorted, folded and selected by the same rules wherever there are
//! rows. `update` settles a table after each change; `view` draws it.

mod filter;

use diagnosis::Place;
pub(crate) use filter::{Filter, Value};
use ratatui::text::Span;
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

/// Idle rows are folded from this many on.
const LEAST_FOLDED: usize = 4;

/// How much a row matters, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// The first finding begins there.
    Root,
    /// A fault.
    Fault,
    /// It belongs to the first finding.
    Held,
    /// It is far slower than others, or counts errors.
    Slow,
    /// It was not read.
    Unread,
    /// It moves.
    Moves,
    /// It has nothing to do.
    Idle,
}

impl Rank {
    fn is_wrong(self) -> bool {
        self < Self::Unread
    }
}

/// A cell: what is shown, and what rows are sorted and filtered by.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// The name of its field in filters.
    pub(crate) field: &'static str,
    pub(crate) text: Span<'static>,
    pub(crate) value: Value,
}

impl Cell {
    /// A cell that is sorted and filtered by its text.
    pub(crate) fn text(field: &'static str, text: Span<'static>) -> Self {
        let value = Value::Text(text.content.to_lowercase());
        Self { field, text, value }
    }

    /// A cell with a number; none if it is not known.
    pub(crate) fn number(field: &'static str, text: Span<'static>, number: Option<u64>) -> Self {
        Self { field, text, value: Value::Number(number) }
    }
}

/// A row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// What stays selected when rows move.
    pub(crate) key: String,
    /// The number of what it shows, in the order of the source.
    pub(crate) item: usize,
    pub(crate) rank: Rank,
    /// The columns.
    pub(crate) cells: Vec<Cell>,
    /// What Enter opens.
    pub(crate) place: Option<Place>,
    /// Fields that no column shows.
    pub(crate) hidden: Vec<(&'static str, Value)>,
}

/// Which rows are listed without a filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shows {
    /// Those that are not idle; the others are a line.
    #[default]
    Busy,
    /// Those with something wrong.
    Wrong,
    /// All.
    All,
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Selected row.
    pub at: usize,
    /// What the filter line says.
    pub filter: String,
    /// Which rows are listed without a filter.
    pub shows: Shows,
    /// The column that rows are sorted by, and whether the largest comes first; if none, the worst
    /// comes first.
    pub(crate) sort: Option<(usize, bool)>,
    key: Option<String>,
    rows: Vec<Row>,
    folded: usize,
    all: usize,
    fields: Vec<&'static str>,
}

impl Table {
    /// Takes the rows as they are now: those that pass the filter, in their order. What was selected
    /// stays selected if it is still there.
    pub(crate) fn settle(&mut self, rows: Vec<Row>) {
        self.all = rows.len();
        self.fields = rows.first().map(fields).unwrap_or_default();
        // A filter that says nothing, for it is still typed, lists all.
        let filter = Filter::parse(&self.filter, &self.fields).unwrap_or_default();
        let mut rows: Vec<Row> = rows.into_iter().filter(|row| filter.holds(row)).collect();
        match self.sort {
            None => rows.sort_by_key(|row| row.rank),
            Some((column, down)) => rows.sort_by(|a, b| compare(a, b, column, down)),
        }
        let shows = if self.filter.is_empty() { self.shows } else { Shows::All };
        let before = rows.len();
        let idle = rows.iter().filter(|row| row.rank == Rank::Idle).count();
        match shows {
            Shows::Busy if idle >= LEAST_FOLDED => rows.retain(|row| row.rank != Rank::Idle),
            Shows::Wrong => rows.retain(|row| row.rank.is_wrong()),
            Shows::Busy | Shows::All => {}
        }
        self.folded = before - rows.len();
        self.rows = rows;
        let at = self.key.as_ref().and_then(|key| self.rows.iter().position(|row| row.key == *key));
        // Until a person selects a row, the first one is selected, whichever that is.
        self.at = at.unwrap_or(self.at).min(self.count().saturating_sub(1));
    }

    /// Selects a row, or the last one.
    pub(crate) fn select(&mut self, at: usize) {
        self.at = at.min(self.count().saturating_sub(1));
        self.key = self.rows.get(self.at).map(|row| row.key.clone());
    }

    /// Selects what a row shows; false if no row shows it.
    pub(crate) fn select_item(&mut self, item: usize) -> bool {
        let at = self.rows.iter().position(|row| row.item == item);
        at.map(|at| self.select(at)).is_some()
    }

    /// Takes a filter and selects the first row.
    pub(crate) fn filter_by(&mut self, text: &str) {
        text.clone_into(&mut self.filter);
        (self.at, self.key) = (0, None);
    }

    /// What is wrong with a filter, in a sentence.
    pub(crate) fn refuses(&self, text: &str) -> Option<String> {
        Filter::parse(text, &self.fields).err()
    }

    /// The fields that filters name.
    pub(crate) fn fields(&self) -> &[&'static str] {
        &self.fields
    }

    /// The words that the listed rows have in a field.
    pub(crate) fn values(&self, field: &str) -> BTreeSet<String> {
        let cells = self.rows.iter().flat_map(|row| &row.cells);
        let values = cells.filter(|cell| cell.field == field).map(|cell| &cell.value);
        let texts = values.filter_map(|value| match value {
            Value::Text(text) => Some(text.split_whitespace()),
            Value::Number(_) => None,
        });
        texts.flatten().map(str::to_owned).collect()
    }

    /// Sorts by the next column; after the last one, the worst comes first again.
    pub(crate) fn sort_next(&mut self) {
        let columns = self.rows.first().map_or(0, |row| row.cells.len());
        let next = self.sort.map_or(0, |(column, _)| column + 1);
        self.sort = (next < columns).then_some((next, true));
    }

    /// Sorts the other way round.
    pub(crate) fn sort_turned(&mut self) {
        self.sort = Some(self.sort.map_or((0, false), |(column, down)| (column, !down)));
    }

    /// Lists what is wrong only, or the others too.
    pub(crate) fn turn_faults(&mut self) {
        self.filter_by("");
        self.shows = if self.shows == Shows::Wrong { Shows::Busy } else { Shows::Wrong };
    }

    /// Takes one step back: the filter goes, then the order, then what is listed; false if there is
    /// nothing to go back from.
    pub(crate) fn back(&mut self) -> bool {
        let was = (self.filter.is_empty(), self.sort, self.shows);
        if !self.filter.is_empty() {
            self.filter.clear();
        } else if self.sort.is_some() {
            self.sort = None;
        } else {
            self.shows = Shows::Busy;
        }
        was != (self.filter.is_empty(), self.sort, self.shows)
    }

    /// The rows that are listed.
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The selected row, unless the line for folded ones is.
    pub(crate) fn selected(&self) -> Option<&Row> {
        self.rows.get(self.at)
    }

    /// The number of rows that are not listed for they are idle, or nothing is wrong with them.
    pub(crate) fn folded(&self) -> usize {
        self.folded
    }

    /// The number of rows, those that are not listed included.
    pub(crate) fn all(&self) -> usize {
        self.all
    }

    /// The rows that can be selected: those listed, and a line for those that are folded.
    pub(crate) fn count(&self) -> usize {
        self.rows.len() + usize::from(self.folded > 0)
    }

    /// Whether the line for folded rows is selected.
    pub(crate) fn at_fold(&self) -> bool {
        self.folded > 0 && self.at == self.rows.len()
    }
}

/// The fields of a row, those of its columns first.
fn fields(row: &Row) -> Vec<&'static str> {
    let all = row.cells.iter().map(|cell| cell.field);
    let all = all.chain(row.hidden.iter().map(|(field, _)| *field));
    let mut fields = Vec::new();
    for field in all {
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    fields
}

/// What is not known comes last, whatever the order.
fn compare(a: &Row, b: &Row, column: usize, down: bool) -> Ordering {
    let value = |row: &Row| row.cells.get(column).map(|cell| cell.value.clone());
    match (value(a), value(b)) {
        (Some(Value::Number(a)), Some(Value::Number(b))) => {
            let known = b.is_some().cmp(&a.is_some());
            known.then(if down { Reverse(a).cmp(&Reverse(b)) } else { a.cmp(&b) })
        }
        // Words are sorted from a to z first.
        (a, b) if down => a.cmp(&b),
        (a, b) => b.cmp(&a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, rank: Rank, rate: Option<u64>) -> Row {
        Row {
            key: name.to_owned(),
            item: 0,
            rank,
            place: None,
            cells: vec![
                Cell::text("name", Span::raw(name.to_owned())),
                Cell::number("rate", Span::raw(""), rate),
            ],
            hidden: vec![("chip", Value::Number(Some(u64::from(name.len() as u32))))],
        }
    }

    fn rows() -> Vec<Row> {
        let mut rows = vec![
            row("slow", Rank::Slow, Some(3)),
            row("moves", Rank::Moves, Some(900_000)),
            row("unread", Rank::Unread, None),
            row("down", Rank::Fault, Some(0)),
        ];
        rows.extend((0..5).map(|n| row(&format!("idle{n}"), Rank::Idle, Some(0))));
        rows
    }

    fn names(table: &Table) -> Vec<&str> {
        table.rows().iter().map(|row| row.key.as_str()).collect()
    }

    #[test]
    fn the_worst_comes_first_and_idle_rows_are_folded() {
        let mut table = Table::default();
        table.settle(rows());
        assert_eq!(names(&table), ["down", "slow", "unread", "moves"]);
        assert_eq!((table.folded(), table.count(), table.all()), (5, 5, 9));
        table.turn_faults();
        table.settle(rows());
        assert_eq!(names(&table), ["down", "slow"]);
        assert!(table.back() && !table.back());
    }

    #[test]
    fn rows_are_sorted_by_any_column() {
        let mut table = Table::default();
        table.settle(rows());
        table.sort_next();
        table.settle(rows());
        assert_eq!(names(&table), ["down", "moves", "slow", "unread"]);
        table.sort_next();
        table.settle(rows());
        assert_eq!(names(&table), ["moves", "slow", "down", "unread"], "the unknown comes last");
        table.sort_turned();
        table.settle(rows());
        assert_eq!(names(&table), ["down", "slow", "moves", "unread"]);
        table.sort_next();
        table.settle(rows());
        assert_eq!(table.sort, None);
    }

    #[test]
    fn a_selected_row_stays_selected() {
        let mut table = Table::default();
        table.settle(rows());
        table.select(1);
        let mut others = rows();
        others.push(row("new", Rank::Fault, None));
        table.settle(others);
        assert_eq!(table.selected().map(|row| row.key.as_str()), Some("slow"));
        table.filter_by("name=idle");
        table.settle(rows());
        assert_eq!((table.rows().len(), table.at, table.folded()), (5, 0, 0), "a filter finds all");
    }

    #[test]
    fn filters_have_one_grammar() {
        let mut table = Table::default();
        table.settle(rows());
        let mut of = |text: &str| {
            table.filter_by(text);
            table.settle(rows());
            names(&table).join(" ")
        };
        assert_eq!(of("name=moves"), "moves");
        assert_eq!(of("rate>1 rate<1M"), "slow moves");
        assert_eq!(of("rate>=900k"), "moves");
        assert_eq!(of("chip=4 -down"), "slow");
        assert_eq!(of("name!=idle rate=0"), "down");
        assert_eq!(of("OW"), "down slow");
        assert_eq!(of("rate=?"), "unread");
        let refuses = |text| table.refuses(text).unwrap_or_default();
        assert_eq!(refuses("speed>1"), "no field is called speed: name, rate, chip");
        assert_eq!(
            refuses("rate>fast"),
            "rate is a number, such as 10, 4k, 1M or 20ms, not 'fast'"
        );
    }
}
