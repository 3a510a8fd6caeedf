//! Expressions as C++ writes them: paths, indexes, pointers that are followed on request, casts.

mod lexer;
mod parser;

use std::fmt;
use std::ops::Range;

use crate::error::Error;

/// A parsed expression: the same one can be asked of any file, as often as needed.
///
/// What it may hold: names with scopes and template arguments (`ns::x`, `Channel<8>::SLOTS`), `a.b`,
/// `p->m`, `a[1]`, `p[1]`, `*p`, `&x`, numbers, casts (`(launch_msg_t *)0x1234`, `(uint32_t)p`),
/// `sizeof(x)`, and a type at an address (`go_msg_t@0x370`, `uint32_t[4]@(&x)`).
#[derive(Clone, Debug)]
pub struct Expression {
    text: String,
    pub(crate) root: Node,
    pub(crate) pc: Option<u64>,
}

/// A part of an expression with the place where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) what: What,
}

/// What a part of an expression does.
#[derive(Clone, Debug)]
pub(crate) enum What {
    Name(String),
    Number(Literal),
    Member(Box<Node>, String),
    Through(Box<Node>, String),
    Index(Box<Node>, Box<Node>),
    Follow(Box<Node>),
    AddressOf(Box<Node>),
    Cast(String, Box<Node>),
    At(String, Box<Node>),
    /// The text inside, which may be a type's, and the expression if it is one.
    SizeOf(String, Option<Box<Node>>),
}

/// A number as it was written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Literal {
    pub(crate) value: i128,
    /// Not hexadecimal, octal or binary: those may become unsigned of themselves.
    pub(crate) decimal: bool,
    /// `u` stands behind it.
    pub(crate) unsigned: bool,
    /// How many `l` stand behind it.
    pub(crate) longs: usize,
}

impl Expression {
    /// Takes an expression apart; the error says at which byte it stops making sense.
    pub fn parse(text: &str) -> Result<Expression, Error> {
        let root = parser::parse(text)?;
        Ok(Expression { text: text.to_owned(), root, pc: None })
    }

    /// The same, asked while the program counter is there: the variables of the functions around it
    /// are found first, and what moves is where it is then.
    #[must_use]
    pub fn at(mut self, pc: u64) -> Expression {
        self.pc = Some(pc);
        self
    }

    /// The text it was made of.
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
