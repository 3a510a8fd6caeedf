//! A table printed as rounds end. Its head is printed with the first line, so that a failed study
//! prints none.

use super::measured::line;
use crate::exit::Failure;
use crate::verbs::target::Style;

pub(super) struct Lines<'a> {
    style: Style,
    head: &'a [&'a str],
    widths: &'a [usize],
    begun: bool,
    result: Result<(), Failure>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(style: Style, head: &'a [&'a str], widths: &'a [usize]) -> Self {
        Self { style, head, widths, begun: false, result: Ok(()) }
    }

    /// Prints one more line. Errors are reported at the end.
    pub(super) fn say(&mut self, cells: &[String]) {
        if !std::mem::replace(&mut self.begun, true) {
            let head: Vec<String> = self.head.iter().map(|&word| word.to_owned()).collect();
            self.result = line(self.style, &head, self.widths);
        }
        if self.result.is_ok() {
            self.result = line(self.style, cells, self.widths);
        }
    }

    pub(super) fn end(self) -> Result<(), Failure> {
        self.result
    }
}
