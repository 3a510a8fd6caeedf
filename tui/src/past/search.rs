//! `:who-wrote`: the search for the last write, on a thread of its own.

use super::{value, writer};
use crate::words;
use layouts::{ChipId, NocAddr};
use machine::past::{PastProgress, PastWatcher, PastWrite, WriteSearch};
use machine::snapshot::Span;
use machine::target::Past;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// What the thread tells.
enum Told {
    Progress(PastProgress),
    Done(Result<Option<PastWrite<ChipId>>, String>),
}

/// A search that goes on.
pub(crate) struct Search {
    span: Span,
    told: Receiver<Told>,
    cancelled: Arc<AtomicBool>,
}

impl Search {
    /// Begins to search for the last write before a cycle, in a past that is opened first.
    pub(crate) fn begin(
        open: impl FnOnce(&mut PastWatcher<'_>) -> Result<Box<dyn Past>, String> + Send + 'static,
        span: Span,
        before_cycles: u64,
    ) -> Self {
        let (tell, told) = channel();
        let cancelled = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&cancelled);
        std::thread::spawn(move || {
            let search = WriteSearch { before_cycles, unchanged: true };
            let mut goes_on = |progress| {
                !stop.load(Ordering::Relaxed) && tell.send(Told::Progress(progress)).is_ok()
            };
            let found = open(&mut goes_on).and_then(|past| {
                past.last_write(span, search, &mut goes_on).map_err(|error| error.to_string())
            });
            let _ = tell.send(Told::Done(found));
        });
        Self { span, told, cancelled }
    }

    /// Ends it; its result is that it was cancelled.
    pub(crate) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Returns what is new, in a sentence, and whether it has ended.
    pub(crate) fn poll(&self) -> (Option<String>, bool) {
        let mut sentence = None;
        loop {
            match self.told.try_recv() {
                Ok(Told::Progress(PastProgress { at_cycles, .. })) => {
                    let at = words::cycles(at_cycles);
                    sentence =
                        Some(format!("searches {} back, at {at}; :stop ends it", self.span.addr));
                }
                Ok(Told::Done(found)) => return (Some(self.result(found)), true),
                Err(TryRecvError::Empty) => return (sentence, false),
                Err(TryRecvError::Disconnected) => {
                    return (Some(format!("{}: the search ended", self.span.addr)), true);
                }
            }
        }
    }

    fn result(&self, found: Result<Option<PastWrite<ChipId>>, String>) -> String {
        let addr = self.span.addr;
        match found {
            Ok(Some(write)) => {
                let (at, by) = (words::cycles(write.at_cycles), writer(&write.by));
                let (old, new) = (value(&write.old), value(&write.new));
                let addr = NocAddr { offset: write.offset, ..addr };
                format!("{addr} written at {at} by {by}: {old} became {new}")
            }
            Ok(None) => format!("{addr} was not written in the past that is kept"),
            Err(error) => format!("{addr}: {error}"),
        }
    }
}
