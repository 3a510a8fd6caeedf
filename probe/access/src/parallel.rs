//! Several devices at once: each has a thread with a bar of its own, and what all of them ask for goes to the machine together.
//!
//! A round begins when every thread waits for the machine or is done, so that what the machine is asked for does not depend on
//! how the host runs the threads.

use layouts::ChipKind;
use machine::bar::{Bar, BarOp, DeviceBatch, Sharing};
use machine::snapshot::AccessError;
use std::sync::mpsc::{Receiver, Sender, channel};

/// What a thread asks for.
enum Request {
    Submit(Vec<BarOp>),
    Windows,
    Lock,
    Unlock,
    /// Nothing any more.
    Over,
}

/// What it is told.
enum Reply {
    Answer(Vec<u8>, Result<(), AccessError>),
    Windows(Result<Vec<u16>, AccessError>),
    Locked(Result<Sharing, AccessError>),
    Unlocked(Result<(), AccessError>),
}

/// The bar of one device while others are worked with, too.
struct Worker {
    number: usize,
    device: u8,
    chip: ChipKind,
    asks: Sender<(usize, Request)>,
    replies: Receiver<Reply>,
}

impl Worker {
    fn ask(&self, ask: Request) -> Result<Reply, AccessError> {
        let gone = || AccessError::DeviceGone("nobody works with the machine any more".into());
        self.asks.send((self.number, ask)).map_err(|_| gone())?;
        self.replies.recv().map_err(|_| gone())
    }

    fn own(&self, device: u8) -> Result<(), AccessError> {
        let other = || AccessError::Unreachable(format!("device {device} is another hand's"));
        (device == self.device).then_some(()).ok_or_else(other)
    }
}

fn strange<T>() -> Result<T, AccessError> {
    Err(AccessError::DeviceGone("an answer to another question".into()))
}

impl Bar for Worker {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        batch.iter().filter_map(BarOp::device).try_for_each(|device| self.own(device))?;
        let Reply::Answer(bytes, result) = self.ask(Request::Submit(batch.to_vec()))? else {
            return strange();
        };
        answer.extend(bytes);
        result
    }

    fn chip(&self) -> ChipKind {
        self.chip
    }

    fn windows(&mut self, device: u8) -> Result<Vec<u16>, AccessError> {
        self.own(device)?;
        if let Reply::Windows(windows) = self.ask(Request::Windows)? { windows } else { strange() }
    }

    fn lock_queues(&mut self, device: u8) -> Result<Sharing, AccessError> {
        self.own(device)?;
        if let Reply::Locked(sharing) = self.ask(Request::Lock)? { sharing } else { strange() }
    }

    fn unlock_queues(&mut self, device: u8) -> Result<(), AccessError> {
        self.own(device)?;
        if let Reply::Unlocked(done) = self.ask(Request::Unlock)? { done } else { strange() }
    }
}

/// Says that a thread is done, however it ends.
struct Over(usize, Sender<(usize, Request)>);

impl Drop for Over {
    fn drop(&mut self) {
        // Nobody listens when the machine's own thread has ended.
        let _ = self.1.send((self.0, Request::Over));
    }
}

/// A device and what is done there.
pub(crate) struct DeviceWork<W> {
    pub(crate) device: u8,
    pub(crate) work: W,
}

/// Lets each part be done over a bar of its own, and returns when all are. What is done there may use nothing of the bar but
/// batches, windows and the lock of its queues.
pub(crate) fn in_parallel<W: Send>(
    bar: &mut dyn Bar,
    parts: Vec<DeviceWork<W>>,
    act: impl Fn(Box<dyn Bar>, W) + Sync,
) {
    let chip = bar.chip();
    let devices: Vec<u8> = parts.iter().map(|part| part.device).collect();
    let (asks, asked) = channel();
    std::thread::scope(|scope| {
        let mut senders = Vec::with_capacity(parts.len());
        for (number, DeviceWork { device, work }) in parts.into_iter().enumerate() {
            let (sender, replies) = channel();
            senders.push(sender);
            let worker = Worker { number, device, chip, asks: asks.clone(), replies };
            let over = Over(number, asks.clone());
            let act = &act;
            scope.spawn(move || {
                let _over = over;
                act(Box::new(worker), work);
            });
        }
        serve(bar, &devices, &asked, &senders);
    });
}

/// Answers round after round until nobody asks any more.
fn serve(
    bar: &mut dyn Bar,
    devices: &[u8],
    asked: &Receiver<(usize, Request)>,
    senders: &[Sender<Reply>],
) {
    let mut working = devices.len();
    while working > 0 {
        let mut asks: Vec<(usize, Request)> = asked.iter().take(working).collect();
        asks.sort_unstable_by_key(|(number, _)| *number);
        let (mut batches, mut numbers) = (Vec::new(), Vec::new());
        for (number, ask) in asks {
            let Some((&device, sender)) = devices.get(number).zip(senders.get(number)) else {
                continue;
            };
            let replies = match ask {
                Request::Submit(batch) => {
                    batches.push(DeviceBatch::new(device, batch));
                    numbers.push(sender);
                    continue;
                }
                Request::Windows => Reply::Windows(bar.windows(device)),
                Request::Lock => Reply::Locked(bar.lock_queues(device)),
                Request::Unlock => Reply::Unlocked(bar.unlock_queues(device)),
                Request::Over => {
                    working -= 1;
                    continue;
                }
            };
            let _ = sender.send(replies);
        }
        if !batches.is_empty() {
            bar.submit_parallel(&mut batches);
        }
        for (sender, DeviceBatch { answer, result, .. }) in numbers.into_iter().zip(batches) {
            let _ = sender.send(Reply::Answer(answer, result));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// Keeps which devices were in each round.
    #[derive(Default)]
    struct Rounds(Vec<Vec<u8>>);

    impl Bar for Rounds {
        fn submit(&mut self, _: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
            answer.push(7);
            Ok(())
        }

        fn chip(&self) -> ChipKind {
            ChipKind::Wormhole
        }

        fn submit_parallel(&mut self, batches: &mut [DeviceBatch]) {
            self.0.push(batches.iter().map(|one| one.device).collect());
            for DeviceBatch { batch, answer, result, .. } in batches {
                *result = self.submit(batch, answer);
            }
        }
    }

    #[test]
    fn a_round_takes_what_all_ask_for() {
        let mut bar = Rounds::default();
        let parts = [1, 2, 3].map(|device| DeviceWork { device, work: device });
        in_parallel(&mut bar, parts.into(), |mut bar, device| {
            let windows = bar.windows(device).unwrap();
            assert!(!windows.is_empty());
            let read = |device| BarOp::ConfigRead { device, offset: 0 };
            assert!(bar.submit(&[read(device + 1)], &mut Vec::new()).is_err(), "another's");
            for _ in 0..device {
                let mut answer = Vec::new();
                bar.submit(&[read(device), BarOp::Now], &mut answer).unwrap();
                assert_eq!(answer, [7]);
            }
        });
        assert_eq!(bar.0, [vec![1, 2, 3], vec![2, 3], vec![3]]);
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_part_that_panics_keeps_nobody_waiting() {
        let parts = [1, 2].map(|device| DeviceWork { device, work: device });
        in_parallel(&mut Rounds::default(), parts.into(), |mut bar, device| {
            assert!(device == 2, "a test's own panic");
            bar.submit(&[BarOp::Now], &mut Vec::new()).unwrap();
        });
    }
}
