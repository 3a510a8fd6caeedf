//! Debug entries: reading one by its id, following its references, walking its children.

use std::borrow::Cow;
use std::cell::OnceCell;

use gimli::{
    AttributeValue, DebuggingInformationEntry, DwAt, DwTag, Unit, UnitOffset, constants as dw,
};

use crate::sections::Slice;
use crate::source::Source;
use crate::units::{DieId, UnitInfo};

/// The most origins and specifications followed; compilers write four at most.
const MAX_ORIGINS: usize = 16;

/// The debug information for one lookup, borrowed from the file.
pub(crate) struct DieView<'a> {
    /// The file's own sections; `dwarf_of` returns those of a unit.
    pub(crate) dwarf: gimli::Dwarf<Slice<'a>>,
    /// Other files, numbered from 1.
    pub(crate) sources: &'a [Source],
    pub(crate) others: OnceCell<Vec<gimli::Dwarf<Slice<'a>>>>,
    pub(crate) units: &'a [UnitInfo],
    pub(crate) signatures: &'a [(u64, DieId)],
}

/// One entry with the unit it is in.
pub(crate) struct Die<'a> {
    pub(crate) id: DieId,
    /// Index into the unit table.
    pub(crate) unit: usize,
    entry: DebuggingInformationEntry<Slice<'a>>,
}

impl<'a> Die<'a> {
    pub(crate) fn tag(&self) -> DwTag {
        self.entry.tag()
    }

    pub(crate) fn attr(&self, name: DwAt) -> Option<AttributeValue<Slice<'a>>> {
        self.entry.attr_value(name)
    }

    pub(crate) fn udata(&self, name: DwAt) -> Option<u64> {
        self.entry.attr(name)?.udata_value()
    }

    pub(crate) fn flag(&self, name: DwAt) -> bool {
        matches!(self.attr(name), Some(AttributeValue::Flag(true)))
    }
}

impl<'a> DieView<'a> {
    /// Returns the index of the unit that holds the entry.
    pub(crate) fn unit_of(&self, id: DieId) -> Option<usize> {
        let after = self.units.partition_point(|unit| unit.start <= id.0);
        let index = after.checked_sub(1)?;
        (id.0 < self.units.get(index)?.end).then_some(index)
    }

    pub(crate) fn unit(&self, index: usize) -> Option<Unit<Slice<'a>>> {
        Some(self.units.get(index)?.unit(self.dwarf_of(index)))
    }

    /// Returns the sections that hold a unit.
    pub(crate) fn dwarf_of(&self, unit: usize) -> &gimli::Dwarf<Slice<'a>> {
        let source = self.units.get(unit).map_or(0, |info| info.source);
        let Some(other) = source.checked_sub(1) else { return &self.dwarf };
        let make = |source: &'a Source| source.split(&self.dwarf);
        let others = self.others.get_or_init(|| self.sources.iter().map(make).collect());
        others.get(other).unwrap_or(&self.dwarf)
    }

    /// Reads one entry.
    pub(crate) fn die(&self, id: DieId) -> Option<Die<'a>> {
        let index = self.unit_of(id)?;
        let offset = UnitOffset((id.0 - self.units.get(index)?.start) as usize);
        let entry = self.unit(index)?.entry(offset).ok()?;
        Some(Die { id, unit: index, entry })
    }

    /// Returns the entry that an attribute refers to, in any unit.
    pub(crate) fn reference(&self, die: &Die<'_>, name: DwAt) -> Option<DieId> {
        self.target(die.unit, &die.attr(name)?)
    }

    /// Returns the entry that a reference of the given unit refers to.
    pub(crate) fn target(&self, unit: usize, value: &AttributeValue<Slice<'_>>) -> Option<DieId> {
        match *value {
            AttributeValue::UnitRef(UnitOffset(offset)) => {
                let start = self.units.get(unit)?.start;
                Some(DieId(start.checked_add(u32::try_from(offset).ok()?)?))
            }
            AttributeValue::DebugInfoRef(offset) => {
                let base = self.units.get(unit)?.base;
                Some(DieId(base.checked_add(u32::try_from(offset.0).ok()?)?))
            }
            AttributeValue::DebugTypesRef(signature) => {
                let at = self.signatures.binary_search_by_key(&signature.0, |&(s, _)| s).ok()?;
                Some(self.signatures.get(at)?.1)
            }
            _ => None,
        }
    }

    /// Returns the entry that has what this one omits: an inlined, cloned or out-of-line function,
    /// or a type that a type unit defines.
    pub(crate) fn origin(&self, die: &Die<'_>) -> Option<DieId> {
        self.reference(die, dw::DW_AT_abstract_origin)
            .or_else(|| self.reference(die, dw::DW_AT_specification))
            .or_else(|| self.reference(die, dw::DW_AT_signature))
    }

    /// Iterates over the entry and the entries it completes, nearest first.
    pub(crate) fn origins(&self, die: Die<'a>) -> impl Iterator<Item = Die<'a>> {
        let next = move |die: &Die<'a>| self.die(self.origin(die)?);
        std::iter::successors(Some(die), next).take(MAX_ORIGINS)
    }

    /// Returns a string attribute of this entry itself.
    pub(crate) fn string(&self, die: &Die<'a>, name: DwAt) -> Option<Cow<'a, str>> {
        let unit = self.unit(die.unit)?;
        let text = self.dwarf_of(die.unit).attr_string(&unit, die.attr(name)?).ok()?;
        Some(text.to_string_lossy()).filter(|text| !text.is_empty())
    }

    /// Returns the name of this entry itself.
    pub(crate) fn name(&self, die: &Die<'a>) -> Option<Cow<'a, str>> {
        self.string(die, dw::DW_AT_name)
    }

    /// Returns the name of the entry or, if it has none, of the entry that it completes.
    pub(crate) fn full_name(&self, id: DieId) -> Option<Cow<'a, str>> {
        self.origins(self.die(id)?).find_map(|die| self.name(&die))
    }

    /// Returns the linkage name of the entry or of the entry that it completes.
    pub(crate) fn linkage_name(&self, id: DieId) -> Option<Cow<'a, str>> {
        self.origins(self.die(id)?).find_map(|die| {
            self.string(&die, dw::DW_AT_linkage_name)
                .or_else(|| self.string(&die, dw::DW_AT_MIPS_linkage_name))
        })
    }

    /// Calls `each` for every direct child until it returns false. An unreadable child ends the
    /// walk.
    pub(crate) fn children(
        &self,
        id: DieId,
        mut each: impl FnMut(&Die<'a>) -> bool,
    ) -> gimli::Result<()> {
        let Some(index) = self.unit_of(id) else { return Ok(()) };
        let (Some(info), Some(unit)) = (self.units.get(index), self.unit(index)) else {
            return Ok(());
        };
        let mut tree = unit.entries_tree(Some(UnitOffset((id.0 - info.start) as usize)))?;
        let mut children = tree.root()?.children();
        while let Some(child) = children.next()? {
            let entry = child.entry().clone();
            let id = DieId(info.start.saturating_add(entry.offset().0 as u32));
            if !each(&Die { id, unit: index, entry }) {
                break;
            }
        }
        Ok(())
    }
}

/// Returns a constant of any integer form, signed as the form defines.
pub(crate) fn number(value: AttributeValue<Slice<'_>>) -> Option<i128> {
    match value {
        AttributeValue::Sdata(value) => Some(value.into()),
        AttributeValue::Udata(value) | AttributeValue::Data8(value) => Some(value.into()),
        AttributeValue::Data1(value) => Some(value.into()),
        AttributeValue::Data2(value) => Some(value.into()),
        AttributeValue::Data4(value) => Some(value.into()),
        _ => None,
    }
}
