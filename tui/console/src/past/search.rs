//! Searches in the past of an emulated mesh, each on a thread of its own.

use super::{value, writer};
use crate::words;
use layouts::NocAddr;
use machine::past::{PastProgress, PastWatcher, WriteSearch};
use machine::snapshot::Span;
use machine::target::Past;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, channel};
use std::time::{Duration, Instant};

/// What a search found.
pub struct Found {
    /// It in words.
    pub notice: Option<String>,
    /// The cycle that shows it; none if it is told only.
    pub shown_at: Option<u64>,
}

/// What the thread tells.
enum Told {
    Progress(PastProgress),
    Done(Result<Found, String>),
}

/// A search that goes on.
pub struct Search {
    what: String,
    told: Receiver<Told>,
    cancelled: Arc<AtomicBool>,
}

impl Search {
    /// Begins a search for something, in a few words.
    pub fn begin(
        what: String,
        search: impl FnOnce(&mut PastWatcher<'_>) -> Result<Found, String> + Send + 'static,
    ) -> Self {
        let (tell, told) = channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&cancelled);
        std::thread::spawn(move || {
            let mut goes_on = |progress| {
                !stop.load(Ordering::Relaxed) && tell.send(Told::Progress(progress)).is_ok()
            };
            let found = search(&mut goes_on);
            let _ = tell.send(Told::Done(found));
        });
        Self { what, told, cancelled }
    }

    /// Ends it; its result is that it was cancelled.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Waits for its result; none if it goes on for longer.
    pub fn wait(&self, patience: Duration) -> Option<Result<Found, String>> {
        let began = Instant::now();
        loop {
            let left = patience.checked_sub(began.elapsed())?;
            match self.told.recv_timeout(left) {
                Ok(Told::Progress(_)) => {}
                Ok(Told::Done(found)) => return Some(found),
                Err(RecvTimeoutError::Timeout) => return None,
                Err(RecvTimeoutError::Disconnected) => return Some(Err(self.lost())),
            }
        }
    }

    /// Returns how far it has come, if that is new, and its result, if it has ended.
    pub fn poll(&self) -> (Option<String>, Option<Result<Found, String>>) {
        let mut progress = None;
        loop {
            match self.told.try_recv() {
                Ok(Told::Progress(PastProgress { at_cycles, .. })) => {
                    let (what, at) = (&self.what, words::cycles(at_cycles));
                    progress = Some(format!("searches {what} back, at {at}; :stop ends it"));
                }
                Ok(Told::Done(found)) => return (None, Some(found)),
                Err(TryRecvError::Empty) => return (progress, None),
                Err(TryRecvError::Disconnected) => return (None, Some(Err(self.lost()))),
            }
        }
    }

    fn lost(&self) -> String {
        format!("{}: the search ended", self.what)
    }
}

/// Returns who wrote last to a range before a cycle.
pub fn who_wrote(
    past: &dyn Past,
    span: Span,
    before_cycles: u64,
    watcher: &mut PastWatcher<'_>,
) -> Result<Found, String> {
    let addr = span.addr;
    let search = WriteSearch { before_cycles, unchanged: true };
    let found = past.last_write(span, search, watcher);
    let notice = match found.map_err(|error| format!("{addr}: {error}"))? {
        Some(write) => {
            let (at, by) = (words::cycles(write.at_cycles), writer(&write.by));
            let (old, new) = (value(&write.old), value(&write.new));
            let addr = NocAddr { offset: write.offset, ..addr };
            format!("{addr} written at {at} by {by}: {old} became {new}")
        }
        None => format!("{addr} was not written in the past that is kept"),
    };
    Ok(Found { notice: Some(notice), shown_at: None })
}
