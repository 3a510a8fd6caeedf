//! Everything that can happen to the picture, and everything that it can ask for.

use crate::feed::MeshSnapshot;
use crate::run::Order;
use crossterm::event::KeyEvent;
use decode::inspect::ReadSet;
use std::sync::Arc;

/// Something happened: the only way in which the model changes.
#[derive(Clone, Debug)]
pub enum Message {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted; only a prompt takes it.
    Paste(String),
    /// The terminal has this many columns and rows now.
    Resize(u16, u16),
    /// The probe thread published a look at the target.
    Snapshot(Arc<MeshSnapshot>),
    /// The probe thread ended, and why.
    Lost(String),
    /// A source file was looked for; its text, if it could be read.
    Source(String, Option<Arc<str>>),
    /// Host time passed: microseconds since the Unix epoch. Ages on screen follow it.
    Tick(u64),
}

/// Something that the picture asks of the world outside it.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Draw the model again.
    Draw,
    /// Leave.
    Quit,
    /// Leave, and say that it was an interruption.
    Interrupt,
    /// Look for a source file, so that the line of a waypoint can be shown.
    ReadSource(String),
    /// Let what is latched be tried again.
    ClearQuarantine,
    /// Do something to the machine.
    Order(Order),
    /// Let each look read what is on screen now.
    Read(ReadSet),
}
