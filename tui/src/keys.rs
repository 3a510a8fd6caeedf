//! The table of keys: input is looked up in it; help and footer are printed from it.

use crate::panes::Screen;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The effect of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Quit,
    Interrupt,
    Suspend,
    Redraw,
    Help,
    NextPane,
    PreviousPane,
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Top,
    Bottom,
    /// `g` once: waits for the second.
    HalfTop,
    Enter,
    Back,
    Freeze,
    Find,
    FindNext,
    FindPrevious,
    Line,
    PreviousCore,
    NextCore,
    Show(Screen),
    PreviousMoment,
    NextMoment,
    PreviousChange,
    NextChange,
    PreviousStage,
    Mark,
    Retry,
    Pause,
    Step,
}

/// A key with the modifiers that matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chord {
    code: KeyCode,
    control: bool,
}

/// A line of the table.
pub(crate) struct Binding {
    pub(crate) chords: &'static [Chord],
    pub(crate) action: Action,
    /// The screens where it holds; none means all.
    pub(crate) on: &'static [Screen],
    /// The text in help.
    pub(crate) help: &'static str,
    /// The footer's text: keys and a word, if the key is named there.
    pub(crate) foot: Option<(&'static str, &'static str)>,
}

const fn key(code: KeyCode) -> Chord {
    Chord { code, control: false }
}

const fn char(c: char) -> Chord {
    key(KeyCode::Char(c))
}

const fn control(c: char) -> Chord {
    Chord { code: KeyCode::Char(c), control: true }
}

const fn bind(
    chords: &'static [Chord],
    action: Action,
    on: &'static [Screen],
    help: &'static str,
    foot: Option<(&'static str, &'static str)>,
) -> Binding {
    Binding { chords, action, on, help, foot }
}

const ALL: &[Screen] = &[];
const CORES: &[Screen] = &[Screen::Chip, Screen::Core];
const PANES: &[Screen] = &[Screen::Mesh, Screen::Core, Screen::Fabric];
const OPENS: &[Screen] = &[Screen::Mesh, Screen::Chip, Screen::Core, Screen::Fabric, Screen::Why];

/// Every key of every screen; the footer names them in this order.
pub(crate) const BINDINGS: &[Binding] = &[
    bind(&[char('q')], Action::Quit, ALL, "quit", Some(("q", "quit"))),
    bind(&[control('c')], Action::Interrupt, ALL, "quit at once, also while a line is typed", None),
    bind(&[control('z')], Action::Suspend, ALL, "suspend; the shell's fg comes back", None),
    bind(&[control('l')], Action::Redraw, ALL, "draw the screen again", None),
    bind(
        &[char('?'), key(KeyCode::F(1))],
        Action::Help,
        ALL,
        "help, and back",
        Some(("?", "help")),
    ),
    bind(
        &[key(KeyCode::Enter)],
        Action::Enter,
        OPENS,
        "open what is selected: chip, core, the bytes of a word, the root of a cause",
        Some(("Enter", "open")),
    ),
    bind(
        &[key(KeyCode::Esc), char('-')],
        Action::Back,
        ALL,
        "back: close help, filter, results; then the previous screen",
        Some(("Esc", "back")),
    ),
    bind(
        &[char('w')],
        Action::Show(Screen::Why),
        ALL,
        "why something stands still: the likely causes, each with its chain of waits",
        Some(("w", "why")),
    ),
    bind(
        &[key(KeyCode::Tab)],
        Action::NextPane,
        PANES,
        "next pane; on the fabric screen channels, waits, tables, path",
        Some(("Tab", "pane")),
    ),
    bind(&[key(KeyCode::BackTab)], Action::PreviousPane, PANES, "previous pane", None),
    bind(&[key(KeyCode::Up), char('k')], Action::Up, ALL, "up", Some(("hjkl", "move"))),
    bind(&[key(KeyCode::Down), char('j')], Action::Down, ALL, "down", None),
    bind(
        &[key(KeyCode::Left), char('h')],
        Action::Left,
        ALL,
        "left; folds a structure of words, or selects its parent; a path to another node",
        None,
    ),
    bind(
        &[key(KeyCode::Right), char('l')],
        Action::Right,
        ALL,
        "right; unfolds a structure of words; a path to another node",
        None,
    ),
    bind(
        &[char(' ')],
        Action::Freeze,
        ALL,
        "freeze the display, and continue; play a recording, and stop",
        Some(("Space", "freeze")),
    ),
    bind(&[char(',')], Action::PreviousCore, CORES, "previous core of this tile", None),
    bind(&[char('.')], Action::NextCore, CORES, "next core of this tile", Some((", .", "core"))),
    bind(&[char('[')], Action::PreviousMoment, ALL, "a recording: the moment before", None),
    bind(&[char(']')], Action::NextMoment, ALL, "a recording: the next moment", None),
    bind(
        &[char('{')],
        Action::PreviousChange,
        ALL,
        "a recording: back to the last change of what is selected",
        None,
    ),
    bind(
        &[char('}')],
        Action::NextChange,
        ALL,
        "a recording: the next change of what is selected",
        None,
    ),
    bind(&[char('m')], Action::Mark, ALL, "a recording: mark the moment", None),
    bind(
        &[char('/')],
        Action::Find,
        ALL,
        "filter links, words or routers, find a waypoint, go to an address or to a line of a text",
        Some(("/", "find")),
    ),
    bind(&[char('n')], Action::FindNext, &[Screen::Chip], "next tile found", None),
    bind(&[char('N')], Action::FindPrevious, &[Screen::Chip], "previous tile found", None),
    bind(
        &[char(':')],
        Action::Line,
        ALL,
        "command (run, launch, stop, pause, resume, step, fault, pace, goto, play, path, why, results, help, quit; Tab completes) or chip, chip:x-y[:addr], chip:e8, 0xaddr",
        Some((":", "command")),
    ),
    bind(&[char('1')], Action::Show(Screen::Mesh), ALL, "mesh screen", Some(("1-6", "screens"))),
    bind(&[char('2')], Action::Show(Screen::Chip), ALL, "chip screen", None),
    bind(&[char('3')], Action::Show(Screen::Core), ALL, "core screen", None),
    bind(&[char('4')], Action::Show(Screen::Gaps), ALL, "gaps and problems", None),
    bind(&[char('5')], Action::Show(Screen::Fabric), ALL, "fabric: routers, muxes, clients", None),
    bind(&[char('6')], Action::Show(Screen::Why), ALL, "why something stands still", None),
    bind(&[char('r')], Action::Retry, ALL, "retry what is in quarantine", None),
    bind(
        &[char('s')],
        Action::Step,
        ALL,
        "let paused kernels begin their next stage; a recording: the next stage of what is selected",
        None,
    ),
    bind(
        &[char('S')],
        Action::PreviousStage,
        ALL,
        "back to the last change of stage of what is selected: a recording, an emulated mesh",
        None,
    ),
    bind(&[char('p')], Action::Pause, ALL, "pause the kernels that run, and let them run on", None),
    bind(&[key(KeyCode::PageUp), control('u')], Action::PageUp, ALL, "page up", None),
    bind(&[key(KeyCode::PageDown), control('d')], Action::PageDown, ALL, "page down", None),
    bind(&[char('g')], Action::HalfTop, ALL, "twice: first line", None),
    bind(&[key(KeyCode::Home)], Action::Top, ALL, "first line", None),
    bind(&[key(KeyCode::End), char('G')], Action::Bottom, ALL, "last line", None),
];

/// The action of a key on a screen, if any.
pub(crate) fn lookup(event: &KeyEvent, screen: Screen) -> Option<Action> {
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    if event.modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    // Some terminals report Shift-Tab as Tab with a modifier.
    let shifted_tab = event.code == KeyCode::Tab && event.modifiers.contains(KeyModifiers::SHIFT);
    let code = if shifted_tab { KeyCode::BackTab } else { event.code };
    let chord = Chord { code, control };
    BINDINGS.iter().find(|b| b.holds_on(screen) && b.chords.contains(&chord)).map(|b| b.action)
}

/// The keys of an action, as help names them.
pub(crate) fn keys_of(action: Action) -> String {
    BINDINGS.iter().find(|b| b.action == action).map(Binding::keys).unwrap_or_default()
}

impl Binding {
    pub(crate) fn holds_on(&self, screen: Screen) -> bool {
        self.on.is_empty() || self.on.contains(&screen)
    }

    /// The keys as help names them.
    pub(crate) fn keys(&self) -> String {
        self.chords.iter().map(|c| c.name()).collect::<Vec<_>>().join(" ")
    }
}

impl Chord {
    fn name(self) -> String {
        let key = match self.code {
            KeyCode::Char(' ') => "Space".to_owned(),
            KeyCode::Char(c) => c.to_string(),
            KeyCode::BackTab => "Shift-Tab".to_owned(),
            KeyCode::PageUp => "PgUp".to_owned(),
            KeyCode::PageDown => "PgDn".to_owned(),
            KeyCode::F(n) => format!("F{n}"),
            other => format!("{other:?}"),
        };
        if self.control { format!("Ctrl-{key}") } else { key }
    }
}
