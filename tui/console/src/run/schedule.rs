//! Command schedules as tables: a row for each rank, a column for each time step, what is handed on in
//! the cells; several beside each other.

use collectives::{Program, Schedule, ScheduledSend, ScheduledWay};
use machine::target::Mesh;
use std::sync::Arc;

/// A schedule that was asked for, or that of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// The collective in one line.
    pub title: String,
    /// What each rank hands on, and when.
    pub schedule: Arc<Schedule>,
    /// How many commands each worker of the run has carried out; empty if it does not run.
    pub done: Vec<u64>,
}

/// What a piece of a schedule's text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleMark {
    /// Titles, steps, ranks.
    Head,
    /// A block that was handed on.
    Done,
    /// The block that a rank hands on next.
    Next,
    /// A block that will be.
    Later,
}

/// A line of a schedule's text, in pieces.
pub type ScheduleLine = Vec<(String, ScheduleMark)>;

/// Columns between two tables.
const APART: usize = 3;

impl Scheduled {
    /// The schedule of a program that was compiled for this mesh.
    pub fn new(title: String, program: &Program, mesh: &Mesh) -> Self {
        Self { title, schedule: Arc::new(Schedule::of(program, mesh)), done: Vec::new() }
    }

    /// What the cells mean.
    pub fn legend(&self) -> String {
        let sends = || self.schedule.ways.iter().flat_map(|way| way.sends.iter().flatten());
        let slices = match self.schedule.slices {
            0 | 1 => String::new(),
            slices => format!("; all steps for each of {slices} slices"),
        };
        let example = sends().max_by_key(|send| send.of.len());
        let meaning = example.map(|send| {
            let (cell, rank) = (self.cell(send), send.of.first().copied().unwrap_or(0));
            match (self.schedule.sums, send.block) {
                (true, block) => {
                    let count = send.of.len();
                    format!("{cell} is block {}, summed over {count} ranks", block.unwrap_or(0))
                }
                (false, Some(block)) => format!("{cell} is block {block} of rank {rank}"),
                (false, None) => format!("{cell} is what rank {rank} has"),
            }
        });
        meaning.unwrap_or_else(|| "nothing is handed on".to_owned()) + &slices
    }

    fn cell(&self, send: &ScheduledSend) -> String {
        let rank = send.of.first().copied().unwrap_or(0);
        match (self.schedule.sums, send.block) {
            (true, block) => format!("{}:{}", block.unwrap_or(0), send.of.len()),
            (false, Some(block)) => format!("{rank}>{block}"),
            (false, None) => rank.to_string(),
        }
    }

    /// Whether all workers have carried out a send.
    fn is_done(&self, send: &ScheduledSend) -> bool {
        let carried = |(worker, command): &(usize, usize)| {
            self.done.get(*worker).is_some_and(|done| *done > *command as u64)
        };
        send.commands.iter().all(carried)
    }

    /// The first step that a rank has still to make; the first one of what does not run.
    fn first_open(&self) -> u32 {
        let sends = self.schedule.ways.iter().flat_map(|way| way.sends.iter().flatten());
        sends.filter(|send| !self.is_done(send)).map(|send| send.step).min().unwrap_or(1)
    }

    /// The table of a way, in at most this many columns: from the first open step on, if it is wider.
    fn table(&self, way: &ScheduledWay, room: usize) -> Vec<ScheduleLine> {
        use ScheduleMark::{Done, Head, Later, Next};
        let ranks = &self.schedule.ranks;
        let names: Vec<_> = (0..)
            .zip(ranks)
            .map(|(rank, chip): (usize, _)| format!("{rank} (chip {chip})"))
            .collect();
        let first = names.iter().map(String::len).max().unwrap_or(0).max("rank".len());
        let sends = || way.sends.iter().flatten();
        let last = sends().map(|send| send.step).max().unwrap_or(0);
        let wide = sends().map(|send| self.cell(send).len()).max().unwrap_or(1);
        let wide = wide.max(last.to_string().len()) + 2;
        let fit = (room.saturating_sub(first) / wide).max(1) as u32;
        let from = if last > fit { self.first_open().min(last + 1 - fit) } else { 1 };
        let shown = from..=last.min(from + fit - 1);
        let steps: Vec<_> = shown.clone().map(|step| format!("{step:>wide$}")).collect();
        let head = steps.concat();
        let width = first + shown.clone().count() * wide;
        let title = way_name(way, ranks.len());
        let mut lines = vec![
            vec![(format!("{title:<width$}"), Head)],
            vec![(format!("{:<first$}{head}", "rank"), Head)],
        ];
        for (name, sends) in names.iter().zip(&way.sends) {
            let next = sends.iter().find(|send| !self.is_done(send)).map(|send| send.step);
            let cell = |step: u32| match sends.iter().find(|send| send.step == step) {
                None => (" ".repeat(wide), Later),
                Some(send) => {
                    let mark = match (self.done.is_empty(), next) {
                        (true, _) => Later,
                        (false, Some(next)) if next == step => Next,
                        (false, Some(next)) if step > next => Later,
                        _ => Done,
                    };
                    (format!("{:>wide$}", self.cell(send)), mark)
                }
            };
            let row = std::iter::once((format!("{name:<first$}"), Head));
            lines.push(row.chain(shown.clone().map(cell)).collect());
        }
        lines
    }
}

/// Whither a way goes, and how many workers of a rank use it.
fn way_name(way: &ScheduledWay, ranks: usize) -> String {
    let workers = match way.workers {
        1 => String::new(),
        workers => format!(", {workers} workers each"),
    };
    let to = match way.ahead {
        1 if ranks == 2 => "to the other rank".to_owned(),
        1 => "to the next rank".to_owned(),
        ahead if ahead + 1 == ranks => "to the rank before".to_owned(),
        ahead => format!("to the rank {ahead} further"),
    };
    to + &workers
}

fn width(line: &ScheduleLine) -> usize {
    line.iter().map(|(text, _)| text.chars().count()).sum()
}

/// Schedules with all their ways, beside each other where they fit into so many columns.
pub fn beside(schedules: &[Scheduled], columns: usize) -> Vec<ScheduleLine> {
    let mut tables: Vec<Vec<ScheduleLine>> = Vec::new();
    for scheduled in schedules {
        for (at, way) in scheduled.schedule.ways.iter().enumerate() {
            let mut table = scheduled.table(way, columns);
            let wide = table.iter().map(width).max().unwrap_or(0);
            if let [_, _, ..] = schedules {
                let title = if at == 0 { scheduled.title.as_str() } else { "" };
                let room = wide.max((columns / 2).saturating_sub(APART));
                let title: String = title.chars().take(room).collect();
                table.insert(0, vec![(title, ScheduleMark::Head)]);
            }
            tables.push(table);
        }
    }
    let mut lines: Vec<ScheduleLine> = match schedules {
        [only] => vec![vec![(only.title.clone(), ScheduleMark::Head)]],
        _ => Vec::new(),
    };
    let mut tables = tables.into_iter().peekable();
    while let Some(mut block) = tables.next() {
        let wide = |table: &[ScheduleLine]| table.iter().map(width).max().unwrap_or(0);
        while let Some(next) = tables.next_if(|next| wide(&block) + APART + wide(next) <= columns) {
            let left = wide(&block) + APART;
            let rows = block.len().max(next.len());
            block.resize(rows, Vec::new());
            for (line, more) in block.iter_mut().zip(next) {
                line.push((" ".repeat(left - width(line)), ScheduleMark::Head));
                line.extend(more);
            }
        }
        if lines.len() > 1 {
            lines.push(Vec::new());
        }
        lines.extend(block);
    }
    let mut legends: Vec<_> = schedules.iter().map(Scheduled::legend).collect();
    legends.dedup();
    lines.extend(legends.into_iter().map(|legend| vec![(legend, ScheduleMark::Head)]));
    lines
}

/// The text of lines, without their marks and the blanks at their ends.
pub fn text(lines: &[ScheduleLine]) -> String {
    let line = |line: &ScheduleLine| {
        let text: String = line.iter().map(|(text, _)| text.as_str()).collect();
        format!("{}\n", text.trim_end())
    };
    lines.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{ScheduleMark, Scheduled, beside, text};
    use collectives::{Op, Request, compile};
    use layouts::ChipId;
    use machine::target::Mesh;

    fn scheduled(op: Op, chips: u16) -> Scheduled {
        let mesh = workloads::scene::described("t3000", "t3000").unwrap();
        let mesh = Mesh::from_descriptor(&mesh);
        let mut request = Request::new(op, 64 << 10);
        request.chips = (0..chips).map(ChipId).collect();
        let program = compile(&mesh, &request).unwrap();
        Scheduled::new(op.name().to_owned(), &program, &mesh)
    }

    #[test]
    fn schedules_are_beside_each_other_where_they_fit() {
        let both = [scheduled(Op::AllGather, 4), scheduled(Op::ReduceScatter, 4)];
        let wanted = "\
all-gather            reduce-scatter
to the next rank      to the next rank
rank        1  2  3   rank          1    2    3
0 (chip 0)  0  3  2   0 (chip 0)  3:1  2:2  1:3
1 (chip 1)  1  0  3   1 (chip 1)  0:1  3:2  2:3
2 (chip 3)  2  1  0   2 (chip 3)  1:1  0:2  3:3
3 (chip 2)  3  2  1   3 (chip 2)  2:1  1:2  0:3
1 is what rank 1 has
0:3 is block 0, summed over 3 ranks
";
        assert_eq!(text(&beside(&both, 80)), wanted);
        assert_eq!(text(&beside(&both, 40)).matches("rank        1  2  3\n").count(), 1);
    }

    #[test]
    fn what_was_handed_on_and_what_comes_next_is_marked() {
        let mut ring = scheduled(Op::ReduceScatter, 4);
        let workers = ring.schedule.ways.iter().flat_map(|way| way.sends.iter().flatten());
        let last = workers.flat_map(|send| &send.commands).map(|(worker, _)| *worker).max();
        ring.done = vec![1; last.map_or(0, |last| last + 1)];
        let lines = beside(&[ring.clone()], 80);
        let row = lines.get(3).unwrap();
        let marks: Vec<_> = row.iter().map(|(_, mark)| *mark).collect();
        let row = [ScheduleMark::Done, ScheduleMark::Next, ScheduleMark::Later];
        assert_eq!(marks.get(1..), Some(&row[..]));
        // In a narrow place, from the step on that is next.
        let narrow = text(&beside(&[ring], 22));
        assert!(narrow.contains("rank          2    3\n"), "{narrow}");
    }
}
