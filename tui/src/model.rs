//! The state of the display: plain data that `update` changes and `view` reads.

use crate::geometry;
use crate::keys::{Action, Keys};
pub use crate::lens::Lens;
use crate::lens::Shades;
pub use crate::panes::{CorePane, FabricPane, List, Lists, MeshPane, RoutesPane, Screen, Zoom};
use crate::pulse::{BusyChips, Pulse};
use crate::route::Route;
use crate::table::{Cell, Filter, Rank, Row, Value};
pub use crate::table::{Shows, Table};
use crate::theme::Theme;
use cli::TourStep;
use console::fabric::Addressee;
use console::feed::MeshSnapshot;
use console::glyph::Glyphs;
use console::halted::HeldCore;
use console::locate;
use console::members::{self, MemberRow};
use console::opening::Stages;
use console::player::Timeline;
use console::run::Sheet;
use console::verdict;
use decode::inspect::{ReadSet, fabric_read_set};
use decode::state::{Activity, ChipState, CoreState, MeshState, TileState};
use diagnosis::{Diagnosis, Place, Progress};
use images::{Reading, SourceLine};
use layouts::{ChipId, CoreId, CoreKind, NocAddr, NocXy, TileKind};
use machine::snapshot::Span as Range;
use ratatui::text::Span;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tui_input::Input;

/// The fields of words that filters name.
pub(crate) const WORD_FIELDS: [&str; 4] = ["name", "addr", "size", "value"];

/// Tiles that were looked at longer ago fade on the map, and are read in turn.
const OLD_MICROS: u64 = 10_000_000;

/// Members larger than this are not read in every snapshot.
const LARGE_BYTES: u32 = 512;

/// The purpose of a typed line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptKind {
    /// `/`: find or filter in the screen that is shown.
    Find,
    /// `:`: a command, or a place to go to.
    Line,
    /// Ctrl-P: all that can be done.
    Palette,
}

/// The line being typed at the foot of the screen.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// Its purpose.
    pub kind: PromptKind,
    /// The text.
    pub input: Input,
    /// The line of the history that is shown, and the text that it replaced.
    pub recalled: Option<(usize, String)>,
    /// What Tab offers, if anything.
    pub choices: Option<Choices>,
    /// The entry of the palette that is chosen.
    pub picked: usize,
    /// The filter before it, which Esc brings back.
    pub filtered_by: Option<String>,
}

impl Prompt {
    /// An empty line.
    pub(crate) fn new(kind: PromptKind) -> Self {
        Self {
            kind,
            input: Input::default(),
            recalled: None,
            choices: None,
            picked: 0,
            filtered_by: None,
        }
    }
}

/// Several completions of a line.
#[derive(Clone, Debug)]
pub struct Choices {
    /// The line without the completion.
    pub stem: String,
    /// The completions.
    pub all: Vec<String>,
    /// Index of the completion in the line, once one is chosen.
    pub at: Option<usize>,
}

/// The state of the display.
#[derive(Clone, Debug)]
pub struct Model {
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The keys of actions.
    pub(crate) keys: Keys,
    /// Styles.
    pub theme: Theme,
    /// Glyphs.
    pub glyphs: Glyphs,
    /// Host time, in microseconds since the Unix epoch.
    pub now_micros: u64,
    /// Host time of the first tick.
    pub started_micros: Option<u64>,
    /// The words that open the target, shown until the first snapshot.
    pub target: String,
    /// The stages of opening the target, shown until the first snapshot.
    pub opening: Arc<Stages>,
    /// The snapshot on screen.
    pub shown: Option<Arc<MeshSnapshot>>,
    /// The snapshot that was on screen before, to mark changes.
    pub before: Option<Arc<MeshSnapshot>>,
    /// The newest snapshot, which is not shown while frozen.
    pub newest: Option<Arc<MeshSnapshot>>,
    /// Snapshots that were published and never shown, because a newer one came first.
    pub dropped: u64,
    /// Whether the display is frozen; the target is still read.
    pub frozen: bool,
    /// Source files by the path in the debug information; `None` unless the file was found.
    pub sources: BTreeMap<String, Option<Arc<str>>>,
    /// Why the probe thread ended, if it did.
    pub lost: Option<String>,
    /// The screen that is shown.
    pub screen: Screen,
    /// The screens that Esc goes back to.
    pub trail: Vec<Screen>,
    /// First line of help on screen, while it is open.
    pub help: Option<usize>,
    /// The line being typed, if any.
    pub prompt: Option<Prompt>,
    /// Lines that were typed after `:`, the oldest first.
    pub history: Vec<String>,
    /// Archives that were asked for, and begun.
    pub(crate) bundles: usize,
    /// Number of sheets of runs that are hidden.
    pub put_away: usize,
    /// Number of the last notice of the probe thread that was shown.
    pub last_notice: u64,
    /// A notice for the user, until the next key.
    pub notice: Option<String>,
    /// What is left of a tour through the screens.
    pub tour: &'static [TourStep],
    /// Whether the terminal keeps the mouse, so that it can select text.
    pub mouse_let_go: bool,
    /// Whether `g` was pressed once.
    pub pending_g: bool,
    /// Focused pane of the mesh screen.
    pub mesh_pane: MeshPane,
    /// Selected chip.
    pub chip: ChipId,
    /// The tables of the lists.
    pub lists: Lists,
    /// What the snapshots tell together.
    pub(crate) pulse: Pulse,
    /// What the cores of each chip do.
    pub(crate) busy: BusyChips,
    /// What the colour of a tile means on the map.
    pub lens: Lens,
    /// What the tiles show through it.
    pub(crate) shades: Shades,
    /// How close the map is.
    pub zoom: Zoom,
    /// Selected tile of the selected chip.
    pub tile: NocXy,
    /// Selected core of the selected tile.
    pub core: CoreKind,
    /// What `/` last searched for on the chip screen.
    pub find: String,
    /// Focused pane of the core screen.
    pub core_pane: CorePane,
    /// Selected row of the words that pass the filter.
    pub word: usize,
    /// What `/` filters words by.
    pub word_filter: String,
    /// Paths of structures whose folding is not the default: outermost ones folded, others
    /// unfolded.
    pub turned: BTreeSet<String>,
    /// Address under the cursor of the memory pane, in the tile.
    pub cursor: u64,
    /// Address of the first byte that the memory pane shows, 16-aligned.
    pub top: u64,
    /// What the fabric screen shows below its list.
    pub fabric_pane: FabricPane,
    /// What the routes screen shows.
    pub routes_pane: RoutesPane,
    /// First line of its text that is shown.
    pub(crate) routes_line: usize,
    /// The path on that screen.
    pub(crate) route: Route,
    /// First line of the selected cause that is shown.
    pub cause_line: usize,
    /// Snapshots up to this number were requested without the fabric.
    pub(crate) fabric_unasked: u64,
    /// Where that path begins, if not on the selected chip.
    pub(crate) path_from: Option<Addressee>,
    /// Its end, if not the destination of the oldest packet that waits on that chip.
    pub(crate) path_to: Option<Addressee>,
}

impl Model {
    /// The display before anything was read.
    pub fn new(target: &str, theme: Theme, glyphs: Glyphs, size: (u16, u16)) -> Self {
        Self {
            size,
            keys: Keys::default(),
            theme,
            glyphs,
            now_micros: 0,
            started_micros: None,
            target: target.to_owned(),
            opening: Arc::default(),
            shown: None,
            before: None,
            newest: None,
            dropped: 0,
            frozen: false,
            sources: BTreeMap::new(),
            lost: None,
            screen: Screen::Mesh,
            trail: Vec::new(),
            help: None,
            prompt: None,
            history: Vec::new(),
            bundles: 0,
            put_away: 0,
            last_notice: 0,
            notice: None,
            tour: &[],
            mouse_let_go: false,
            pending_g: false,
            mesh_pane: MeshPane::Map,
            chip: ChipId(0),
            lists: Lists::default(),
            pulse: Pulse::default(),
            busy: BusyChips::new(),
            lens: Lens::Age,
            shades: Shades::default(),
            zoom: Zoom::Mesh,
            tile: NocXy { x: 1, y: 0 },
            core: CoreKind::Brisc,
            find: String::new(),
            core_pane: CorePane::Words,
            word: 0,
            word_filter: String::new(),
            turned: BTreeSet::new(),
            cursor: 0,
            top: 0,
            fabric_pane: FabricPane::Channels,
            routes_pane: RoutesPane::Path,
            routes_line: 0,
            route: Route::default(),
            cause_line: 0,
            fabric_unasked: 0,
            path_from: None,
            path_to: None,
        }
    }

    /// The list that keys are for, if one is.
    pub(crate) fn list(&self) -> Option<List> {
        Some(match self.screen {
            Screen::Mesh if self.mesh_pane == MeshPane::Cores => List::Cores,
            Screen::Mesh => List::Links,
            Screen::Fabric => List::Parts,
            Screen::Why => List::Causes,
            Screen::Gaps => List::Gaps,
            Screen::Operations => List::Operations,
            Screen::Resources => List::Resources,
            Screen::Queues => List::Queues,
            Screen::Semaphores => List::Semaphores,
            Screen::Log => List::Log,
            Screen::Chip | Screen::Core | Screen::Routes => return None,
        })
    }

    /// The table of that list.
    pub(crate) fn table(&mut self) -> Option<&mut Table> {
        self.list().map(|list| &mut self.lists[list])
    }

    /// What the selected row of that list is about.
    pub(crate) fn place(&self) -> Option<Place> {
        self.lists[self.list()?].selected()?.place
    }

    /// The selected cause of the verdict.
    pub(crate) fn cause(&self) -> usize {
        self.lists[List::Causes].selected().map_or(0, |row| row.item)
    }

    /// The mesh on screen.
    pub fn mesh(&self) -> Option<&MeshState> {
        self.shown.as_deref().map(|snapshot| &snapshot.state)
    }

    /// The mesh that was on screen before.
    pub(crate) fn mesh_before(&self) -> Option<&MeshState> {
        self.before.as_deref().map(|snapshot| &snapshot.state)
    }

    /// The selected chip.
    pub(crate) fn chip_state(&self) -> Option<&ChipState> {
        self.mesh()?.chips.iter().find(|c| c.chip.id == self.chip)
    }

    /// The selected tile.
    pub(crate) fn tile_state(&self) -> Option<&TileState> {
        self.mesh()?.tile(self.chip, self.tile)
    }

    /// The id of the selected core.
    pub(crate) fn core_id(&self) -> CoreId {
        CoreId { chip: self.chip, tile: self.tile, core: self.core }
    }

    /// The selected core.
    pub(crate) fn core_state(&self) -> Option<&CoreState> {
        self.mesh()?.core(self.core_id())
    }

    /// The selected core, if it is under control.
    pub(crate) fn held(&self) -> Option<&HeldCore> {
        let held = &self.shown.as_deref()?.board.held;
        held.iter().find(|held| held.core == self.core_id())
    }

    /// The verdict on the mesh on screen, if there is one yet.
    pub(crate) fn verdict(&self) -> Option<&Diagnosis> {
        self.shown.as_deref()?.verdict.as_deref()
    }

    /// What a core on screen does: whether a launched one moves is known from the verdict only,
    /// everything else from the snapshot itself, which is newer.
    pub(crate) fn progress(&self, core: &CoreState) -> Option<Progress> {
        self.progress_of(core.id, &core.activity)
    }

    /// The same of a core of which this activity is known.
    pub(crate) fn progress_of(&self, core: CoreId, does: &Reading<Activity>) -> Option<Progress> {
        let diagnosis = self.verdict()?;
        // That it is paused shows one snapshot.
        let tells = |it: &&Progress| diagnosis.missing.is_empty() || **it == Progress::Paused;
        let judged = *diagnosis.progress.get(&core).filter(tells)?;
        match does.known()? {
            Activity::InReset => Some(Progress::InReset),
            Activity::BaseFirmware | Activity::Waiting => Some(Progress::NeverStarted),
            Activity::Done => Some(Progress::Ended),
            Activity::Running => match judged {
                Progress::Progressing
                | Progress::Waiting(..)
                | Progress::Paused
                | Progress::Still
                | Progress::Unknown => Some(judged),
                // It was launched since.
                _ => None,
            },
        }
    }

    /// The moments of the recording that is shown.
    pub(crate) fn timeline(&self) -> Option<&Timeline> {
        self.shown.as_ref()?.timeline.as_ref()
    }

    /// Columns and rows that are left below the line about what stands still, and above the time
    /// line and the tour.
    pub(crate) fn room(&self) -> (u16, u16) {
        let line = u16::from(self.alarm(self.size.0).is_some());
        let below = self.time_rows() + u16::from(!self.tour.is_empty());
        (self.size.0, self.size.1.saturating_sub(line + below))
    }

    /// Rows of the time line: that of a live mesh has one where there is little room, and where the map needs
    /// all none but the end of the footer.
    pub(crate) fn time_rows(&self) -> u16 {
        const HIGH: u16 = 36;
        const LOW: u16 = 30;
        match self.timeline() {
            Some(timeline) => timeline.rows(self.size),
            None if self.shown.is_some() && self.size.1 >= HIGH => 3,
            None if self.shown.is_some() && self.size.1 >= LOW => 1,
            None => 0,
        }
    }

    /// How long ago the tiles of a chip were looked at, if that is long ago, in microseconds. A
    /// verdict looks at all of them; where reads are dear, it does so seldom. What is frozen stays as
    /// old as it was.
    pub(crate) fn seen_ago(&self, chip: ChipId) -> Option<u64> {
        let shown = self.shown.as_deref().filter(|it| it.timeline.is_none())?;
        let now = if self.frozen { shown.taken_micros } else { self.now_micros };
        let ago = now.saturating_sub(*shown.seen_micros.get(&chip)?);
        (ago > OLD_MICROS).then_some(ago)
    }

    /// The chip whose tiles the map reads next, so that all have their turn: the one that was looked
    /// at longest ago.
    fn chip_due(&self) -> Option<ChipId> {
        let seen = &self.shown.as_deref()?.seen_micros;
        let (chip, _) = seen.iter().min_by_key(|(_, micros)| **micros)?;
        self.seen_ago(*chip).map(|_| *chip)
    }

    /// The line about what stands still, or is left, of at most this many columns.
    pub(crate) fn alarm(&self, width: u16) -> Option<String> {
        let stands = self.verdict().and_then(|it| verdict::line(it, width.into()));
        stands.or_else(|| self.left())
    }

    /// What still runs of a client that was lost.
    fn left(&self) -> Option<String> {
        let (shown, mesh) = (self.shown.as_deref()?, self.mesh()?);
        let lost = mesh.before.client.as_ref().filter(|it| it.broke_off)?;
        // What this session runs is its own.
        if shown.board.launched || !shown.board.sheets.is_empty() {
            return None;
        }
        let cores = mesh.chips.iter().flat_map(|chip| &chip.tiles).flat_map(|tile| &tile.cores);
        let runs = |core: &&CoreState| core.activity.known() == Some(&Activity::Running);
        let first = cores.into_iter().find(runs)?.id;
        let keys = self.keys.of(Action::Clean);
        Some(format!(
            "left by {}, which was disconnected: {first} still runs; {keys} tears it down",
            lost.client
        ))
    }

    /// The source file of the selected core's waypoint, if it was not searched for yet. An ELF of a
    /// recording names none.
    pub(crate) fn source_wanted(&self) -> Option<&str> {
        let on_screen = self.screen == Screen::Core;
        let core = self.core_state().filter(|_| on_screen)?;
        if core.images.iter().any(|image| image.attached) {
            return None;
        }
        let pause = self.held().and_then(|held| held.pause.as_ref());
        let place = pause.map_or(&core.location, |pause| &pause.lines).first()?;
        place.file.as_deref().filter(|file| !self.sources.contains_key(*file))
    }

    /// The text of a source line, if its file was found.
    pub(crate) fn source_text(&self, place: &SourceLine) -> Option<&str> {
        let text = self.sources.get(place.file.as_deref()?)?.as_deref()?;
        let line = usize::try_from(place.line?).ok()?.checked_sub(1)?;
        text.lines().nth(line).map(str::trim).filter(|l| !l.is_empty())
    }

    /// The rows of words of the selected core that are unfolded or pass the filter.
    pub(crate) fn words(&self) -> Vec<MemberRow<'_>> {
        let filter = Filter::parse(&self.word_filter, &WORD_FIELDS).unwrap_or_default();
        let has_values = self.word_filter.contains("value");
        let passes = |row: &MemberRow<'_>| filter.holds(&self.word_row(row, has_values));
        let filter: Option<&dyn Fn(&MemberRow<'_>) -> bool> =
            if self.word_filter.is_empty() { None } else { Some(&passes) };
        let rows = |core| members::rows(core, filter, &self.turned);
        self.core_state().map(rows).unwrap_or_default()
    }

    /// A word as filters see it.
    fn word_row(&self, row: &MemberRow<'_>, has_values: bool) -> Row {
        let memory = self.shown.as_deref().map(|shown| &shown.memory).filter(|_| has_values);
        let value = memory.map(|memory| members::text(self.core_id(), memory, row));
        let value = value.as_ref().and_then(Reading::known).cloned().unwrap_or_default();
        let number = value.split_whitespace().next().and_then(|text| locate::number(text).ok());
        let shown = |number| Cell::number("addr", Span::raw(""), Some(number));
        Row {
            key: String::new(),
            item: 0,
            rank: Rank::Moves,
            place: None,
            cells: vec![Cell::text("name", Span::raw(row.path().to_owned())), shown(row.addr())],
            hidden: vec![
                ("size", Value::Number(Some(row.size()))),
                ("value", Value::Number(number)),
            ],
        }
    }

    /// The selected member: a large one is read only while it is selected.
    fn selected_member(&self) -> Option<Range> {
        /// At most this many bytes of it are read in one snapshot.
        const MOST: u64 = 0x4000;
        let row = self.words().get(self.word).copied().filter(|row| row.size() > 0)?;
        let addr = NocAddr { chip: self.chip, tile: self.tile, offset: row.addr() };
        Some(Range { addr, len: row.size().min(MOST) as u32 })
    }

    /// What the next snapshot has to contain for the screen that is shown.
    pub fn read_set(&self) -> ReadSet {
        let mut read_set = ReadSet { links: true, ..ReadSet::default() };
        match self.screen {
            Screen::Mesh => {
                read_set.compute.extend(self.chip_due());
                if self.lens == Lens::Noc {
                    let mesh = self.newest.as_ref().map(|newest| newest.state.mesh());
                    read_set.spans = mesh.map_or_else(Vec::new, |mesh| self.pulse.noc.due(&mesh));
                }
            }
            Screen::Gaps
            | Screen::Why
            | Screen::Operations
            | Screen::Resources
            | Screen::Semaphores
            | Screen::Log => {}
            Screen::Queues => read_set.spans = self.queue_words(),
            Screen::Routes if self.routes_pane == RoutesPane::Schedule => {}
            Screen::Fabric | Screen::Routes => {
                let fabric_tables = self.screen == Screen::Routes;
                read_set = ReadSet { fabric: true, fabric_tables, proofs: true, ..read_set };
                // Muxes and clients are known only after a snapshot of the routers' connections.
                if let Some(newest) = &self.newest {
                    read_set = fabric_read_set(&newest.state.fabric, &read_set);
                }
            }
            Screen::Chip => {
                read_set.compute.push(self.chip);
                read_set.tile = Some((self.chip, self.tile));
            }
            Screen::Core => {
                read_set.tile = Some((self.chip, self.tile));
                read_set.members = Some(self.core_id());
                let large = self.selected_member().filter(|span| span.len > LARGE_BYTES);
                read_set.spans = self.watched().into_iter().chain(large).collect();
            }
        }
        read_set
    }

    /// The end of the selected tile's memory, and of the memory pane.
    pub(crate) fn memory_end(&self) -> Option<u64> {
        let layout = self.mesh()?.layout();
        Some(match self.tile_state()?.kind {
            TileKind::Tensix => layout.tensix.l1_bytes,
            TileKind::Eth => layout.eth.l1_bytes,
            TileKind::Dram | TileKind::Arc | TileKind::Pcie | TileKind::Router => 1 << 36,
        })
    }

    /// The range that the memory pane shows, within the tile's memory.
    fn watched(&self) -> Option<Range> {
        let end = self.memory_end()?;
        let len = u64::from(geometry::memory_rows(self.room())) * 16;
        let len = end.checked_sub(self.top)?.min(len) as u32;
        Some(Range { addr: NocAddr { chip: self.chip, tile: self.tile, offset: self.top }, len })
    }

    /// The sheets of runs that are on screen.
    pub(crate) fn sheets(&self) -> &[Sheet] {
        let all = self.shown.as_deref().map_or(&[][..], |snapshot| &snapshot.board.sheets);
        all.get(self.put_away..).unwrap_or_default()
    }

    /// Whether a run is running, whatever the display shows.
    pub(crate) fn runs(&self) -> bool {
        self.newest.as_ref().is_some_and(|snapshot| snapshot.board.going().is_some())
    }

    /// Whether kernels were paused, whatever the display shows.
    pub(crate) fn is_paused(&self) -> bool {
        self.newest.as_ref().is_some_and(|snapshot| snapshot.board.paused)
    }

    /// The age of the snapshot on screen, in microseconds of host time; a moment of the past does
    /// not grow older.
    pub(crate) fn age_micros(&self) -> Option<u64> {
        let taken = self.shown.as_ref()?.taken_micros;
        Some(if self.ages() { self.now_micros.saturating_sub(taken) } else { 0 })
    }

    /// Whether a time on screen follows that of the host.
    pub(crate) fn ages(&self) -> bool {
        self.timeline().is_none()
    }
}
