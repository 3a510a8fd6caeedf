//! The questions that are asked of logs every day, each as SQL that DataFusion and DuckDB understand.

/// A question.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantNames,
)]
#[strum(serialize_all = "lowercase")]
pub enum Question {
    /// On which cable, board, tray or host trouble comes back, on most days first.
    Recurring,
    /// Retrainings of links for each day.
    Retrains,
    /// When and where each kind of trouble was seen first.
    First,
    /// What else changed: facts that became other than before, and commands.
    Changes,
}

/// What is counted together.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr, strum::VariantNames,
)]
#[strum(serialize_all = "lowercase")]
pub enum By {
    /// A link.
    Cable,
    /// A board, wherever it is.
    Board,
    /// A tray of a host.
    Tray,
    /// A host.
    Host,
}

impl By {
    fn columns(self) -> &'static str {
        match self {
            Self::Cable => "cable",
            Self::Board => "board",
            Self::Tray => "host, tray",
            Self::Host => "host",
        }
    }

    fn name(self) -> &'static str {
        self.into()
    }
}

impl Question {
    /// Returns its SQL over the table `log`, of one day if one is named.
    pub fn sql(self, by: By, day: Option<jiff::civil::Date>) -> String {
        let (columns, known) = (by.columns(), by.name());
        let on = day.map_or_else(String::new, |day| format!(" and day = date '{day}'"));
        match self {
            Self::Recurring => format!(
                "select {columns}, count(distinct day) as days, count(*) as observations, \
                 min(time) as first, max(time) as last \
                 from log where trouble and {known} is not null{on} \
                 group by {columns} order by days desc, observations desc, {columns} limit 20"
            ),
            Self::Retrains => format!(
                "select day, {columns}, sum(change) as retrains \
                 from log where name = 'retrain_count' and change > 0 and {known} is not null{on} \
                 group by day, {columns} order by day, retrains desc, {columns}"
            ),
            Self::First => format!(
                "select time as first, kind, name, host, cable, chip, place, text from (\
                 select *, row_number() over (partition by kind, name \
                 order by time, host, source, chip, channel, text) as nth \
                 from log where trouble{on}) as troubles \
                 where nth = 1 order by first, kind, name"
            ),
            Self::Changes => format!(
                "select day, time, host, chip, name, before, text as after from (\
                 select *, lag(text) over (partition by host, chip, name order by time, source) \
                 as before from log where kind = 'fact') as facts \
                 where before <> text{on} \
                 union all select day, time, host, chip, name, cast(null as varchar) as before, \
                 text as after from log where kind = 'command'{on} \
                 order by day, time, host, chip, name, after"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_day_and_what_is_counted_are_in_the_sql() {
        let day = "2026-11-03".parse().unwrap();
        let sql = "recurring".parse::<Question>().unwrap().sql(By::Tray, Some(day));
        assert!(sql.starts_with("select host, tray, count(distinct day)"), "{sql}");
        assert!(sql.contains("tray is not null and day = date '2026-11-03' group by"), "{sql}");
    }
}
