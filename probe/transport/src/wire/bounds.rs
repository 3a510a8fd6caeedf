//! The most that one request may ask for, so that every client has its turn soon.

use machine::bar::BarOp;
use machine::snapshot::AccessError;
use std::borrow::Cow;

/// Most bytes of a frame whose sender only reads: the operations of a request take far less.
pub const MOST_READER_BYTES: u32 = 2 << 20;
/// Most bytes of the first frame.
pub const MOST_HELLO_BYTES: u32 = 4 << 10;
/// Most operations of a request.
const MOST_OPS: usize = 1 << 14;
/// Most bytes that a request reads: what `access` reads in one batch, twice.
const MOST_ANSWER_BYTES: usize = 2 << 20;
/// Most cycles that a request lets pass, so that the slowest machine (a simulated Galaxy, some
/// 50,000 cycles a second) answers long before the watchdog expires.
const MOST_PASS_CYCLES: u64 = 1_000_000;

/// What a request asks for, summed over its operations.
#[derive(Clone, Copy, Default)]
struct Demand {
    ops: usize,
    answer_bytes: usize,
    cycles: u64,
}

impl Demand {
    /// Adds an operation.
    fn with(self, op: &BarOp) -> Self {
        let cycles = if let BarOp::Pass { cycles } = op { *cycles } else { 0 };
        Self {
            ops: self.ops + 1,
            answer_bytes: self.answer_bytes.saturating_add(op.answer_len()),
            cycles: self.cycles.saturating_add(cycles),
        }
    }

    /// Checks the sums.
    fn check(self) -> Result<(), AccessError> {
        let most = [
            (self.ops as u64, MOST_OPS as u64, "operations"),
            (self.answer_bytes as u64, MOST_ANSWER_BYTES as u64, "bytes to read"),
            (self.cycles, MOST_PASS_CYCLES, "cycles to pass"),
        ];
        let Some((asked, most, what)) = most.into_iter().find(|(asked, most, _)| asked > most)
        else {
            return Ok(());
        };
        Err(AccessError::Refused(format!("a request has at most {most} {what}, this one {asked}")))
    }
}

/// Checks that a request asks for no more than one may.
///
/// # Errors
/// What it asks too much of.
pub fn check<'o>(ops: impl IntoIterator<Item = &'o BarOp>) -> Result<(), AccessError> {
    ops.into_iter().fold(Demand::default(), Demand::with).check()
}

/// Cuts a batch into requests within the bounds.
pub fn requests(ops: &[BarOp]) -> Vec<Cow<'_, [BarOp]>> {
    if check(ops).is_ok() {
        return vec![Cow::Borrowed(ops)];
    }
    let (mut requests, mut request, mut demand) = (Vec::new(), Vec::new(), Demand::default());
    for op in ops.iter().flat_map(pieces) {
        if demand.with(&op).check().is_err() {
            requests.push(Cow::Owned(std::mem::take(&mut request)));
            demand = Demand::default();
        }
        demand = demand.with(&op);
        request.push(op);
    }
    requests.push(Cow::Owned(request));
    requests
}

/// Cuts an operation into ones of which each is within the bounds.
fn pieces(op: &BarOp) -> Vec<BarOp> {
    match *op {
        BarOp::Pass { cycles } if cycles > MOST_PASS_CYCLES => {
            let starts = (0..cycles).step_by(MOST_PASS_CYCLES as usize);
            starts.map(|at| BarOp::Pass { cycles: (cycles - at).min(MOST_PASS_CYCLES) }).collect()
        }
        BarOp::Read { device, bar, offset, len, ones } => {
            let piece = |at: u32| {
                let rest = len - at;
                let len = rest.min(MOST_ANSWER_BYTES as u32);
                // The check for ones is of the whole read.
                let ones = if len == rest { ones } else { 0 };
                BarOp::Read { device, bar, offset: offset + u64::from(at), len, ones }
            };
            (0..len.max(1)).step_by(MOST_ANSWER_BYTES).map(piece).collect()
        }
        _ => vec![op.clone()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(len: u32) -> BarOp {
        BarOp::Read { device: 0, bar: 0, offset: 0, len, ones: 0 }
    }

    #[test]
    fn what_is_too_much_for_one_request_becomes_several() {
        for ops in [
            vec![BarOp::Pass { cycles: 2_500_000 }, BarOp::Now],
            vec![read(5 << 20), BarOp::Now],
            vec![read(4); MOST_OPS + 1],
            vec![read(1 << 20); 5],
        ] {
            assert!(check(&ops).is_err());
            let requests = requests(&ops);
            assert!(requests.len() > 1);
            assert!(requests.iter().all(|request| check(request.iter()).is_ok()));
            let asked = |ops: &[BarOp]| {
                let demand = ops.iter().fold(Demand::default(), Demand::with);
                (demand.answer_bytes, demand.cycles)
            };
            let sum = requests.iter().fold((0, 0), |(bytes, cycles), request| {
                let (own_bytes, own_cycles) = asked(request);
                (bytes + own_bytes, cycles + own_cycles)
            });
            assert_eq!(sum, asked(&ops));
        }
        assert_eq!(requests(&[BarOp::Now]).len(), 1);
    }

    #[test]
    fn a_refusal_says_what_is_too_much() {
        let says = |ops: &[BarOp]| check(ops).err().map(|error| error.to_string());
        let pass = says(&[BarOp::Pass { cycles: u64::MAX }, BarOp::Pass { cycles: 1 }]);
        let most = "refused: a request has at most 1000000 cycles to pass, this one \
                    18446744073709551615";
        assert_eq!(pass.as_deref(), Some(most));
        let most = "refused: a request has at most 2097152 bytes to read, this one 4294967295";
        assert_eq!(says(&[read(u32::MAX)]).as_deref(), Some(most));
    }
}
