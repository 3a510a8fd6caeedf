//! `completions`: the completion script of a shell, from the grammar.

use crate::manual;
use crate::output::text;
use crate::target::Style;
use crate::verb::{Pages, Verb};
use clap_complete::Shell;
use console::exit::{Failure, Outcome};
use console::machine::Opening;

/// Print a script that lets a shell complete verbs, options and their values.
#[derive(clap::Args, Debug)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}

impl Verb for CompletionsArguments {
    const NAME: &str = "completions";
    const PAGES: Pages = &[("completions", include_str!("../manual/verbs/completions.md"))];
    fn no_table(&self) -> Option<&'static str> {
        Some("completions")
    }
    fn run(&self, _: &Opening, style: Style) -> Result<Outcome, Failure> {
        let mut script = Vec::new();
        let mut grammar = manual::command(&(style.verbs)());
        clap_complete::generate(self.shell, &mut grammar, "meshscope", &mut script);
        text(&String::from_utf8_lossy(&script))?;
        Ok(Outcome::Healthy)
    }
}
