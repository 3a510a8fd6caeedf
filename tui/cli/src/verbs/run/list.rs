//! The run on one list of chips: its sizes, its table and its verdict.

use crate::output::{Columns, json, say, text};
use crate::shape;
use crate::target::Style;
use console::exit::Failure;
use console::machine::{Machine, Opening};
use console::run::table::{CELLS, Head, Measured, foot, head, out_of_bounds};
use console::run::{Going, Job, Sweep, SweepTurn};
use console::verdict;
use diagnosis::{Diagnosis, Health};
use layouts::ChipId;

/// The run on one list of chips.
pub(super) struct ListRun {
    pub(super) job: Job,
    sweep_head: SweepHead,
    /// What is printed above its table.
    title: String,
    rows: Vec<Measured>,
    /// Whether its table is printed as it comes.
    streams: bool,
    /// The verdict on the mesh on which it stood still.
    pub(super) verdict: Option<Diagnosis>,
    ended: Option<Result<(), Failure>>,
    /// Whether its failure was taken.
    is_taken: bool,
    /// Whether another run on what is left of its chips has taken its place.
    pub(super) is_relaunched: bool,
}

impl ListRun {
    pub(super) fn new(sweep: Sweep, streams: bool, machine: &mut Machine) -> Result<Self, Failure> {
        let (target, images) = machine.session().parts();
        let job = Job::new(sweep, target, images)?;
        Ok(Self {
            sweep_head: SweepHead::of(&job),
            job,
            title: String::new(),
            rows: Vec::new(),
            streams,
            verdict: None,
            ended: None,
            is_taken: false,
            is_relaunched: false,
        })
    }

    /// Refuses what cannot run; else begins its table.
    pub(super) fn begin(&mut self, words: &str, machine: &mut Machine) -> Result<(), Failure> {
        let (target, images) = machine.session().parts();
        self.job.refuse(target, images)?;
        self.title = head(&self.sweep_head.head(words, self.job.sweep()), target.mesh());
        if self.streams { text(&self.title) } else { Ok(()) }
    }

    /// What runs, in words.
    pub(super) fn title(&self) -> String {
        let program = self.job.program();
        program.map_or_else(String::new, |program| self.job.sweep().title(program))
    }

    /// The sizes that were not measured.
    pub(super) fn sizes_left(&self) -> Vec<u64> {
        self.job.sweep().sizes.iter().skip(self.rows.len()).copied().collect()
    }

    /// Its chips, by rank.
    pub(super) fn ranks(&self) -> &[ChipId] {
        &self.sweep_head.ranks
    }

    /// Whether its table is printed as it comes.
    pub(super) fn streams(&self) -> bool {
        self.streams
    }

    /// Continues until it has to wait or has ended.
    pub(super) fn poll(
        &mut self,
        op: &str,
        machine: &mut Machine,
    ) -> Result<Option<Going>, Failure> {
        while self.ended.is_none() {
            let (target, images) = machine.session().parts();
            self.ended = match self.job.poll(target, images) {
                Ok(SweepTurn::Going(going)) => return Ok(Some(going)),
                Ok(SweepTurn::Row(row)) => {
                    if self.streams {
                        text(&row.line())?;
                    }
                    self.rows.push(row);
                    None
                }
                Ok(SweepTurn::Done) => {
                    if self.job.pause_at().is_some() {
                        say("--pause-at: the run ended before it was seen there");
                    }
                    if self.streams {
                        text(&foot(op, &self.rows))?;
                    }
                    Some(Ok(()))
                }
                Ok(SweepTurn::Cancelled) => Some(Err(Failure::Interrupted)),
                Err(failure) => Some(Err(failure)),
            };
        }
        Ok(None)
    }

    pub(super) fn failure(&self) -> Option<&Failure> {
        self.ended.as_ref().and_then(|ended| ended.as_ref().err())
    }

    /// Whether it has failed, once.
    pub(super) fn takes_failure(&mut self) -> bool {
        self.failure().is_some() && !std::mem::replace(&mut self.is_taken, true)
    }

    fn shape<'a>(&'a self, head: &'a Head<'a>, early: Option<&Failure>) -> shape::Sweep<'a> {
        let shape = shape::Sweep::new(head, &self.rows);
        match self.failure().or(early) {
            Some(failure) => shape.failed(failure, self.job.cause(), self.verdict.as_ref()),
            None => shape,
        }
    }

    pub(super) fn is_wrong(&self) -> bool {
        let impossible = self.rows.iter().any(|row| row.impossible().is_some());
        impossible || out_of_bounds(&self.rows).unwrap_or(0) > 0
    }

    /// Prints its table, and why it failed, if it was not printed as it came.
    fn print(&self, style: Style, op: &str) -> Result<(), Failure> {
        if style.csv {
            return style.print(table(&self.rows));
        }
        let lines: String = self.rows.iter().map(Measured::line).collect();
        let end = match self.failure() {
            Some(failure) => format!("# {failure}\n"),
            None => foot(op, &self.rows),
        };
        text(&format!("{}{lines}{end}", self.title))
    }

    /// Says what the mesh looked like on which it stood still. A cleanup that failed on a mesh that looks
    /// healthy has said so itself.
    pub(super) fn say_verdict(&self) {
        let says = |it: &&Diagnosis| Health::of(it) != Health::Healthy;
        if let Some(verdict) = self.verdict.as_ref().filter(says) {
            verdict::page(verdict).lines().for_each(say);
        }
    }
}

/// Prints the table of each list, or all as one JSON; `early`: why they were not followed to the end.
pub(super) fn print(
    opening: &Opening,
    style: Style,
    op: &str,
    (lists, early): (&[ListRun], Option<&Failure>),
) -> Result<(), Failure> {
    if style.json {
        print_json(opening, op, (lists, early))?;
    } else {
        // What was refused before it began has no table.
        let printed = |list: &&ListRun| !list.streams && (style.csv || list.ended.is_some());
        for (number, list) in lists.iter().filter(printed).enumerate() {
            if number > 0 {
                text("\n")?;
            }
            list.print(style, op)?;
        }
        lists.iter().filter(|list| !list.is_relaunched).for_each(ListRun::say_verdict);
    }
    for list in lists {
        list.rows.iter().flat_map(|row| &row.places).for_each(|place| say(place));
        list.rows.iter().filter_map(Measured::impossible).for_each(|why| say(&why));
    }
    Ok(())
}

fn print_json(
    opening: &Opening,
    op: &str,
    (lists, early): (&[ListRun], Option<&Failure>),
) -> Result<(), Failure> {
    let heads = lists.iter();
    let heads = heads.map(|list| list.sweep_head.head(&opening.words, list.job.sweep()));
    let heads: Vec<Head<'_>> = heads.collect();
    let whole = || shape::Sweep::unknown(op, &opening.words);
    match (lists, &heads[..]) {
        ([list], [head]) => return json(list.shape(head, early)),
        ([], _) => return early.map_or(Ok(()), |it| json(whole().failed(it, None, None))),
        _ => {}
    }
    let shapes = lists.iter().zip(&heads).map(|(list, head)| list.shape(head, None)).collect();
    let lists = lists.iter().filter(|list| !list.is_relaunched);
    let mut failed = lists.filter_map(|list| Some((list.failure()?, list.job.cause())));
    match failed.next().or(early.map(|early| (early, None))) {
        Some((failure, cause)) => json(whole().of_lists(shapes).failed(failure, cause, None)),
        None => json(whole().of_lists(shapes)),
    }
}

/// The rows that were measured.
fn table(rows: &[Measured]) -> Columns {
    let mut table = Columns::new(&CELLS);
    for row in rows {
        table.row(row.cells());
    }
    table
}

/// Properties of the programs for the header, kept while the programs are consumed.
struct SweepHead {
    ranks: Vec<ChipId>,
    topology: &'static str,
    most: u64,
    faults: Vec<String>,
    fabric: Option<&'static str>,
    muxes: usize,
}

impl SweepHead {
    fn of(job: &Job) -> Self {
        let program = job.program();
        let crossing = program.and_then(|program| program.crossing.as_ref());
        let faults = job.sweep().settings().faults.iter().map(ToString::to_string).collect();
        Self {
            ranks: program.map(|program| program.ranks.clone()).unwrap_or_default(),
            topology: program.map_or("", |program| program.topology.name()),
            most: job.sweep().ends().1,
            faults,
            fabric: crossing.map(|crossing| crossing.plan.topology.name()),
            muxes: crossing.map_or(0, |crossing| crossing.muxes.len()),
        }
    }

    fn head<'a>(&'a self, target: &'a str, sweep: &Sweep) -> Head<'a> {
        let (request, settings) = (sweep.request(), sweep.settings());
        Head {
            target,
            op: request.op.name(),
            topology: self.topology,
            ranks: &self.ranks,
            sizes: (sweep.ends().0, self.most),
            step: sweep.step(),
            warmups: settings.warmups,
            iterations: settings.iterations,
            check: settings.check,
            links: request.links,
            layout: request.layout.name(),
            bidirectional: request.bidirectional.name(),
            seed: request.seed,
            faults: self.faults.clone(),
            transport: request.transport.name(),
            workers: request.workers,
            fabric: self.fabric,
            muxes: self.muxes,
        }
    }
}
