//! Type names in C++ syntax: the parts left and right of the declared name.

use std::borrow::Cow;

use gimli::{AttributeValue, DwTag, constants as dw};

use crate::die::{Die, DieView};
use crate::index::{ANONYMOUS, Index, NO_SCOPE};
use crate::units::DieId;

/// The most entries that one name visits: parameters of parameters multiply.
const BUDGET: usize = 400;

/// The longest name; a hostile file has names that contain themselves many times.
const MAX_NAME: usize = 4096;

/// The parts before and after the declared name: `uint32_t (*` and `)[4]`.
#[derive(Default)]
struct Spelled {
    left: String,
    right: String,
}

/// Spells the names of one file's types.
pub(crate) struct Speller<'v, 'a> {
    pub(crate) view: &'v DieView<'a>,
    pub(crate) index: &'v Index,
}

impl<'a> Speller<'_, 'a> {
    /// Returns the whole name of a type.
    pub(crate) fn name(&self, id: DieId) -> String {
        let mut budget = BUDGET;
        self.spell(Some(id), &mut budget).whole()
    }

    fn spell(&self, id: Option<DieId>, budget: &mut usize) -> Spelled {
        let Some(id) = id else { return Spelled::plain("void") };
        let Some(left) = budget.checked_sub(1) else { return Spelled::plain("...") };
        *budget = left;
        let Some(die) = self.view.die(id) else { return Spelled::plain("?") };
        match die.tag() {
            dw::DW_TAG_pointer_type => self.pointer(&die, "*", budget),
            dw::DW_TAG_reference_type => self.pointer(&die, "&", budget),
            dw::DW_TAG_rvalue_reference_type => self.pointer(&die, "&&", budget),
            dw::DW_TAG_ptr_to_member_type => {
                let class = self.view.reference(&die, dw::DW_AT_containing_type);
                let class = class.and_then(|class| self.view.full_name(class));
                let mark = format!("{}::*", class.as_deref().unwrap_or("?"));
                self.pointer(&die, &mark, budget)
            }
            dw::DW_TAG_const_type => self.qualified(&die, "const", budget),
            dw::DW_TAG_volatile_type => self.qualified(&die, "volatile", budget),
            dw::DW_TAG_restrict_type => self.qualified(&die, "restrict", budget),
            dw::DW_TAG_atomic_type => self.qualified(&die, "_Atomic", budget),
            dw::DW_TAG_array_type => self.array(&die, budget),
            dw::DW_TAG_subroutine_type => self.function(&die, budget),
            tag => Spelled { left: self.named(&die, tag), right: String::new() },
        }
    }

    fn target(&self, die: &Die<'a>, budget: &mut usize) -> Spelled {
        self.spell(self.view.reference(die, dw::DW_AT_type), budget)
    }

    fn pointer(&self, die: &Die<'a>, mark: &str, budget: &mut usize) -> Spelled {
        let mut spelled = self.target(die, budget);
        if spelled.right.is_empty() {
            spelled.join(mark);
        } else if spelled.right.starts_with(')') {
            spelled.left.push_str(mark);
        } else {
            spelled.join("(");
            spelled.left.push_str(mark);
            spelled.right.insert(0, ')');
        }
        spelled.cut()
    }

    fn qualified(&self, die: &Die<'a>, word: &str, budget: &mut usize) -> Spelled {
        let mut spelled = self.target(die, budget);
        qualify(&mut spelled.left, word);
        spelled.cut()
    }

    fn array(&self, die: &Die<'a>, budget: &mut usize) -> Spelled {
        let mut spelled = self.target(die, budget);
        let lengths: String = lengths(self.view, die.id)
            .iter()
            .map(|length| length.map_or_else(|| "[]".to_owned(), |length| format!("[{length}]")))
            .collect();
        spelled.right.insert_str(0, &lengths);
        spelled.cut()
    }

    fn function(&self, die: &Die<'a>, budget: &mut usize) -> Spelled {
        let mut spelled = self.target(die, budget);
        let mut parameters = Vec::new();
        let mut object = ""; // the qualifier after the parameters
        let walked = self.view.children(die.id, |child| {
            match child.tag() {
                dw::DW_TAG_formal_parameter if child.flag(dw::DW_AT_artificial) => {
                    let this = self.target(child, budget).whole();
                    object = if this.starts_with("const ") { " const" } else { "" };
                }
                dw::DW_TAG_formal_parameter => {
                    parameters.push(self.target(child, budget).whole());
                }
                dw::DW_TAG_unspecified_parameters => parameters.push("...".to_owned()),
                _ => {}
            }
            *budget > 0
        });
        if walked.is_err() {
            parameters.push("?".to_owned());
        }
        spelled.right.insert_str(0, &format!("({}){object}", parameters.join(", ")));
        spelled.cut()
    }

    fn named(&self, die: &Die<'a>, tag: DwTag) -> String {
        let own = self.view.full_name(die.id);
        let Some(own) = own else {
            return match tag {
                dw::DW_TAG_structure_type => "struct {...}".to_owned(),
                dw::DW_TAG_class_type => "class {...}".to_owned(),
                dw::DW_TAG_union_type => "union {...}".to_owned(),
                dw::DW_TAG_enumeration_type => "enum {...}".to_owned(),
                _ => "?".to_owned(),
            };
        };
        let whole = self.view.reference(die, dw::DW_AT_signature).unwrap_or(die.id);
        qualified(self.view, self.index, self.index.scope_of(whole), &own)
    }
}

/// Adds a qualifier before a name or after a pointer. The source order is unknown and does not
/// matter: `const` comes first. An array of volatile elements may be volatile too; one qualifier is
/// enough.
fn qualify(left: &mut String, word: &str) {
    let bare = left.trim_end_matches(|c: char| c.is_ascii_lowercase() || c == ' ');
    let pointer = bare.ends_with(['*', '&']);
    let words = if pointer { left.get(bare.len()..).unwrap_or_default() } else { left.as_str() };
    let known = |w: &&str| matches!(*w, "const" | "volatile" | "restrict" | "_Atomic");
    let mut present = words.trim_start().split(' ').take_while(known);
    if present.any(|present| present == word) {
        return;
    }
    match (pointer, word) {
        (true, "const") => left.insert_str(bare.len(), " const"),
        (true, _) => {
            left.push(' ');
            left.push_str(word);
        }
        (false, "volatile") if left.starts_with("const ") => left.insert_str(6, "volatile "),
        (false, _) => left.insert_str(0, &format!("{word} ")),
    }
}

/// Returns a name with the namespaces and types around it.
pub(crate) fn qualified(view: &DieView<'_>, index: &Index, scope: u32, own: &str) -> String {
    if scope == NO_SCOPE {
        return own.to_owned();
    }
    let mut parts: Vec<Cow<'_, str>> = vec![Cow::Borrowed(own)];
    for scope in index.scopes(scope) {
        let tag = view.die(scope.die).map(|die| die.tag());
        match (view.full_name(scope.die), tag) {
            (_, Some(dw::DW_TAG_subprogram)) => break,
            (Some(name), _) => parts.push(name),
            (None, Some(dw::DW_TAG_namespace)) => parts.push(ANONYMOUS.into()),
            // Names in an unnamed enumeration or union are visible outside it.
            (None, _) => {}
        }
    }
    parts.reverse();
    let mut name = parts.join("::");
    cut(&mut name);
    name
}

/// Returns the lengths of an array's dimensions. Compilers write an upper bound of all ones for
/// length 0: it is -1 in the bound's own 32 bits.
pub(crate) fn lengths(view: &DieView<'_>, array: DieId) -> Vec<Option<u64>> {
    /// The most dimensions read.
    const MAX_RANK: usize = 64;
    let mut lengths = Vec::new();
    let walked = view.children(array, |child| {
        if child.tag() == dw::DW_TAG_subrange_type {
            lengths.push(length(child));
        }
        lengths.len() < MAX_RANK
    });
    if walked.is_err() || lengths.is_empty() {
        lengths.push(None);
    }
    lengths
}

fn length(range: &Die<'_>) -> Option<u64> {
    if let Some(count) = range.udata(dw::DW_AT_count) {
        return Some(count);
    }
    let upper = match range.attr(dw::DW_AT_upper_bound)? {
        AttributeValue::Sdata(-1) => return Some(0),
        _ => range.udata(dw::DW_AT_upper_bound)?,
    };
    if upper == u64::from(u32::MAX) || upper == u64::MAX {
        return Some(0);
    }
    let lower = range.udata(dw::DW_AT_lower_bound).unwrap_or(0);
    (upper + 1).checked_sub(lower)
}

impl Spelled {
    fn plain(left: &str) -> Spelled {
        Spelled { left: left.to_owned(), right: String::new() }
    }

    /// Adds a mark with a space before it, except after another mark.
    fn join(&mut self, mark: &str) {
        if !self.left.ends_with(['*', '&', '(']) {
            self.left.push(' ');
        }
        self.left.push_str(mark);
    }

    fn whole(self) -> String {
        let mut name = self.left;
        if !self.right.is_empty() && !name.ends_with(['*', '&', '(']) {
            name.push(' ');
        }
        name.push_str(&self.right);
        cut(&mut name);
        name
    }

    fn cut(mut self) -> Spelled {
        cut(&mut self.left);
        cut(&mut self.right);
        self
    }
}

fn cut(name: &mut String) {
    if name.len() > MAX_NAME {
        let end = (0..=MAX_NAME).rev().find(|&at| name.is_char_boundary(at)).unwrap_or(0);
        name.truncate(end);
        name.push_str("...");
    }
}
