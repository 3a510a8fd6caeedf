//! Suggestions for names that were not found.

use crate::error::Error;
use crate::symbols::Symbols;

/// The most suggestions.
const MAX_NEAR: usize = 3;

/// Longer names are not compared.
const MAX_LENGTH: usize = 256;

impl Symbols {
    /// Returns suggestions for a wrong name, nearest first: names of this file or members of the
    /// type. Empty if nothing is near, or the error is not a wrong name.
    pub fn suggestions(&self, error: &Error) -> Vec<String> {
        match error {
            Error::NoType { name } => nearest(name, self.type_names()),
            Error::NoVariable { name } => {
                let mut names = self.variable_names();
                names.extend(self.enumerator_names());
                nearest(name, names)
            }
            Error::NoMember { in_type, member } => {
                let members = self.type_named(in_type).map(|ty| {
                    let members = ty.members().iter();
                    members.filter_map(|m| m.name.as_deref().map(str::to_owned)).collect()
                });
                nearest(member, members.unwrap_or_default())
            }
            Error::NoFile { name } => nearest(name, self.source_files()),
            Error::NoFunction { name } => nearest(name, self.function_names()),
            _ => Vec::new(),
        }
    }
}

/// Returns the names that contain the wanted one or differ from it by few letters.
fn nearest(wanted: &str, names: Vec<String>) -> Vec<String> {
    let wanted = wanted.trim().to_lowercase();
    let own = last(&wanted);
    if own.is_empty() || wanted.len() > MAX_LENGTH {
        return Vec::new();
    }
    let mut found: Vec<(usize, usize, String)> = names
        .into_iter()
        .filter(|name| name.len() <= MAX_LENGTH)
        .filter_map(|name| {
            let low = name.to_lowercase();
            let changes = distance(own, last(&low)).min(distance(&wanted, &low));
            let holds = own.len() >= 3 && low.contains(own);
            let far = changes > own.len().div_ceil(3) && !holds;
            (!far).then_some((if holds { changes.min(2) } else { changes }, name.len(), name))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, _, name)| name).take(MAX_NEAR).collect()
}

/// Returns the part of a name or path that is likely misspelled: the part after all scopes and
/// folders.
fn last(name: &str) -> &str {
    let plain = name.split_once('<').map_or(name, |(plain, _)| plain);
    plain.rsplit([':', '/']).next().unwrap_or(plain)
}

/// Returns the number of letters to add, remove, replace or swap with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX - 1);
            let mut best = (at(&row, j) + usize::from(x != y))
                .min(at(&row, j + 1) + 1)
                .min(next.last().copied().unwrap_or(0) + 1);
            let swapped = i > 0 && j > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                best = best.min(at(&before, j - 1) + 1);
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{distance, nearest};

    #[test]
    fn changes_are_counted() {
        let checks =
            [("launch", "lunch", 1), ("launch", "luanch", 1), ("", "abc", 3), ("a", "a", 0)];
        for (a, b, want) in checks {
            assert_eq!(distance(a, b), want, "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_names_come_first() {
        let names = || ["mailboxes_t", "mailbox_t", "launch_msg_t", "ns::go_msg_t"];
        let nearest = |wanted| nearest(wanted, names().map(str::to_owned).to_vec());
        assert_eq!(nearest("mailboxs_t"), ["mailbox_t", "mailboxes_t"]);
        assert_eq!(nearest("go_mgs_t"), ["ns::go_msg_t"]);
        assert_eq!(nearest("launch"), ["launch_msg_t"]);
        assert_eq!(nearest("zebra"), Vec::<String>::new());
    }
}
