//! What a name in an expression means: a variable, a constant, or a symbol without a type.

use crate::made;
use crate::resolved::Resolved;
use crate::storage::Storage;
use crate::symbols::Symbols;
use crate::variables::Variable;

impl Symbols {
    /// The best meaning of a name.
    pub(crate) fn meant(&self, name: &str, pc: Option<u64>) -> Option<Resolved> {
        // What runs there hides what is global.
        if let Some(local) = pc.and_then(|pc| self.local(name, Some(pc))) {
            return Some(resolved(&local, pc));
        }
        let variable = self.variable(name);
        // A constant inside a function may be what one inlined call made of a variable, and what is
        // optimised away may be an enumerator of the same name.
        let certain = |v: &Variable| matches!(v.storage, Storage::Address(_)) || !v.local;
        if let Some(variable) = variable.as_ref().filter(|v| certain(v)) {
            return Some(resolved(variable, pc));
        }
        let constant = self.constant(name).or_else(|| self.template_argument(name));
        let constant = constant.map(|c| Resolved::constant(c.ty, c.bytes));
        let variable = || variable.as_ref().map(|variable| resolved(variable, pc));
        constant
            .or_else(|| self.local(name, pc).map(|local| resolved(&local, pc)))
            .or_else(variable)
    }
}

fn resolved(variable: &Variable, pc: Option<u64>) -> Resolved {
    let ty = variable.ty.clone().unwrap_or_else(made::unknown);
    let storage = match pc {
        Some(pc) => variable.storage.at(pc),
        None => variable.storage.clone(),
    };
    Resolved { ty, storage, bits: None }
}
