//! `metrics`: the counts of the links and the verdict as OpenMetrics, once or for scrapers.

mod http;
mod text;

use crate::amount;
use crate::output;
use crate::target::{Style, end_of_all, open};
use crate::verb::{Ask, Pages, Verb, everything};
use console::exit::{Failure, Outcome};
use console::machine::{Machine, Opening};
use diagnosis::Health;
use machine::target::TargetBus;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::time::{Duration, Instant};
use transport::silicon::cards::card;

/// Print the counts of the links and the verdict as OpenMetrics, or serve them.
#[derive(clap::Args, Debug)]
pub(crate) struct MetricsArguments {
    /// Serve them at http://ADDR/metrics until interrupted; the default address is loopback.
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        default_missing_value = "127.0.0.1:9464"
    )]
    listen: Option<SocketAddr>,
    /// Time over which the mesh is watched for each scrape, such as 20ms or 200us.
    #[arg(long = "for", value_name = "TIME", default_value = "20ms")]
    over: String,
}

/// More frequent scrapes get the last answer again.
const LEAST_APART: Duration = Duration::from_secs(1);

impl Verb for MetricsArguments {
    const NAME: &str = "metrics";
    const PAGES: Pages = &[("metrics", include_str!("../manual/verbs/metrics.md"))];
    const QUESTION: Ask<Self> = Some(|_, _| Ok(Some(everything())));
    fn no_table(&self) -> Option<&'static str> {
        Some("metrics")
    }
    fn run(&self, target: &Opening, _style: Style) -> Result<Outcome, Failure> {
        let over = amount::time("--for", &self.over).map_err(Failure::Usage)?;
        let Some(address) = self.listen else {
            let mut machine = open(target)?;
            let (text, outcome) = taken(&mut machine, target, over)?;
            output::text(&text)?;
            return Ok(outcome);
        };
        let refused = |error| Failure::Usage(format!("--listen {address}: {error}"));
        let listener = TcpListener::bind(address).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let mut machine = open(target)?.into_machine();
        output::say(&format!("{}: metrics at http://{address}/metrics", target.words));
        // Scrapes are seconds apart.
        machine.session().give_back();
        let mut last: Option<(Instant, String)> = None;
        http::serve(&listener, &mut || {
            let fresh = last.take().filter(|(taken, _)| taken.elapsed() < LEAST_APART);
            let (at, text) = if let Some(fresh) = fresh {
                fresh
            } else {
                let text = taken(&mut machine, target, over).map(|taken| taken.0);
                machine.session().give_back();
                (Instant::now(), text?)
            };
            last = Some((at, text.clone()));
            Ok(text)
        })
    }
}

/// Watches the mesh, and returns what is told of it.
fn taken(machine: &mut Machine, target: &Opening, over: u64) -> Result<(String, Outcome), Failure> {
    let watched =
        machine.diagnose(over).map_err(|gone| Failure::of_access(&target.words, &gone))?;
    let Some(last) = &watched.newest else {
        return Err(Failure::Internal("no snapshot was taken".to_owned()));
    };
    if let Some(gone) = end_of_all(&last.snapshot) {
        return Err(Failure::of_access(&target.words, gone));
    }
    let numbers = machine.target().bus().map_or_else(Vec::new, TargetBus::cards);
    let cards = numbers.into_iter().map(|(chip, number)| (chip, card(Path::new("/"), number)));
    let cards: Vec<_> = cards.collect();
    let text = text::of(&last.state, &watched.diagnosis, watched.transactions, &cards)?;
    let outcome = Outcome::of(Health::of(&watched.diagnosis), !last.state.gaps.is_empty());
    Ok((text, outcome))
}
