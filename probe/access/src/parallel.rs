//! Works on several devices in parallel: each has a thread with its own bar, and the batches of all
//! threads go to the machine together.
//!
//! A round begins when every thread waits for the machine or has finished. The batches of a round
//! therefore do not depend on the host's scheduling.

use layouts::ChipKind;
use machine::bar::{Bar, BarOp, DeviceBatch, Sharing};
use machine::snapshot::AccessError;
use std::sync::mpsc::{Receiver, Sender, channel};

/// A request of a worker thread.
enum Request {
    Submit(Vec<BarOp>),
    Windows,
    Lock,
    Unlock,
    /// The worker has finished.
    Finished,
}

/// The reply to a request.
enum Reply {
    Answer(Vec<u8>, Result<(), AccessError>),
    Windows(Result<Vec<u16>, AccessError>),
    Locked(Result<Sharing, AccessError>),
    Unlocked(Result<(), AccessError>),
}

/// The bar of one device in a worker thread.
struct Worker {
    number: usize,
    device: u8,
    chip: ChipKind,
    requests: Sender<(usize, Request)>,
    replies: Receiver<Reply>,
}

impl Worker {
    fn call(&self, request: Request) -> Result<Reply, AccessError> {
        let gone = || AccessError::DeviceGone("the machine's thread has ended".into());
        self.requests.send((self.number, request)).map_err(|_| gone())?;
        self.replies.recv().map_err(|_| gone())
    }

    fn own(&self, device: u8) -> Result<(), AccessError> {
        let other =
            || AccessError::Unreachable(format!("device {device} belongs to another worker"));
        (device == self.device).then_some(()).ok_or_else(other)
    }
}

fn unexpected<T>() -> Result<T, AccessError> {
    Err(AccessError::DeviceGone("an unexpected reply".into()))
}

impl Bar for Worker {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        batch.iter().filter_map(BarOp::device).try_for_each(|device| self.own(device))?;
        let Reply::Answer(bytes, result) = self.call(Request::Submit(batch.to_vec()))? else {
            return unexpected();
        };
        answer.extend(bytes);
        result
    }

    fn chip(&self) -> ChipKind {
        self.chip
    }

    fn windows(&mut self, device: u8) -> Result<Vec<u16>, AccessError> {
        self.own(device)?;
        if let Reply::Windows(windows) = self.call(Request::Windows)? {
            windows
        } else {
            unexpected()
        }
    }

    fn lock_queues(&mut self, device: u8) -> Result<Sharing, AccessError> {
        self.own(device)?;
        if let Reply::Locked(sharing) = self.call(Request::Lock)? { sharing } else { unexpected() }
    }

    fn unlock_queues(&mut self, device: u8) -> Result<(), AccessError> {
        self.own(device)?;
        if let Reply::Unlocked(done) = self.call(Request::Unlock)? { done } else { unexpected() }
    }
}

/// Sends `Finished` when a worker ends, even by a panic.
struct FinishOnDrop(usize, Sender<(usize, Request)>);

impl Drop for FinishOnDrop {
    fn drop(&mut self) {
        // The send fails if the machine's own thread has ended.
        let _ = self.1.send((self.0, Request::Finished));
    }
}

/// A device and the work to do there.
pub(crate) struct DeviceWork<W> {
    pub(crate) device: u8,
    pub(crate) work: W,
}

/// Runs each part with its own bar, and returns when all have finished. A part may use only
/// batches, windows and the queue lock of its bar. `between` is called between rounds, on the
/// machine's thread, while every part waits.
pub(crate) fn in_parallel<W: Send>(
    bar: &mut dyn Bar,
    parts: Vec<DeviceWork<W>>,
    act: impl Fn(Box<dyn Bar>, W) + Sync,
    between: impl FnMut(),
) {
    let chip = bar.chip();
    let devices: Vec<u8> = parts.iter().map(|part| part.device).collect();
    let (requests, received) = channel();
    std::thread::scope(|scope| {
        let mut senders = Vec::with_capacity(parts.len());
        for (number, DeviceWork { device, work }) in parts.into_iter().enumerate() {
            let (sender, replies) = channel();
            senders.push(sender);
            let worker = Worker { number, device, chip, requests: requests.clone(), replies };
            let finish = FinishOnDrop(number, requests.clone());
            let act = &act;
            scope.spawn(move || {
                let _finish = finish;
                act(Box::new(worker), work);
            });
        }
        serve(bar, &devices, &received, &senders, between);
    });
}

/// Serves rounds until all workers have finished.
fn serve(
    bar: &mut dyn Bar,
    devices: &[u8],
    received: &Receiver<(usize, Request)>,
    senders: &[Sender<Reply>],
    mut between: impl FnMut(),
) {
    let mut working = devices.len();
    while working > 0 {
        let mut requests: Vec<(usize, Request)> = received.iter().take(working).collect();
        requests.sort_unstable_by_key(|(number, _)| *number);
        between();
        let (mut batches, mut waiting) = (Vec::new(), Vec::new());
        for (number, request) in requests {
            let Some((&device, sender)) = devices.get(number).zip(senders.get(number)) else {
                continue;
            };
            let reply = match request {
                Request::Submit(batch) => {
                    batches.push(DeviceBatch::new(device, batch));
                    waiting.push(sender);
                    continue;
                }
                Request::Windows => Reply::Windows(bar.windows(device)),
                Request::Lock => Reply::Locked(bar.lock_queues(device)),
                Request::Unlock => Reply::Unlocked(bar.unlock_queues(device)),
                Request::Finished => {
                    working -= 1;
                    continue;
                }
            };
            let _ = sender.send(reply);
        }
        if !batches.is_empty() {
            bar.submit_parallel(&mut batches);
        }
        for (sender, DeviceBatch { answer, result, .. }) in waiting.into_iter().zip(batches) {
            let _ = sender.send(Reply::Answer(answer, result));
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// Records the devices of each round.
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
            self.0.push(batches.iter().map(|batch| batch.device).collect());
            for DeviceBatch { batch, answer, result, .. } in batches {
                *result = self.submit(batch, answer);
            }
        }
    }

    #[test]
    fn a_round_takes_the_requests_of_all() {
        let mut bar = Rounds::default();
        let parts = [1, 2, 3].map(|device| DeviceWork { device, work: device });
        let mut rounds = 0;
        let act = |mut bar: Box<dyn Bar>, device| {
            let windows = bar.windows(device).unwrap();
            assert!(!windows.is_empty());
            let read = |device| BarOp::ConfigRead { device, offset: 0 };
            assert!(bar.submit(&[read(device + 1)], &mut Vec::new()).is_err(), "another worker's");
            for _ in 0..device {
                let mut answer = Vec::new();
                bar.submit(&[read(device), BarOp::Now], &mut answer).unwrap();
                assert_eq!(answer, [7]);
            }
        };
        in_parallel(&mut bar, parts.into(), act, || rounds += 1);
        assert!(rounds > bar.0.len(), "{rounds}");
        assert_eq!(bar.0, [vec![1, 2, 3], vec![2, 3], vec![3]]);
    }

    #[test]
    #[should_panic(expected = "a scoped thread panicked")]
    fn a_part_that_panics_does_not_block_the_others() {
        let parts = [1, 2].map(|device| DeviceWork { device, work: device });
        let act = |mut bar: Box<dyn Bar>, device| {
            assert!(device == 2, "a test's own panic");
            bar.submit(&[BarOp::Now], &mut Vec::new()).unwrap();
        };
        in_parallel(&mut Rounds::default(), parts.into(), act, || ());
    }
}
