//! The known registers of a core.

/// The number of integer registers of a core.
pub(crate) const COUNT: usize = 32;
/// The link register by the calling convention; call frame information may name another.
pub(crate) const RA: u16 = 1;
/// The stack pointer.
pub(crate) const SP: u16 = 2;

/// The names in the calling convention, by number.
const NAMES: [&str; COUNT] = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
];

/// The known values of a core's pc and x1 to x31; x0 is always 0.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Registers {
    /// The address of the next instruction.
    pub pc: Option<u32>,
    integers: [Option<u32>; COUNT],
}

impl Registers {
    /// Returns registers of which only the pc is known.
    pub fn at(pc: u32) -> Registers {
        Registers { pc: Some(pc), ..Registers::default() }
    }

    /// Returns the value of an integer register by number; none if it is unknown or does not exist.
    pub fn get(&self, number: u16) -> Option<u32> {
        match number {
            0 => Some(0),
            _ => *self.integers.get(usize::from(number))?,
        }
    }

    /// Sets the value of an integer register, or marks it unknown. Ignores x0 and numbers above 31.
    pub fn set(&mut self, number: u16, value: Option<u32>) {
        if let Some(slot) = self.integers.get_mut(usize::from(number)).filter(|_| number > 0) {
            *slot = value;
        }
    }

    /// Returns a register's name in the calling convention, such as `sp` for 2.
    pub fn name(number: u16) -> Option<&'static str> {
        NAMES.get(usize::from(number)).copied()
    }

    /// Returns the number of an integer register by name: `sp`, `x2`, `s0`, `fp`.
    pub fn number(name: &str) -> Option<u16> {
        let numbered = || {
            let digits = name.strip_prefix('x').filter(|digits| !digits.starts_with(['+', '0']));
            let number = if name == "x0" { 0 } else { digits?.parse().ok()? };
            NAMES.get(number).map(|_| number)
        };
        let number = match name {
            "fp" => Some(8),
            _ => NAMES.iter().position(|known| *known == name).or_else(numbered),
        };
        number.map(|number| number as u16)
    }
}

/// Whether a function must preserve a register. Compilers omit such a register from call frame
/// information while it is unchanged.
pub(crate) fn preserved(number: u16) -> bool {
    matches!(number, 3 | 4 | 8 | 9 | 18..=27)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn registers_have_two_names_and_x0_has_one_value() {
        for number in 0..32 {
            let name = Registers::name(number).unwrap();
            assert_eq!(Registers::number(name), Some(number));
            assert_eq!(Registers::number(&format!("x{number}")), Some(number));
        }
        assert_eq!((Registers::number("fp"), Registers::name(32)), (Some(8), None));
        for wrong in ["", "x", "x32", "x+1", "x01", "x00", "pc", "f0", "a8"] {
            assert_eq!(Registers::number(wrong), None, "{wrong}");
        }
        let mut registers = Registers::default();
        registers.set(0, Some(7));
        registers.set(40, Some(7));
        registers.set(31, Some(7));
        assert_eq!([0, 31, 40, 1].map(|n| registers.get(n)), [Some(0), Some(7), None, None]);
    }
}
