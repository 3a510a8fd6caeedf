//! Expressions in C++ syntax: paths, indexes, pointers that are followed on request, casts, integer
//! arithmetic.

mod lexer;
mod parser;

use std::fmt;
use std::ops::Range;

use crate::error::Error;

/// A parsed expression, which can be resolved in any file any number of times.
///
/// It may contain names with scopes and template arguments (`ns::x`, `Channel<8>::SLOTS`), `a.b`,
/// `p->m`, `a[1]`, `p[1]`, `*p`, `&x`, numbers, casts (`(launch_msg_t *)0x1234`, `(uint32_t)p`),
/// `sizeof(x)`, a type at an address (`go_msg_t@0x370`, `uint32_t[4]@(&x)`), and arithmetic with
/// integers as in C++: `-` `~` `*` `/` `%` `+` `-` `<<` `>>` `&` `^` `|`.
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    root: Node,
    /// Whether only a file's types decide how it is parsed: `(a) * b`.
    depends: bool,
    pub(crate) pc: Option<u64>,
}

/// A part of an expression with its span in the text.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: NodeKind,
}

/// The operation of a part of an expression.
#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Name(String),
    Number(Literal),
    Member(Box<Node>, String),
    Through(Box<Node>, String),
    Index(Box<Node>, Box<Node>),
    Follow(Box<Node>),
    Negate(Box<Node>),
    Complement(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
    AddressOf(Box<Node>),
    Cast(String, Box<Node>),
    At(String, Box<Node>),
    /// The text inside, which may be a type's, and the expression if it is one.
    SizeOf(String, Option<Box<Node>>),
}

/// An operator between two numbers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Operator {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    And,
    Xor,
    Or,
}

/// A number as it was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Literal {
    pub(crate) value: i128,
    /// Whether it is decimal: such a literal is unsigned only with a suffix, others also by size.
    pub(crate) decimal: bool,
    /// Whether it has the suffix `u`.
    pub(crate) unsigned: bool,
    /// The number of `l` in its suffix.
    pub(crate) longs: usize,
}

impl Expression {
    /// Parses an expression. The error contains the byte at which parsing failed.
    pub fn parse(text: &str) -> Result<Expression, Error> {
        let mut depends = false;
        let root = parser::parse(text, &mut |_| {
            depends = true;
            true
        })?;
        Ok(Expression { text: text.to_owned(), root, depends, pc: None })
    }

    /// Returns the parts, given the types of a file.
    pub(crate) fn root(&self, is_type: &mut dyn FnMut(&str) -> bool) -> Node {
        let known = self.depends.then(|| parser::parse(&self.text, is_type).ok()).flatten();
        known.unwrap_or_else(|| self.root.clone())
    }

    /// Sets the program counter at which the expression is resolved: local variables of the
    /// functions around it come first, and variables that move are at their place then.
    #[must_use]
    pub fn at(mut self, pc: u64) -> Expression {
        self.pc = Some(pc);
        self
    }

    /// Returns the text of the expression.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn part(&self, node: &Node) -> String {
        self.text.get(node.span.clone()).unwrap_or(&self.text).trim().to_owned()
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
