//! Places boards on a grid of chips, with the channels that face each of the four sides.

use super::raw::{RawAxis, RawBoard, RawChip, RawMesh, RawSystem};
use crate::address::ChipCoord;
use crate::chip::ChipKind;
use crate::cluster::Problems;
use crate::tree::Spanned;

/// A side of a chip or of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    North,
    East,
    South,
    West,
}

impl Side {
    pub(super) fn called(letter: &str) -> Option<Self> {
        Some(match letter {
            "N" => Self::North,
            "E" => Self::East,
            "S" => Self::South,
            "W" => Self::West,
            _ => return None,
        })
    }
}

/// A chip on the grid.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) coord: ChipCoord,
    /// Number and kind of its board.
    pub(super) board: (u32, String),
    pub(super) board_id: u64,
    pub(super) location: u8,
    pub(super) pcie: bool,
    pub(super) host: usize,
    channels: RawChip,
}

impl Placed {
    pub(super) fn channels(&self, side: Side) -> &[u8] {
        match side {
            Side::North => &self.channels.n,
            Side::East => &self.channels.e,
            Side::South => &self.channels.s,
            Side::West => &self.channels.w,
        }
    }
}

/// The chips of a mesh, row by row.
#[derive(Clone, Debug, Default)]
pub(super) struct Grid {
    pub(super) columns: usize,
    pub(super) chips: Vec<Placed>,
}

impl Grid {
    pub(super) fn rows(&self) -> usize {
        self.chips.len().checked_div(self.columns).unwrap_or_default()
    }

    /// Returns the chip in a row and a column, as an index of `chips`.
    pub(super) fn at(&self, row: usize, column: usize) -> usize {
        row * self.columns + column
    }

    /// Returns the chips along an edge, from the north-west.
    pub(super) fn edge(&self, side: Side) -> Vec<usize> {
        let (rows, columns) = (self.rows(), self.columns);
        match side {
            Side::North => (0..columns).map(|column| self.at(0, column)).collect(),
            Side::South => (0..columns).map(|column| self.at(rows - 1, column)).collect(),
            Side::West => (0..rows).map(|row| self.at(row, 0)).collect(),
            Side::East => (0..rows).map(|row| self.at(row, columns - 1)).collect(),
        }
    }

    /// Returns the pairs of neighbours with the side of the first that faces the second, including
    /// the joined ends of closed axes.
    pub(super) fn neighbours(&self, joined: &[RawAxis]) -> Vec<(usize, Side, usize, Side)> {
        let (rows, columns) = (self.rows(), self.columns);
        let mut pairs = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                let here = self.at(row, column);
                if column + 1 < columns {
                    pairs.push((here, Side::East, self.at(row, column + 1), Side::West));
                } else if joined.contains(&RawAxis::Ew) {
                    pairs.push((here, Side::East, self.at(row, 0), Side::West));
                }
                if row + 1 < rows {
                    pairs.push((here, Side::South, self.at(row + 1, column), Side::North));
                } else if joined.contains(&RawAxis::Ns) {
                    pairs.push((here, Side::South, self.at(0, column), Side::North));
                }
            }
        }
        pairs
    }
}

/// A mesh of the TT-Fabric specification has at most 256 devices.
const MOST_BOARDS: usize = 256;

/// A board in a mesh: its kind, and its position among the boards.
struct Seat<'a> {
    name: &'a str,
    row: usize,
    column: usize,
}

/// Places the boards of a mesh.
pub(super) fn grid(
    raw: &RawSystem,
    mesh: &Spanned<RawMesh>,
    problems: &mut Problems,
) -> Option<Grid> {
    let line = mesh.line;
    let mesh = &mesh.value;
    let pattern = rectangle(&mesh.boards);
    let Some([pattern_rows, pattern_columns]) = pattern else {
        problems.add(line, "the `boards` of a mesh must be rows of equal length");
        return None;
    };
    let [rows, columns] = mesh.topology.unwrap_or([pattern_rows, pattern_columns]);
    if rows.saturating_mul(columns) > MOST_BOARDS {
        problems.add(line, format!("a mesh has at most {MOST_BOARDS} boards"));
        return None;
    }
    let mut seats = Vec::new();
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let name = mesh.boards[row % pattern_rows][column % pattern_columns].as_str();
        seats.push(Seat { name, row, column });
    }
    let first = seats.first()?;
    let board = raw.boards.get(first.name).map(|board| rectangle(&board.value.chips));
    let [board_rows, board_columns] = match board {
        Some(Some(shape)) => shape,
        Some(None) => {
            let name = first.name;
            let what = format!("the chips of board {name} must stand in rows of equal length");
            problems.add(line, what);
            return None;
        }
        // Reported below.
        None => [1, 1],
    };
    let [x, y, ..] = mesh.place;
    let beyond = |first: u8, count: usize| usize::from(first) + count > 256;
    if beyond(x, columns.saturating_mul(board_columns))
        || beyond(y, rows.saturating_mul(board_rows))
    {
        problems.add(line, "the places of a mesh end at 255");
        return None;
    }
    let mut chips = vec![None; rows * board_rows * columns * board_columns];
    for seat in &seats {
        let Some(board) = raw.boards.get(seat.name) else {
            problems.add(line, format!("no board is called {}", seat.name));
            return None;
        };
        if rectangle(&board.value.chips) != Some([board_rows, board_columns]) {
            let what =
                format!("board {} must have {board_rows} rows of {board_columns} chips", seat.name);
            problems.add(board.line, what);
            return None;
        }
        let host = host(raw, mesh, seat, [rows, columns]).or_else(|| {
            problems.add(
                line,
                "the blocks of `host_topology` must be whole boards, each of a host that is listed",
            );
            None
        })?;
        let number = number(mesh, seat, columns).or_else(|| {
            problems.add(line, "`numbers` must give each board of the mesh a number");
            None
        })?;
        for (inner_row, inner_column) in
            (0..board_rows).flat_map(|row| (0..board_columns).map(move |column| (row, column)))
        {
            // The chips of a mirrored board are mirrored, too.
            let turned = |axis, odd: usize| mesh.mirrored.contains(&axis) && odd % 2 == 1;
            let (ew, ns) = (turned(RawAxis::Ew, seat.column), turned(RawAxis::Ns, seat.row));
            let own_column = if ew { board_columns - 1 - inner_column } else { inner_column };
            let own_row = if ns { board_rows - 1 - inner_row } else { inner_row };
            let channels = channels(raw, board, [own_row, own_column], problems)?;
            let row = seat.row * board_rows + inner_row;
            let column = seat.column * board_columns + inner_column;
            let location = location(&board.value, own_row, own_column);
            let [x, y, rack, shelf] = mesh.place;
            chips[row * columns * board_columns + column] = Some(Placed {
                coord: ChipCoord { x: x + column as u8, y: y + row as u8, rack, shelf },
                board: (number, board.value.r#type.clone()),
                board_id: mesh.first_board_id + u64::from(number) * mesh.board_id_step,
                location,
                pcie: board.value.pcie.contains(&location),
                host,
                channels: mirrored(channels, ew, ns),
            });
        }
    }
    Some(Grid { columns: columns * board_columns, chips: chips.into_iter().flatten().collect() })
}

/// Returns rows and columns of a table whose rows are equally long and not empty.
fn rectangle<T>(rows: &[Vec<T>]) -> Option<[usize; 2]> {
    let columns = rows.first()?.len();
    (columns > 0 && rows.iter().all(|row| row.len() == columns)).then_some([rows.len(), columns])
}

fn host(
    raw: &RawSystem,
    mesh: &RawMesh,
    seat: &Seat,
    [rows, columns]: [usize; 2],
) -> Option<usize> {
    let [host_rows, host_columns] = mesh.host_topology.unwrap_or([1, 1]);
    let whole = |boards: usize, hosts: usize| boards.checked_rem(hosts) == Some(0);
    if !whole(rows, host_rows) || !whole(columns, host_columns) {
        return None;
    }
    let (row, column) = (seat.row * host_rows / rows, seat.column * host_columns / columns);
    let host = mesh.host + row * host_columns + column;
    (host < raw.hosts.len()).then_some(host)
}

fn number(mesh: &RawMesh, seat: &Seat, columns: usize) -> Option<u32> {
    match &mesh.numbers {
        Some(numbers) => numbers.get(seat.row)?.get(seat.column).copied(),
        None => Some((seat.row * columns + seat.column) as u32),
    }
}

fn location(board: &RawBoard, row: usize, column: usize) -> u8 {
    let listed = board.locations.as_ref().and_then(|rows| rows.get(row)?.get(column));
    let columns = board.chips.first().map_or(0, Vec::len);
    listed.copied().unwrap_or((row * columns + column) as u8)
}

fn channels(
    raw: &RawSystem,
    board: &Spanned<RawBoard>,
    [row, column]: [usize; 2],
    problems: &mut Problems,
) -> Option<RawChip> {
    let line = board.line;
    let name = board.value.chips.get(row)?.get(column)?;
    let Some(spec) = raw.chip_specs.get(name) else {
        problems.add(line, format!("no chip specification is called {name}"));
        return None;
    };
    let mut all: Vec<u8> =
        [&spec.n, &spec.e, &spec.s, &spec.w].into_iter().flatten().copied().collect();
    all.sort_unstable();
    let count = all.len();
    all.dedup();
    if all.len() < count
        || all.last().is_some_and(|last| *last >= ChipKind::default().layout().eth_channels())
    {
        let what = format!("chip specification {name} must name each channel once, from 0 to 15");
        problems.add(line, what);
        return None;
    }
    Some(spec.clone())
}

fn mirrored(mut chip: RawChip, ew: bool, ns: bool) -> RawChip {
    if ew {
        std::mem::swap(&mut chip.e, &mut chip.w);
    }
    if ns {
        std::mem::swap(&mut chip.n, &mut chip.s);
    }
    chip
}
