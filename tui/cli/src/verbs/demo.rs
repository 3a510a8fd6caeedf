//! `demo`: a sick emulated mesh in the live view, with a tour of what to look at.

use crate::output::{Columns, Page};
use crate::screens::{Screen, TourStep};
use crate::target::Style;
use crate::verb::{Pages, Verb};
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use machine::past::Keeps;

/// Show an emulated mesh with a known fault in the live view, and where to look; without a name,
/// list them.
#[derive(clap::Args, Debug)]
pub(crate) struct DemoArguments {
    /// The name of a demo.
    pub(crate) name: Option<String>,
    /// Print the target of the demo, for other verbs, and do not show it.
    #[arg(long, requires = "name")]
    pub(crate) print: bool,
}

/// A demo.
struct Demo {
    name: &'static str,
    about: &'static str,
    target: &'static str,
    tour: &'static [TourStep],
}

const fn step(screen: Screen, text: &'static str) -> TourStep {
    TourStep { screen, text }
}

const DEMOS: &[Demo] = &[
    Demo {
        name: "ring-ping",
        about: "a healthy T3000: a packet goes round the ring",
        target: "emulator:t3000",
        tour: &[
            step(Screen::Chip, "Enter opens the selected chip: its tiles, each with its waypoint"),
            step(
                Screen::Core,
                "Enter opens the selected tile: words, channels, memory of its core",
            ),
            step(Screen::Why, "w: what stands still, and why; here nothing does"),
        ],
    },
    Demo {
        name: "mux-starvation",
        about: "muxes hold the slots of a router and starve their clients: the reduce-scatter hang",
        target: "emulator:n300,study=mux:5",
        tour: &[
            step(Screen::Why, "in a second the red line says what stands still; w shows the cause"),
            step(Screen::Fabric, "5: routers, muxes and clients; packets shows who holds them"),
            step(Screen::Core, "Enter opens the core of the selected part: its source line"),
        ],
    },
    Demo {
        name: "without-dateline",
        about: "routers of a ring that lacks its dateline wait for each other in a circle",
        target: "emulator:t3000,run=fabric,topology=ring,dateline=off,traffic=3000,pattern=far",
        tour: &[
            step(
                Screen::Why,
                "in a second the red line names the circle; w shows who waits for whom",
            ),
            step(Screen::Core, "Enter opens the router at its root"),
            step(Screen::Fabric, "5, then Tab: all waits of the fabric"),
        ],
    },
    Demo {
        name: "link-down",
        about: "a link goes down while a packet goes round the ring",
        target: "emulator:t3000,fault=link:0.8:down",
        tour: &[
            step(Screen::Why, "the link is red on the map; w says what waits for it"),
            step(Screen::Mesh, "Enter opens the link: both ends, and what was sent"),
        ],
    },
    Demo {
        name: "stuck-core",
        about: "a core executes nothing, and its neighbours wait for it",
        target: "emulator:t3000,fault=core:0.e8:stuck",
        tour: &[
            step(Screen::Why, "w: who waits for the core that stands"),
            step(Screen::Core, "Enter opens that core: its source line, and its heartbeat"),
        ],
    },
];

impl Verb for DemoArguments {
    const NAME: &str = "demo";
    const PAGES: Pages = &[("demo", include_str!("../manual/verbs/demo.md"))];
    fn no_table(&self) -> Option<&'static str> {
        self.name.as_ref().map(|_| "demo with a name")
    }
    fn cleans_up(&self) -> bool {
        true
    }
    fn run(&self, opening: &Opening, style: Style) -> Result<Outcome, Failure> {
        let Some(name) = &self.name else {
            style.print(list())?;
            return Ok(Outcome::Healthy);
        };
        let names = || DEMOS.iter().map(|demo| demo.name).collect::<Vec<_>>().join(", ");
        let none = || Failure::Usage(format!("no demo is called `{name}`; there is {}", names()));
        let demo = DEMOS.iter().find(|demo| demo.name == *name).ok_or_else(none)?;
        if self.print {
            style.print(Page::default().with(format!("{}\n", demo.target)))?;
            return Ok(Outcome::Healthy);
        }
        let opening = Opening { words: demo.target.to_owned(), ..opening.keeping(Keeps::Past) };
        style.screens.show(opening, style.looks, demo.tour)
    }
}

fn list() -> Page {
    let mut table = Columns::new(&["NAME", "WHAT IT SHOWS"]);
    for demo in DEMOS {
        table.row(vec![demo.name.to_owned(), demo.about.to_owned()]);
    }
    Page::from(table)
}
