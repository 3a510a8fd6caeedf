//! The inputs of the live view, and the commands that it returns.

use console::feed::MeshSnapshot;
use console::opening::Stages;
use console::run::{Bundle, MachineOrder};
use crossterm::event::{KeyEvent, MouseEvent};
use decode::inspect::ReadSet;
use std::path::PathBuf;
use std::sync::Arc;

/// An input: the only cause of changes to the model.
#[derive(Clone, Debug)]
pub enum Message {
    /// A key was pressed.
    Key(KeyEvent),
    /// The mouse was clicked or its wheel turned.
    Mouse(MouseEvent),
    /// Text was pasted; only a prompt takes it.
    Paste(String),
    /// The terminal was resized to these columns and rows.
    Resize(u16, u16),
    /// The probe thread has come this far with opening the target.
    Opening(Arc<Stages>),
    /// The probe thread published a snapshot, whole or still being read.
    Snapshot(Arc<MeshSnapshot>),
    /// The probe thread ended, with the reason.
    Lost(String),
    /// A source file was searched for; its text, if it could be read.
    Source(String, Option<Arc<str>>),
    /// The files whose paths begin with a word.
    Files(String, Vec<String>),
    /// A command of the event loop was carried out, or why not.
    Notice(String),
    /// Host time in microseconds since the Unix epoch; ages on screen follow it.
    Tick(u64),
}

/// A command to the event loop.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Draw the model again.
    Draw,
    /// Clear the terminal and draw everything again.
    Clear,
    /// Stop until the shell continues the program.
    Suspend,
    /// List the files whose paths begin with this.
    ListFiles(String),
    /// Keep a typed line for later sessions.
    Remember(String),
    /// Write what is on screen to a file, as SVG.
    Svg(PathBuf),
    /// Write an archive of a recording.
    Bundle(Bundle),
    /// Give this text to the terminal, which puts it on the clipboard (OSC 52).
    Copy(String),
    /// Take the mouse from the terminal, or give it back.
    Mouse(bool),
    /// Quit.
    Quit,
    /// Quit as interrupted.
    Interrupt,
    /// Search for a source file, to show the line of a waypoint.
    ReadSource(String),
    /// End the quarantine.
    ClearQuarantine,
    /// Change the machine.
    Order(MachineOrder),
    /// Let snapshots read what is on screen.
    Read(ReadSet),
}
