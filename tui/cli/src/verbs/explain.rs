//! `explain`: what a finding means, and the stages of a protocol.

use crate::output::{Columns, Page, json, text};
use crate::shape::{Explained, Explanations, schema};
use crate::target::Style;
use crate::verb::{Pages, Schemas, Verb};
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use decode::state::{PROTOCOLS, Protocol};
use diagnosis::{Condition, Explanation};
use std::fmt::Write;

/// Explain a finding of `why` or `check`; without a name, list them.
#[derive(clap::Args, Debug)]
pub(crate) struct ExplainArguments {
    /// The finding, such as link-down, or the protocol, such as router.
    pub(crate) name: Option<String>,
}

impl Verb for ExplainArguments {
    const NAME: &str = "explain";
    const PAGES: Pages = &[("explain", include_str!("../manual/verbs/explain.md"))];
    const SCHEMAS: Schemas = &[("explain", schema::<Explanations>)];
    fn no_table(&self) -> Option<&'static str> {
        self.name.as_ref().map(|_| "explain with a name")
    }
    fn run(&self, _: &Opening, style: Style) -> Result<Outcome, Failure> {
        run(style, self.name.as_deref())
    }
}

pub(super) fn run(style: Style, name: Option<&str>) -> Result<Outcome, Failure> {
    let Some(name) = name else { return list(style) };
    if let Some(protocol) = Protocol::named(name) {
        return stages(style, protocol);
    }
    let condition = Condition::named(name).ok_or_else(|| {
        let words = "is no finding and no protocol; `meshscope explain` lists them";
        Failure::Usage(format!("`{name}` {words}"))
    })?;
    if style.json {
        json(Explanations { explanations: vec![Explained::of(condition)] })?;
        return Ok(Outcome::Healthy);
    }
    let Explanation { meaning, evidence, refuted_by, next } = condition.explanation();
    text(&format!(
        "{name}\n\n{meaning}\n\nEvidence: {evidence}.\nRefuted if {refuted_by}.\nNext: {next}\n"
    ))?;
    Ok(Outcome::Healthy)
}

/// The stages of a protocol: who must act, what holds a party there, and what follows.
fn stages(style: Style, protocol: &Protocol) -> Result<Outcome, Failure> {
    if style.json {
        json(Explanations { explanations: vec![Explained::of_protocol(protocol)] })?;
        return Ok(Outcome::Healthy);
    }
    let mut page = format!("{}\n\n{}\n", protocol.name, protocol.about);
    for stage in protocol.stages {
        let signs: Vec<String> = stage.signs.iter().map(ToString::to_string).collect();
        let then = if stage.then.is_empty() { "-".to_owned() } else { stage.then.join(", ") };
        let _ = writeln!(
            page,
            "\n{}: {}\n  shown by     {}\n  next to act  {}\n  held by      {}\n  then         {then}",
            stage.name,
            stage.meaning,
            signs.join(", "),
            stage.next,
            stage.hold,
        );
    }
    text(&page)?;
    Ok(Outcome::Healthy)
}

fn list(style: Style) -> Result<Outcome, Failure> {
    if style.json {
        let findings = Condition::ALL.iter().map(|it| Explained::of(*it));
        let protocols = PROTOCOLS.iter().map(Explained::of_protocol);
        json(Explanations { explanations: findings.chain(protocols).collect() })?;
        return Ok(Outcome::Healthy);
    }
    let mut table = Columns::new(&["FINDING", "MEANING"]);
    for condition in Condition::ALL {
        let Explanation { meaning, .. } = condition.explanation();
        table.row(vec![condition.name().to_owned(), meaning.to_owned()]);
    }
    let mut protocols = Columns::new(&["PROTOCOL", "PARTIES"]);
    for protocol in &PROTOCOLS {
        protocols.row(vec![protocol.name.to_owned(), protocol.about.to_owned()]);
    }
    style.print(Page::from(table).with("\n").with(protocols))?;
    Ok(Outcome::Healthy)
}
