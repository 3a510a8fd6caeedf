//! `explain`: what a finding means.

use super::target::Style;
use crate::exit::{Failure, Outcome};
use crate::output::{Columns, json, text};
use crate::shape::Explained;
use diagnosis::{Condition, Explanation};

pub(super) fn run(style: Style, name: Option<&str>) -> Result<Outcome, Failure> {
    let Some(name) = name else { return list(style) };
    let condition = Condition::named(name).ok_or_else(|| {
        Failure::Usage(format!("`{name}` is no finding; `meshscope explain` lists them"))
    })?;
    if style.json {
        json(vec![Explained::of(condition)])?;
        return Ok(Outcome::Healthy);
    }
    let Explanation { meaning, evidence, refuted_by, next } = condition.explanation();
    text(&format!(
        "{name}\n\n{meaning}\n\nEvidence: {evidence}.\nRefuted if {refuted_by}.\nNext: {next}\n"
    ))?;
    Ok(Outcome::Healthy)
}

fn list(style: Style) -> Result<Outcome, Failure> {
    if style.json {
        json(Condition::ALL.iter().map(|it| Explained::of(*it)).collect::<Vec<_>>())?;
        return Ok(Outcome::Healthy);
    }
    let mut table = Columns::new(&["FINDING", "MEANING"]);
    for condition in Condition::ALL {
        let Explanation { meaning, .. } = condition.explanation();
        table.row(vec![condition.name().to_owned(), meaning.to_owned()]);
    }
    text(&table.text())?;
    Ok(Outcome::Healthy)
}
