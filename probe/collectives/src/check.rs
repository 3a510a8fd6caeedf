//! Compares the results with those that the host computes: the digest of every range, and each
//! element of a range that differs.

use super::expected;
use super::program::{Expected, Program};
use super::report::WrongRange;
use super::tensor::locate;
use super::worker::WorkerPlaces;
use images::ImageMap;
use launch::outcome::{Cause, Misfit, RunError};
use machine::snapshot::{Plan, Span};
use machine::target::Target;

/// Pages read per poll.
const PAGES_A_POLL: usize = 64;

/// Returns the indices in the program of the ranges whose digests differ from those that the
/// host computes.
///
/// # Errors
/// If a digest cannot be read.
pub(super) fn differing(
    target: &mut dyn Target,
    images: &ImageMap,
    program: &Program,
) -> Result<Vec<usize>, RunError> {
    let mut spans = Vec::new();
    for expected in &program.expected {
        let plan = program.checks.get(expected.worker).ok_or_else(|| nowhere(expected))?;
        let at = u64::from(WorkerPlaces::of(images, program, plan)?.digests)
            + 4 * expected.command as u64;
        spans.push(Span { addr: plan.place.at(at), len: 4 });
    }
    let snapshot = target.read(&Plan { spans: spans.clone() });
    let mut differing = Vec::new();
    for (index, (expected, span)) in program.expected.iter().zip(spans).enumerate() {
        if snapshot.word(span.addr)? != expected.digest {
            differing.push(index);
        }
    }
    Ok(differing)
}

/// The comparison of a range that is read in full.
#[derive(Debug)]
pub(super) struct Comparison {
    index: usize,
    /// The bytes that the host computes for it.
    expected: Vec<u8>,
    /// The spans of its pages.
    pages: Vec<Span>,
    next: usize,
    element_bytes: usize,
    compared_bytes: usize,
    wrong: u64,
    first: Option<u64>,
}

impl Comparison {
    /// Starts a comparison of the range with this index.
    ///
    /// # Errors
    /// If the program has no such range.
    pub(super) fn new(program: &Program, index: usize) -> Result<Self, RunError> {
        let none = || RunError::new(Cause::Program(Misfit::NoOutputRange(index)));
        let expected = program.expected.get(index).ok_or_else(none)?;
        Ok(Self {
            index,
            expected: expected::bytes(program, expected),
            pages: pages(program, expected)?,
            next: 0,
            element_bytes: program.data_type.bytes() as usize,
            compared_bytes: 0,
            wrong: 0,
            first: None,
        })
    }

    /// Returns the number of compared pages, and of all pages.
    pub(super) fn done(&self) -> (u64, u64) {
        (self.next as u64, self.pages.len() as u64)
    }

    /// Compares some pages. After the last page, returns the differences; none, if only the padding
    /// differed.
    ///
    /// # Errors
    /// If a page cannot be read.
    pub(super) fn poll(
        &mut self,
        target: &mut dyn Target,
        program: &Program,
    ) -> Result<Option<WrongRange>, RunError> {
        let some: Vec<Span> =
            self.pages.iter().skip(self.next).take(PAGES_A_POLL).copied().collect();
        let snapshot = target.read(&Plan { spans: some.clone() });
        for span in some {
            self.compare(snapshot.bytes(span.addr, span.len)?);
            self.next += 1;
        }
        if self.next < self.pages.len() {
            return Ok(None);
        }
        let none = || RunError::new(Cause::Program(Misfit::NoOutputRange(self.index)));
        let stretch = &program.expected.get(self.index).ok_or_else(none)?.stretch;
        Ok(Some(WrongRange {
            chip: stretch.chip,
            first_page: stretch.first_page,
            first_element: stretch.first_element + self.first.map_or(0, |first| first),
            elements: self.wrong,
        }))
    }

    fn compare(&mut self, page: &[u8]) {
        let first = self.compared_bytes / self.element_bytes;
        // After the expected bytes there is only padding.
        let rest = self.expected.get(self.compared_bytes..).map_or(&[][..], |rest| rest);
        let pairs = page.chunks(self.element_bytes).zip(rest.chunks(self.element_bytes));
        for (index, (there, wanted)) in pairs.enumerate() {
            if there != wanted {
                self.wrong += 1;
                self.first.get_or_insert((first + index) as u64);
            }
        }
        self.compared_bytes += page.len();
    }
}

/// Returns the spans of the pages of a range, in order.
fn pages(program: &Program, expected: &Expected) -> Result<Vec<Span>, RunError> {
    let nowhere = || nowhere(expected);
    let plan = program.checks.get(expected.worker).ok_or_else(nowhere)?;
    let tensor = plan.tensors.get(expected.stretch.tensor).ok_or_else(nowhere)?;
    let page = |number: u32| {
        let (bank, offset) = locate(tensor, number);
        let bank = plan.banks.get(bank as usize).ok_or_else(nowhere)?;
        let last = number + 1 == expected.stretch.first_page + plan.pages;
        let len = if last { plan.last_page_bytes } else { tensor.page_bytes };
        Ok(Span { addr: bank.place.at(u64::from(bank.address) + offset), len })
    };
    let first = expected.stretch.first_page;
    (first..first + plan.pages).map(page).collect()
}

fn nowhere(expected: &Expected) -> RunError {
    RunError::new(Cause::Program(Misfit::Unchecked(expected.stretch.chip)))
}
