//! The meaning of a name in an expression: a variable, a constant, or a symbol without a type.

use crate::resolved::Resolved;
use crate::storage::Storage;
use crate::symbols::Symbols;
use crate::synthetic;
use crate::variables::Variable;

impl Symbols {
    /// Returns the best match for a name.
    pub(crate) fn look_up(&self, name: &str, pc: Option<u64>) -> Option<Resolved> {
        // Local variables hide global ones.
        if let Some(local) = pc.and_then(|pc| self.local(name, Some(pc))) {
            return Some(resolved(&local, pc));
        }
        let variable = self.variable(name);
        // A constant inside a function may come from one inlined call, and a variable that was
        // optimised away may have an enumerator of the same name.
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
    let size = variable.symbol.as_ref().map_or(0, |symbol| symbol.size);
    let ty = match &variable.ty {
        Some(ty) if ty.size().is_some() => ty.clone(),
        ty => synthetic::sized(ty.as_ref(), size),
    };
    let storage = match pc {
        Some(pc) => variable.storage.at(pc),
        None => variable.storage.clone(),
    };
    Resolved { ty, storage, bits: None }
}
