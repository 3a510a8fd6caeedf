//! `images`: the images on each core, with their provenance and problems.

use super::cores::{check, holds, read_set, say_findings};
use super::target::{Style, inspect, judge, report};
use crate::output::{Columns, json};
use crate::shape::Images;
use console::exit::{Failure, Outcome};
use console::locate;
use console::machine::Opening;
use console::words;
use decode::inspect::ReadSet;
use decode::state::{CoreState, ImageUse};

const HEAD: [&str; 7] = ["CORE", "ROLE", "IMAGE", "LOADED AT", "PROVENANCE", "COMPARED", "FILE"];

pub(super) fn run(target: &Opening, style: Style, place: Option<&str>) -> Result<Outcome, Failure> {
    let place = place.map(locate::place).transpose().map_err(Failure::Usage)?;
    let whole = |read_set| ReadSet { proofs: true, texts: true, ..read_set };
    let snapshot = inspect(target, |mesh| whole(read_set(mesh, place)))?;
    let state = &snapshot.state;
    check(state, place)?;
    report(target, state);
    let passes = |core: &CoreState| place.is_none_or(|place| holds(state, place, core));
    let all = state.chips.iter().flat_map(|c| &c.tiles).flat_map(|t| &t.cores);
    let cores: Vec<_> = all.filter(|core| passes(core)).collect();
    if style.json {
        json(Images::new(&target.words, state, &cores))?;
    } else {
        let mut table = Columns::new(&HEAD);
        for core in &cores {
            for image in &core.images {
                table.row(row(core, image));
            }
        }
        style.print(table)?;
    }
    say_findings(&state.chips, passes);
    Ok(judge(state))
}

fn row(core: &CoreState, image: &ImageUse) -> Vec<String> {
    let also = match image.also.len() {
        0 => String::new(),
        count => format!(" ({count} more with the same text)"),
    };
    let moved = if image.bias == 0 { "" } else { " moved" };
    let runs = match image.run_addr {
        at if at == image.load_addr => String::new(),
        at => format!(", runs at {at:#x}"),
    };
    vec![
        core.id.to_string(),
        image.role.name().to_owned(),
        format!("{}{also}", image.name),
        format!("{:#x}{moved}{runs}", image.load_addr),
        words::evidence(image.evidence).to_owned(),
        words::compared(&image.comparison),
        image.path.clone().unwrap_or_default(),
    ]
}
