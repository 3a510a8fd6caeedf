//! The table of keys: input is looked up in it; help and footer are printed from it.

use crate::panes::Screen;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The effect of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
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
    /// Copies the text of what is selected.
    Copy,
    /// Copies the command that prints what is on screen.
    CopyCommand,
    /// Gives the mouse to the terminal, or takes it.
    Mouse,
    /// Opens the palette.
    Palette,
    /// Lists rows with something wrong only, or the others too.
    Faults,
    /// Sorts rows by the next column.
    Sort,
    /// Sorts rows the other way round.
    SortTurned,
    /// Changes what colour means on the map.
    Lens,
    /// Asks who wrote the selected word last.
    WhoWrote,
    /// Types the command that writes an archive to hand over.
    Bundle,
    /// Types the command that tears down whatever runs.
    Clean,
    ZoomIn,
    ZoomOut,
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
) -> Binding {
    Binding { chords, action, on, help }
}

const ALL: &[Screen] = &[];
const CORES: &[Screen] = &[Screen::Chip, Screen::Core];
const FINDS: &[Screen] = &[Screen::Chip, Screen::Routes];
const MAPS: &[Screen] = &[Screen::Mesh, Screen::Routes];
const PANES: &[Screen] = &[Screen::Mesh, Screen::Core, Screen::Fabric, Screen::Routes];
const TABLES: &[Screen] = &[
    Screen::Mesh,
    Screen::Fabric,
    Screen::Gaps,
    Screen::Why,
    Screen::Operations,
    Screen::Resources,
    Screen::Queues,
    Screen::Semaphores,
    Screen::Log,
];

/// Every key of every screen, by purpose, as help prints them.
pub(crate) const PURPOSES: &[(&str, &[Binding])] = &[
    (
        "Find out",
        &[
            bind(
                &[char('w')],
                Action::Show(Screen::Why),
                ALL,
                "why something stands still: the likely causes, each with its chain of waits",
            ),
            bind(
                &[key(KeyCode::Enter)],
                Action::Enter,
                ALL,
                "open what is selected: chip, core, the bytes of a word, the root of a cause",
            ),
            bind(
                &[char('/')],
                Action::Find,
                ALL,
                "filter rows (state=held chip=3 rate<1M still>10ms -idle), find a waypoint, go to an address or a line, end a path at a node",
            ),
            bind(
                &[char('!')],
                Action::Faults,
                TABLES,
                "list the rows with something wrong only, and the others too",
            ),
            bind(
                &[char('o')],
                Action::Sort,
                TABLES,
                "sort rows by the next column; after the last one, the worst comes first",
            ),
            bind(&[char('O')], Action::SortTurned, TABLES, "sort rows the other way round"),
            bind(
                &[char('c')],
                Action::Lens,
                MAPS,
                "what colour means on the map: age since last progress, state, waypoint, kernel, operation",
            ),
            bind(
                &[char('z')],
                Action::ZoomIn,
                MAPS,
                "closer to the selected chip: the whole mesh, chips with their waypoints, one chip",
            ),
            bind(
                &[char('Z')],
                Action::ZoomOut,
                &[Screen::Mesh, Screen::Chip, Screen::Routes],
                "away from the chip",
            ),
            bind(&[char('n')], Action::FindNext, FINDS, "next tile found; next end of the path"),
            bind(
                &[char('N')],
                Action::FindPrevious,
                FINDS,
                "previous tile found; previous end of the path",
            ),
            bind(
                &[char(':')],
                Action::Line,
                ALL,
                "a command (see below; Tab completes it), or a place: chip, chip:x-y[:addr], chip:e8, 0xaddr",
            ),
            bind(
                &[char('y')],
                Action::Copy,
                ALL,
                "copy what is selected to the clipboard; on the screen why, the text for an issue",
            ),
            bind(
                &[char('Y')],
                Action::CopyCommand,
                ALL,
                "copy the command line that prints what is on screen",
            ),
            bind(
                &[char('b')],
                Action::Bundle,
                ALL,
                "types :bundle with a file name: an archive of what was seen, to hand over",
            ),
            bind(
                &[control('p')],
                Action::Palette,
                ALL,
                "the palette: all that can be done here, found by letters in their order",
            ),
            bind(
                &[char('?'), key(KeyCode::F(1))],
                Action::Help,
                ALL,
                "help, and back; / searches in it",
            ),
        ],
    ),
    (
        "Screens",
        &[
            bind(&[char('1')], Action::Show(Screen::Mesh), ALL, "mesh: the map and the links"),
            bind(&[char('2')], Action::Show(Screen::Chip), ALL, "chip: its tiles"),
            bind(
                &[char('3')],
                Action::Show(Screen::Core),
                ALL,
                "core: its words, channels and memory",
            ),
            bind(&[char('4')], Action::Show(Screen::Gaps), ALL, "gaps: what could not be read"),
            bind(
                &[char('5')],
                Action::Show(Screen::Fabric),
                ALL,
                "fabric: routers, muxes, clients",
            ),
            bind(&[char('6')], Action::Show(Screen::Why), ALL, "why something stands still"),
            bind(
                &[char('7')],
                Action::Show(Screen::Operations),
                ALL,
                "operations: what runs on which chips, and who is behind",
            ),
            bind(
                &[char('8')],
                Action::Show(Screen::Resources),
                ALL,
                "resources: routers, dispatch, workers, and tiles that are free",
            ),
            bind(
                &[char('9')],
                Action::Show(Screen::Queues),
                ALL,
                "queues of base firmware at gateways, and transmit queues: depth, in flight, errors",
            ),
            bind(
                &[char('0')],
                Action::Show(Screen::Semaphores),
                ALL,
                "semaphores and circular buffers of what runs, and who waits for them",
            ),
            bind(
                &[char('R')],
                Action::Show(Screen::Routes),
                ALL,
                "routes: a packet's path on the map, routing tables, schedules of collectives",
            ),
            bind(
                &[char('L')],
                Action::Show(Screen::Log),
                ALL,
                "log: commands, writes, findings and notices; the notes of a recording",
            ),
            bind(
                &[key(KeyCode::Esc), char('-')],
                Action::Back,
                ALL,
                "back: close help, filter, results; then the previous screen",
            ),
            bind(
                &[key(KeyCode::Tab)],
                Action::NextPane,
                PANES,
                "next pane; on the screen fabric channels, waits; on routes path, tables, schedule",
            ),
            bind(&[key(KeyCode::BackTab)], Action::PreviousPane, PANES, "previous pane"),
        ],
    ),
    (
        "Move",
        &[
            bind(&[key(KeyCode::Up), char('k')], Action::Up, ALL, "up"),
            bind(&[key(KeyCode::Down), char('j')], Action::Down, ALL, "down"),
            bind(
                &[key(KeyCode::Left), char('h')],
                Action::Left,
                ALL,
                "left; folds a structure of words, or selects its parent",
            ),
            bind(
                &[key(KeyCode::Right), char('l')],
                Action::Right,
                ALL,
                "right; unfolds a structure of words",
            ),
            bind(&[key(KeyCode::PageUp), control('u')], Action::PageUp, ALL, "page up"),
            bind(&[key(KeyCode::PageDown), control('d')], Action::PageDown, ALL, "page down"),
            bind(&[char('g')], Action::HalfTop, ALL, "twice: first line"),
            bind(&[key(KeyCode::Home)], Action::Top, ALL, "first line"),
            bind(&[key(KeyCode::End), char('G')], Action::Bottom, ALL, "last line"),
            bind(&[char(',')], Action::PreviousCore, CORES, "previous core of this tile"),
            bind(&[char('.')], Action::NextCore, CORES, "next core of this tile"),
        ],
    ),
    (
        "Time",
        &[
            bind(
                &[char(' ')],
                Action::Freeze,
                ALL,
                "freeze the display, and continue; play a recording, and stop",
            ),
            bind(&[char('[')], Action::PreviousMoment, ALL, "a recording: the moment before"),
            bind(&[char(']')], Action::NextMoment, ALL, "a recording: the next moment"),
            bind(
                &[char('{')],
                Action::PreviousChange,
                ALL,
                "a recording: back to the last change of what is selected",
            ),
            bind(
                &[char('}')],
                Action::NextChange,
                ALL,
                "a recording: the next change of what is selected",
            ),
            bind(
                &[char('S')],
                Action::PreviousStage,
                ALL,
                "back to the last change of stage of what is selected: a recording, an emulated mesh",
            ),
            bind(
                &[char('W')],
                Action::WhoWrote,
                &[Screen::Core],
                "who wrote the selected word last: an emulated mesh, and recordings of one with its run",
            ),
            bind(&[char('m')], Action::Mark, ALL, "a recording: mark the moment"),
        ],
    ),
    (
        "Change the mesh",
        &[
            bind(
                &[char('p')],
                Action::Pause,
                ALL,
                "pause the kernels that run, and let them run on",
            ),
            bind(
                &[char('s')],
                Action::Step,
                ALL,
                "let paused kernels begin their next stage; a recording: the next stage of what is selected",
            ),
            bind(&[char('r')], Action::Retry, ALL, "retry what is in quarantine"),
            bind(
                &[char('X')],
                Action::Clean,
                ALL,
                "types :clean, which tears down what runs, also what a killed run has left",
            ),
        ],
    ),
    (
        "Program",
        &[
            bind(&[char('q')], Action::Quit, ALL, "close help; quit"),
            bind(
                &[control('c')],
                Action::Interrupt,
                ALL,
                "quit at once, also while a line is typed",
            ),
            bind(&[control('z')], Action::Suspend, ALL, "suspend; the shell's fg comes back"),
            bind(
                &[char('M')],
                Action::Mouse,
                ALL,
                "the mouse: click selects, again opens, the wheel moves; M gives it to the terminal, and takes it",
            ),
            bind(&[control('l')], Action::Redraw, ALL, "draw the screen again"),
        ],
    ),
];

/// What the footer names as far as there is room, the most important first.
const FOOT: &[(Action, &str, &str)] = &[
    (Action::Quit, "q", "quit"),
    (Action::Help, "?", "help"),
    (Action::Line, ":", "command"),
    (Action::Find, "/", "find"),
    (Action::Show(Screen::Why), "w", "why"),
    (Action::NextMoment, "[ ]", "moment"),
    (Action::Enter, "Enter", "open"),
    (Action::Freeze, "Space", "freeze"),
    (Action::Palette, "^P", "all"),
    (Action::Back, "Esc", "back"),
    (Action::NextPane, "Tab", "pane"),
    (Action::Faults, "!", "faults"),
    (Action::Sort, "o", "sort"),
    (Action::Lens, "c", "colour"),
    (Action::ZoomIn, "z", "zoom"),
    (Action::NextCore, ", .", "core"),
    (Action::Up, "hjkl", "move"),
    (Action::Show(Screen::Mesh), "0-9", "screens"),
    (Action::NextChange, "{ }", "change"),
    (Action::Copy, "y", "copy"),
    (Action::Bundle, "b", "bundle"),
    (Action::Pause, "p", "pause"),
];

fn bindings() -> impl Iterator<Item = &'static Binding> {
    PURPOSES.iter().flat_map(|(_, bindings)| *bindings)
}

/// The names of the actions that keys can be given to, as settings name them.
pub(crate) fn action_names() -> impl Iterator<Item = (String, Action)> {
    bindings().map(|binding| (binding.action.name(), binding.action))
}

/// The keys of a session: those of the table, but for actions to which a person gave others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keys(Vec<(Action, Vec<Chord>)>);

impl Keys {
    /// Gives keys to an action, in place of its own; they are no longer those of another action.
    ///
    /// # Errors
    /// One of them was given to another action of the same screen, whose name is returned.
    pub(crate) fn give(&mut self, action: Action, chords: Vec<Chord>) -> Result<(), String> {
        let on = |action: Action| bindings().filter(move |binding| binding.action == action);
        let meet = |other: Action| {
            on(action).any(|a| {
                Screen::ALL.iter().any(|s| a.holds_on(*s) && on(other).any(|b| b.holds_on(*s)))
            })
        };
        let taken = self.0.iter().find(|(other, theirs)| {
            theirs.iter().any(|chord| chords.contains(chord)) && meet(*other)
        });
        if let Some((other, _)) = taken {
            return Err(other.name());
        }
        self.0.push((action, chords));
        Ok(())
    }

    fn given(&self, action: Action) -> Option<&[Chord]> {
        self.0.iter().find(|(given, _)| *given == action).map(|(_, chords)| &chords[..])
    }

    fn has(&self, binding: &Binding, chord: Chord) -> bool {
        self.given(binding.action).unwrap_or(binding.chords).contains(&chord)
    }

    /// The binding of a key on screens that pass; one that a person gave comes first.
    fn find(&self, chord: Chord, on: impl Fn(&Binding) -> bool) -> Option<&'static Binding> {
        let fits = |binding: &&Binding| self.has(binding, chord) && on(binding);
        let given = bindings().filter(fits).find(|it| self.given(it.action).is_some());
        given.or_else(|| bindings().find(fits))
    }

    /// The keys of a binding, as help names them.
    pub(crate) fn names(&self, binding: &Binding) -> String {
        let chords = self.given(binding.action).unwrap_or(binding.chords);
        chords.iter().map(|chord| chord.name()).collect::<Vec<_>>().join(" ")
    }

    /// The keys of an action, as help names them.
    pub(crate) fn of(&self, action: Action) -> String {
        let binding = bindings().find(|binding| binding.action == action);
        binding.map(|binding| self.names(binding)).unwrap_or_default()
    }

    /// The key that shows a screen, as its tab names it.
    pub(crate) fn of_tab(&self, screen: Screen) -> String {
        match self.given(Action::Show(screen)) {
            Some(chords) => chords.first().map(|chord| chord.name()).unwrap_or_default(),
            None => screen.key().to_string(),
        }
    }

    /// The keys and their words in the footer of a screen, the most important first; those of the
    /// time line if there is one.
    pub(crate) fn foot(
        &self,
        screen: Screen,
        timeline: bool,
    ) -> impl Iterator<Item = (String, &'static str)> {
        let of_time = |action| matches!(action, Action::NextMoment | Action::NextChange);
        let holds = move |action| bindings().any(|b| b.action == action && b.holds_on(screen));
        let shown = FOOT.iter().filter(move |(action, ..)| timeline || !of_time(*action));
        shown.filter(move |(action, ..)| holds(*action)).map(move |(action, keys, word)| {
            let keys = match self.given(*action) {
                Some(_) => self.of(*action),
                None => (*keys).to_owned(),
            };
            (keys, if *action == Action::Freeze && timeline { "play" } else { *word })
        })
    }

    /// The actions of a screen, with their keys and what they do.
    pub(crate) fn actions(
        &self,
        screen: Screen,
    ) -> impl Iterator<Item = (Action, String, &'static str)> {
        let on = bindings().filter(move |binding| binding.holds_on(screen));
        on.map(|binding| (binding.action, self.names(binding), binding.help))
    }

    /// The sentence about a key that does nothing on a screen; none if it is no key that a person
    /// would miss.
    pub(crate) fn refused(&self, event: &KeyEvent, screen: Screen) -> Option<String> {
        if matches!(event.code, KeyCode::Null | KeyCode::Modifier(_) | KeyCode::Media(_)) {
            return None;
        }
        let chord = chord(event);
        let alt = event.modifiers.contains(KeyModifiers::ALT);
        let name = if alt { format!("Alt-{}", chord.name()) } else { chord.name() };
        let elsewhere = self.find(chord, |binding| !binding.holds_on(screen));
        let Some(Binding { help: about, on, .. }) = elsewhere.filter(|_| !alt) else {
            let help = self.of(Action::Help);
            return Some(format!("{name} is no key of this program; {help} lists its keys"));
        };
        let on: Vec<_> = on.iter().map(|screen| screen.name()).collect();
        Some(format!("{name} is a key of the screens {}: {about}", on.join(", ")))
    }

    /// The action of a key on a screen, if any.
    pub(crate) fn lookup(&self, event: &KeyEvent, screen: Screen) -> Option<Action> {
        if event.modifiers.contains(KeyModifiers::ALT) {
            return None;
        }
        self.find(chord(event), |binding| binding.holds_on(screen)).map(|binding| binding.action)
    }
}

fn chord(event: &KeyEvent) -> Chord {
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    // Some terminals report Shift-Tab as Tab with a modifier.
    let shifted_tab = event.code == KeyCode::Tab && event.modifiers.contains(KeyModifiers::SHIFT);
    let code = if shifted_tab { KeyCode::BackTab } else { event.code };
    Chord { code, control }
}

impl Binding {
    pub(crate) fn holds_on(&self, screen: Screen) -> bool {
        self.on.is_empty() || self.on.contains(&screen)
    }
}

impl Action {
    /// Its name in settings: the screen that it shows, or what it is.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Show(screen) => screen.name().to_owned(),
            other => <&str>::from(other).to_owned(),
        }
    }
}

/// Keys with names of their own.
const NAMED: [KeyCode; 16] = [
    KeyCode::Enter,
    KeyCode::Esc,
    KeyCode::Tab,
    KeyCode::BackTab,
    KeyCode::Backspace,
    KeyCode::Delete,
    KeyCode::Insert,
    KeyCode::Home,
    KeyCode::End,
    KeyCode::PageUp,
    KeyCode::PageDown,
    KeyCode::Up,
    KeyCode::Down,
    KeyCode::Left,
    KeyCode::Right,
    KeyCode::Char(' '),
];

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

    /// The key that help names so.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let (control, rest) = name.strip_prefix("Ctrl-").map_or((false, name), |rest| (true, rest));
        let mut letters = rest.chars();
        let code = if let (Some(letter), None) = (letters.next(), letters.next()) {
            KeyCode::Char(letter)
        } else {
            let functions = (1..=12).map(KeyCode::F);
            NAMED.into_iter().chain(functions).find(|code| key(*code).name() == rest)?
        };
        Some(Self { code, control })
    }
}
