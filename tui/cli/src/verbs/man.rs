//! `man`: the manual page, from the grammar.

use crate::manual;
use crate::output::text;
use crate::target::Style;
use crate::verb::{Pages, Verb};
use clap_mangen::Man;
use console::exit::{Failure, Outcome};
use console::machine::Opening;

/// Print the manual page of the program, or of a verb, in the format of man.
#[derive(clap::Args, Debug)]
pub(crate) struct ManArguments {
    /// A verb; the page of the program lists them.
    pub(crate) verb: Option<String>,
}

impl Verb for ManArguments {
    const NAME: &str = "man";
    const PAGES: Pages = &[("man", include_str!("../manual/verbs/man.md"))];
    fn no_table(&self) -> Option<&'static str> {
        Some("man")
    }
    fn run(&self, _: &Opening, style: Style) -> Result<Outcome, Failure> {
        let mut grammar = manual::command(&(style.verbs)());
        grammar.build();
        let page = match &self.verb {
            None => grammar,
            Some(name) => {
                let none = || Failure::Usage(format!("there is no verb {name}"));
                grammar.find_subcommand(name).cloned().ok_or_else(none)?
            }
        };
        let mut bytes = Vec::new();
        let failed = |error| Failure::Internal(format!("man: {error}"));
        Man::new(page).render(&mut bytes).map_err(failed)?;
        text(&String::from_utf8_lossy(&bytes))?;
        Ok(Outcome::Healthy)
    }
}
