//! `explain`: what a finding means, the stages of a protocol, the letters of a waypoint, and a function that waits.

use crate::output::{Columns, Page, json, text};
use crate::shape::{Explained, Explanations, schema};
use crate::target::Style;
use crate::verb::{Pages, Schemas, Verb};
use console::exit::{Failure, Outcome};
use console::machine::Opening;
use decode::state::{PROTOCOLS, Protocol, Stage};
use diagnosis::{Condition, Explanation, Waypoint};
use std::fmt::Write;

/// Explain a finding of `why` or `check`, a protocol, a waypoint or a function that waits; without a
/// name, list them.
#[derive(clap::Args, Debug)]
pub(crate) struct ExplainArguments {
    /// The finding, such as link-down, the protocol, such as router, the waypoint, such as FWSW, or the
    /// function, such as noc_semaphore_wait.
    pub(crate) name: Option<String>,
}

impl Verb for ExplainArguments {
    const NAME: &str = "explain";
    const READS: bool = true;
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
    let waypoints = Waypoint::named(name);
    if !waypoints.is_empty() {
        return explain_waypoint(style, name, waypoints);
    }
    let condition = Condition::named(name).ok_or_else(|| {
        let words = "is no finding, protocol, waypoint or function that waits; `meshscope explain` lists them";
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

/// The meanings of a waypoint.
fn explain_waypoint(style: Style, name: &str, all: Vec<Waypoint>) -> Result<Outcome, Failure> {
    if style.json {
        let explanations = all.into_iter().map(Explained::Waypoint).collect();
        json(Explanations { explanations })?;
        return Ok(Outcome::Healthy);
    }
    let mut page = format!("{name}\n");
    for Waypoint {
        waypoints,
        set_by,
        functions,
        meaning,
        who_must_act,
        spin,
        healthy,
        if_it_stays,
    } in &all
    {
        let begun = name.strip_suffix('D').map(|stem| format!("{stem}W"));
        let begun = begun.filter(|begun| waypoints.contains(begun));
        let after = begun.map(|begun| format!("the end of {begun}: ")).unwrap_or_default();
        let _ = writeln!(
            page,
            "\n{after}{meaning}\n  set by        {set_by}\n  waypoint      {}",
            waypoints.join(" "),
        );
        if !functions.is_empty() {
            let _ = writeln!(page, "  functions     {}", functions.join(" "));
        }
        let _ = writeln!(
            page,
            "  who must act  {who_must_act}\n  spin          {spin}\n  healthy       {healthy}\n  \
             if it stays   {if_it_stays}",
        );
    }
    text(&page)?;
    Ok(Outcome::Healthy)
}

/// The stages of a protocol: who must act, what holds a party there, and what follows.
fn stages(style: Style, protocol: &Protocol) -> Result<Outcome, Failure> {
    if style.json {
        json(Explanations { explanations: vec![Explained::of_protocol(protocol)] })?;
        return Ok(Outcome::Healthy);
    }
    let mut page = format!("{}\n\n{}\n", protocol.name, protocol.about);
    for (at, stage) in protocol.stages.iter().enumerate() {
        let signs: Vec<String> = stage.signs.iter().map(ToString::to_string).collect();
        let signs = signs.join(", ");
        let rest = |stage: &Stage| (stage.name, stage.meaning, stage.next, stage.hold, stage.then);
        // Several signs can show one stage, before and after those of another.
        if protocol.stages[..at].iter().any(|before| rest(before) == rest(stage)) {
            let _ = writeln!(page, "\n{}, also\n  shown by     {signs}", stage.name);
            continue;
        }
        let meaning = Some(stage.meaning).filter(|meaning| *meaning != stage.name);
        let meaning = meaning.map(|meaning| format!(": {meaning}")).unwrap_or_default();
        let then = if stage.then.is_empty() { "-".to_owned() } else { stage.then.join(", ") };
        let _ = writeln!(
            page,
            "\n{}{meaning}\n  shown by     {signs}\n  next to act  {}\n  held by      {}\n  then         {then}",
            stage.name, stage.next, stage.hold,
        );
    }
    text(&page)?;
    Ok(Outcome::Healthy)
}

fn list(style: Style) -> Result<Outcome, Failure> {
    if style.json {
        let findings = Condition::ALL.iter().map(|it| Explained::of(*it));
        let protocols = PROTOCOLS.iter().map(Explained::of_protocol);
        let waypoints = Waypoint::all().map(Explained::Waypoint);
        json(Explanations { explanations: findings.chain(protocols).chain(waypoints).collect() })?;
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
    let mut waypoints = Columns::new(&["WAYPOINT", "MEANING", "FUNCTIONS"]);
    for Waypoint { waypoints: codes, meaning, functions, .. } in Waypoint::all() {
        waypoints.row(vec![codes.join(" "), meaning.to_owned(), functions.join(" ")]);
    }
    style.print(Page::from(table).with("\n").with(protocols).with("\n").with(waypoints))?;
    Ok(Outcome::Healthy)
}
