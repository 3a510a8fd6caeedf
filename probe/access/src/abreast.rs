//! Several devices at once: each has a thread with a bar of its own, and what all of them ask for goes to the machine together.
//!
//! A round begins when every thread waits for the machine or is done, so that what the machine is asked for does not depend on
//! how the host runs the threads.

use machine::bar::{Abreast, Bar, BarOp, Sharing};
use machine::snapshot::AccessError;
use std::sync::mpsc::{Receiver, Sender, channel};

/// What a thread asks for.
enum Ask {
    Submit(Vec<BarOp>),
    Windows,
    Lock,
    Unlock,
    /// Nothing any more.
    Over,
}

/// What it is told.
enum Told {
    Answer(Vec<u8>, Result<(), AccessError>),
    Windows(Result<Vec<u16>, AccessError>),
    Locked(Result<Sharing, AccessError>),
    Unlocked(Result<(), AccessError>),
}

/// The bar of one device while others are worked with, too.
struct Hand {
    number: usize,
    device: u8,
    asks: Sender<(usize, Ask)>,
    told: Receiver<Told>,
}

impl Hand {
    fn ask(&self, ask: Ask) -> Result<Told, AccessError> {
        let gone = || AccessError::DeviceGone("nobody works with the machine any more".into());
        self.asks.send((self.number, ask)).map_err(|_| gone())?;
        self.told.recv().map_err(|_| gone())
    }

    fn own(&self, device: u8) -> Result<(), AccessError> {
        let other = || AccessError::Unreachable(format!("device {device} is another hand's"));
        (device == self.device).then_some(()).ok_or_else(other)
    }
}

fn strange<T>() -> Result<T, AccessError> {
    Err(AccessError::DeviceGone("an answer to another question".into()))
}

impl Bar for Hand {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        batch.iter().filter_map(BarOp::device).try_for_each(|device| self.own(device))?;
        let Told::Answer(bytes, result) = self.ask(Ask::Submit(batch.to_vec()))? else {
            return strange();
        };
        answer.extend(bytes);
        result
    }

    fn windows(&mut self, device: u8) -> Result<Vec<u16>, AccessError> {
        self.own(device)?;
        if let Told::Windows(windows) = self.ask(Ask::Windows)? { windows } else { strange() }
    }

    fn lock_queues(&mut self, device: u8) -> Result<Sharing, AccessError> {
        self.own(device)?;
        if let Told::Locked(sharing) = self.ask(Ask::Lock)? { sharing } else { strange() }
    }

    fn unlock_queues(&mut self, device: u8) -> Result<(), AccessError> {
        self.own(device)?;
        if let Told::Unlocked(done) = self.ask(Ask::Unlock)? { done } else { strange() }
    }
}

/// Says that a thread is done, however it ends.
struct Over(usize, Sender<(usize, Ask)>);

impl Drop for Over {
    fn drop(&mut self) {
        // Nobody listens when the machine's own thread has ended.
        let _ = self.1.send((self.0, Ask::Over));
    }
}

/// A device and what is done there.
pub(crate) struct Part<W> {
    pub(crate) device: u8,
    pub(crate) work: W,
}

/// Lets each part be done over a bar of its own, and returns when all are. What is done there may use nothing of the bar but
/// batches, windows and the lock of its queues.
pub(crate) fn abreast<W: Send>(
    bar: &mut dyn Bar,
    parts: Vec<Part<W>>,
    act: impl Fn(Box<dyn Bar>, W) + Sync,
) {
    let devices: Vec<u8> = parts.iter().map(|part| part.device).collect();
    let (asks, asked) = channel();
    std::thread::scope(|scope| {
        let mut tells = Vec::with_capacity(parts.len());
        for (number, Part { device, work }) in parts.into_iter().enumerate() {
            let (tell, told) = channel();
            tells.push(tell);
            let hand = Hand { number, device, asks: asks.clone(), told };
            let over = Over(number, asks.clone());
            let act = &act;
            scope.spawn(move || {
                let _over = over;
                act(Box::new(hand), work);
            });
        }
        serve(bar, &devices, &asked, &tells);
    });
}

/// Answers round after round until nobody asks any more.
fn serve(
    bar: &mut dyn Bar,
    devices: &[u8],
    asked: &Receiver<(usize, Ask)>,
    tells: &[Sender<Told>],
) {
    let mut working = devices.len();
    while working > 0 {
        let mut asks: Vec<(usize, Ask)> = asked.iter().take(working).collect();
        asks.sort_unstable_by_key(|(number, _)| *number);
        let (mut batches, mut numbers) = (Vec::new(), Vec::new());
        for (number, ask) in asks {
            let Some((&device, tell)) = devices.get(number).zip(tells.get(number)) else {
                continue;
            };
            let told = match ask {
                Ask::Submit(batch) => {
                    batches.push(Abreast::new(device, batch));
                    numbers.push(tell);
                    continue;
                }
                Ask::Windows => Told::Windows(bar.windows(device)),
                Ask::Lock => Told::Locked(bar.lock_queues(device)),
                Ask::Unlock => Told::Unlocked(bar.unlock_queues(device)),
                Ask::Over => {
                    working -= 1;
                    continue;
                }
            };
            let _ = tell.send(told);
        }
        if !batches.is_empty() {
            bar.submit_abreast(&mut batches);
        }
        for (tell, Abreast { answer, result, .. }) in numbers.into_iter().zip(batches) {
            let _ = tell.send(Told::Answer(answer, result));
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

        fn submit_abreast(&mut self, batches: &mut [Abreast]) {
            self.0.push(batches.iter().map(|one| one.device).collect());
            for Abreast { batch, answer, result, .. } in batches {
                *result = self.submit(batch, answer);
            }
        }
    }

    #[test]
    fn a_round_takes_what_all_ask_for() {
        let mut bar = Rounds::default();
        let parts = [1, 2, 3].map(|device| Part { device, work: device });
        abreast(&mut bar, parts.into(), |mut bar, device| {
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
        let parts = [1, 2].map(|device| Part { device, work: device });
        abreast(&mut Rounds::default(), parts.into(), |mut bar, device| {
            assert!(device == 2, "a test's own panic");
            bar.submit(&[BarOp::Now], &mut Vec::new()).unwrap();
        });
    }
}
