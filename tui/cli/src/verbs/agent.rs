//! `agent`: reads and writes the target of this host for meshscope on another one.

use crate::target::{Style, open};
use crate::verb::{Pages, Verb};
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use std::io;
use transport::agent::serve;

/// Serve the target of this host to meshscope on another one, which starts it over ssh.
#[derive(clap::Args, Debug)]
pub(crate) struct AgentArguments {
    /// Take requests from standard input and answer on standard output.
    #[arg(long, required = true)]
    stdio: bool,
}

impl Verb for AgentArguments {
    const NAME: &str = "agent";
    const PAGES: Pages = &[("agent", include_str!("../manual/verbs/agent.md"))];
    fn no_table(&self) -> Option<&'static str> {
        Some("agent")
    }
    fn run(&self, target: &Opening, _style: Style) -> Result<Outcome, Failure> {
        let mut machine = open(target)?.into_machine();
        let served = serve(machine.session(), io::stdin().lock(), io::stdout().lock());
        served.map_err(|error| Failure::Usage(format!("agent: {error}")))?;
        Ok(Outcome::Healthy)
    }
}
