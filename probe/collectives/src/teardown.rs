//! The teardown of a run: kernels are stopped, what they left is cleared, and cores are returned to
//! base firmware.

use super::edm_builder::EDM;
use super::launcher::firmware_of;
use super::worker::{WORKER, worker_semaphore};
use images::ImageMap;
use launch::outcome::RunError;
use launch::records::{size, variable};
use launch::{
    ControlError, Firmware, Operation, constant_of, done_condition, image, mailbox,
    semaphore_address, stop_application,
};
use machine::place::Place;

/// How kernels are signalled to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TeardownMode {
    /// Complete, with every credit returned: workers first, then EDMs, which drain their links.
    Graceful,
    /// At once, in whatever state they are.
    Immediate,
}

/// Returns the operation that signals a kernel to return.
pub(super) fn stop(
    images: &ImageMap,
    way: TeardownMode,
    place: Place,
    kernel: &'static str,
) -> Result<Operation, RunError> {
    let path = format!("{kernel}_state.control.termination_signal");
    let word = variable(&*image(images, kernel)?, &path)?;
    let mut operation = Operation::new(format!("stop {kernel} on {place}"));
    operation.write_word(place.at(word.address()), signal(images, way, kernel)?);
    Ok(operation)
}

/// Returns the value of the termination signal.
///
/// # Errors
/// `NoImage` or `NoMember`.
pub(super) fn signal(images: &ImageMap, way: TeardownMode, kernel: &str) -> Result<u32, RunError> {
    let signal = match way {
        TeardownMode::Graceful => "GRACEFULLY_TERMINATE",
        TeardownMode::Immediate => "IMMEDIATELY_TERMINATE",
    };
    Ok(constant_of(images, kernel, signal)?)
}

/// Returns the operation that waits until a kernel has returned.
pub(super) fn await_return(
    images: &ImageMap,
    place: Place,
    kernel: &'static str,
    patience_cycles: u64,
) -> Result<Operation, RunError> {
    let firmware = image(images, firmware_of(kernel))?;
    let (word, returned) = done_condition(mailbox(&firmware)?);
    let mut operation = Operation::new(format!("wait for {kernel} on {place}"));
    let what = format!("{kernel} on {} returns", place.name(images.layout()));
    operation.wait_for(what, place.at(word), returned, patience_cycles);
    Ok(operation)
}

/// Returns the operation that clears the credits and semaphores of a stopped kernel.
pub(super) fn clear(
    images: &ImageMap,
    place: Place,
    kernel: &'static str,
) -> Result<Operation, RunError> {
    let mut operation = Operation::new(format!("clear the credits of {place}"));
    if kernel != WORKER && kernel != EDM {
        return Ok(operation); // A mux clears its words when it is launched.
    }
    if kernel == WORKER {
        for semaphore in ["CCL_SEMAPHORE_INBOUND", "CCL_SEMAPHORE_OUTBOUND", "CCL_SEMAPHORE_SIGNAL"]
        {
            let at = worker_semaphore(images, semaphore)?;
            operation.write_word(place.at(at.into()), 0);
        }
        return Ok(operation);
    }
    let edm = image(images, EDM)?;
    let words = constant_of(images, EDM, "EDM_WORDS")?;
    operation.write(place.at(words.into()), vec![0; size(&edm, "edm_words_t")? as usize]);
    let config = &images.layout().eth.l1.kernel_config;
    // Whatever number of semaphores follows the arguments.
    let first = semaphore_address(config.at, size(&edm, "edm_args_t")?, 0);
    operation.write(place.at(first), vec![0; config.end().saturating_sub(first) as usize]);
    Ok(operation)
}

/// Returns the operation that gives the Ethernet tile of an EDM back to base firmware.
///
/// An EDM that offers its handshake again while the link is down leaves the offer in its peer, which
/// has answered the first one and does not clear it.
pub(super) fn give_back(images: &ImageMap, place: Place) -> Result<Operation, RunError> {
    let mut operation = stop_application(images, Firmware::BUILT_IN, place)?;
    operation.write_word(place.at(handshake(images)?), 0);
    Ok(operation)
}

/// Returns the address of the word that tells an EDM that its peer has offered the handshake.
///
/// # Errors
/// `NoImage` or `NoMember`.
pub(super) fn handshake(images: &ImageMap) -> Result<u64, ControlError> {
    let field = image(images, EDM)?.symbols.field("edm_words_t.handshake.bytes_sent");
    let missing = |_| ControlError::NoMember(EDM.to_owned(), "the handshake".to_owned());
    Ok(u64::from(constant_of(images, EDM, "EDM_WORDS")?) + field.map_err(missing)?.offset)
}
