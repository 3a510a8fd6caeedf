//! `help`: the pages of the manual.

use crate::manual;
use crate::target::Style;
use crate::verb::{Pages, Verb};
use console::exit::{Failure, Outcome};
use console::machine::Opening;

/// Print the page of a verb or a topic; without a name, list them.
#[derive(clap::Args, Debug)]
pub(crate) struct HelpArguments {
    /// A verb with its subcommand, such as symbols type, or a topic, such as targets.
    pub(crate) name: Vec<String>,
}

impl Verb for HelpArguments {
    const NAME: &str = "help";
    const PAGES: Pages = &[("help", include_str!("../manual/verbs/help.md"))];
    fn no_table(&self) -> Option<&'static str> {
        Some("help")
    }
    fn run(&self, _: &Opening, style: Style) -> Result<Outcome, Failure> {
        manual::show(&self.name, &(style.verbs)(), style.screens)
    }
}
