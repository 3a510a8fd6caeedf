//! The accesses that `print` would make.

use super::Question;
use super::answer::{Wrong, asking, span};
use console::exit::Failure;
use console::machine::Machine;
use images::Image;
use layouts::CoreId;
use machine::snapshot::{Plan, Span};
use machine::target::Preview;
use std::sync::Arc;
use symbols::EvalError;

/// The first accesses of `print`. What `print` would refuse is refused here too, if that is known
/// without a snapshot: nothing, if a snapshot may bring `more` images.
pub(in crate::verbs) fn preview(
    machine: &mut Machine,
    question: &Question,
    more: bool,
) -> Result<Preview, Failure> {
    let core = question.core(&machine.mesh())?;
    let session = machine.session();
    let mut plans = session.plans_to_verify(core);
    let (target, images) = session.parts();
    let mut known: Vec<_> = images.resolved(core).into_iter().map(|load| load.image).collect();
    for image in images.candidates(core.core) {
        if !known.iter().any(|other| std::ptr::eq(*other, Arc::as_ptr(image))) {
            known.push(image);
        }
    }
    match spans(question, core, known) {
        Ok(spans) => plans.push(Plan { spans }),
        Err(_) if more => {}
        Err(failure) => return Err(failure),
    }
    Ok(target.preview(&plans))
}

/// The read of the first image that knows the expression.
fn spans(question: &Question, core: CoreId, known: Vec<&Image>) -> Result<Vec<Span>, Failure> {
    let (known, expression) = question.search(core, known, |image| image)?;
    let mut wrong = Wrong::default();
    for image in &known {
        let mut spans = Vec::new();
        let read =
            image.symbols.evaluate(&asking(image, &expression).0, |addr, bytes: &mut [u8]| {
                spans.extend(span(image.layout, core, addr, bytes.len() as u64).ok());
                Err("not read")
            });
        match read {
            Err(error @ EvalError::Wrong { .. }) => wrong.note(image, &error),
            _ => return Ok(spans),
        }
    }
    Err(wrong.failure(core, &known))
}
