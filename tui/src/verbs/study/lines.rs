//! A table whose lines come as rounds end; its head comes with the first of them, since what cannot
//! be had has none.

use super::measured::line;
use crate::exit::Failure;
use crate::verbs::target::Style;

pub(super) struct Lines<'a> {
    style: Style,
    head: &'a [&'a str],
    widths: &'a [usize],
    begun: bool,
    said: Result<(), Failure>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(style: Style, head: &'a [&'a str], widths: &'a [usize]) -> Self {
        Self { style, head, widths, begun: false, said: Ok(()) }
    }

    /// One more line. What goes wrong with one is told in the end.
    pub(super) fn say(&mut self, cells: &[String]) {
        if !std::mem::replace(&mut self.begun, true) {
            let head: Vec<String> = self.head.iter().map(|&word| word.to_owned()).collect();
            self.said = line(self.style, &head, self.widths);
        }
        if self.said.is_ok() {
            self.said = line(self.style, cells, self.widths);
        }
    }

    pub(super) fn end(self) -> Result<(), Failure> {
        self.said
    }
}
