//! Parses text into the parts of an expression, down to a limited depth.

use super::{Node, NodeKind, lexer};
use crate::error::Error;

/// The deepest, the most parts and the longest text accepted.
const MAX_DEPTH: usize = 64;
const MAX_PARTS: usize = 256;
const MAX_TEXT: usize = 4096;

/// Parses a whole expression.
pub(super) fn parse(text: &str) -> Result<Node, Error> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    if text.len() > MAX_TEXT {
        return Err(parser.wants("a shorter expression"));
    }
    let node = parser.unary()?;
    parser.skip_spaces();
    match parser.rest() {
        "" => Ok(node),
        _ => Err(parser.wants("`.`, `->` or `[`")),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, mark: &str) -> bool {
        self.skip_spaces();
        let found = self.rest().starts_with(mark);
        self.at += if found { mark.len() } else { 0 };
        found
    }

    fn must(&mut self, mark: &'static str, wanted: &'static str) -> Result<(), Error> {
        if self.take(mark) { Ok(()) } else { Err(self.wants(wanted)) }
    }

    fn wants(&self, wanted: &'static str) -> Error {
        Error::BadExpression { text: self.text.to_owned(), at: self.at, wanted }
    }

    fn node(&self, start: usize, kind: NodeKind) -> Node {
        Node { span: start..self.at, kind }
    }

    fn unary(&mut self) -> Result<Node, Error> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.wants("an expression that is nested less"));
        }
        let node = self.unary_inside();
        self.depth -= 1;
        node
    }

    fn unary_inside(&mut self) -> Result<Node, Error> {
        self.skip_spaces();
        let start = self.at;
        if let Some(length) = lexer::type_before_at(self.rest()) {
            return self.typed(start, length);
        }
        if self.take("*") {
            let operand = Box::new(self.unary()?);
            return Ok(self.node(start, NodeKind::Follow(operand)));
        }
        if self.take("&") {
            let operand = Box::new(self.unary()?);
            return Ok(self.node(start, NodeKind::AddressOf(operand)));
        }
        if let Some(ty) = self.cast() {
            let operand = Box::new(self.unary()?);
            return Ok(self.node(start, NodeKind::Cast(ty, operand)));
        }
        let primary = self.primary()?;
        self.steps(primary)
    }

    /// Parses `type@address`, which binds like a name: `go_msg_t@0x370.signal` is a member.
    fn typed(&mut self, start: usize, length: usize) -> Result<Node, Error> {
        let ty = self.rest().get(..length).unwrap_or_default().trim().to_owned();
        let stars = ty.len() - ty.trim_start_matches(['*', ' ']).len();
        if stars > 0 {
            self.at += 1;
            let operand = Box::new(self.unary()?);
            return Ok(self.node(start, NodeKind::Follow(operand)));
        }
        if ty.is_empty() {
            return Err(self.wants("a type before `@`"));
        }
        self.at += length + 1;
        self.skip_spaces();
        // `T@&x.y` is at the address of `x.y`, but `T@4.y` is a member of the value at 4.
        let pointed = self.rest().starts_with(['&', '*']);
        let address = Box::new(if pointed { self.unary()? } else { self.primary()? });
        let node = self.node(start, NodeKind::At(ty, address));
        self.steps(node)
    }

    /// Parses the type in parentheses if an operand follows.
    fn cast(&mut self) -> Option<String> {
        let length = lexer::bracketed(self.rest()).filter(|_| self.rest().starts_with('('))?;
        let (inside, after) = (self.rest().get(1..length - 1)?, self.rest().get(length..)?);
        let operand = |c: char| c.is_alphanumeric() || matches!(c, '_' | '(' | '*' | '&' | ':');
        let negative = |text: &str| {
            text.strip_prefix('-')
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let after = after.trim_start();
        let nameless = self.rest().starts_with("(anonymous namespace)");
        if nameless || !(after.starts_with(operand) || negative(after)) {
            return None;
        }
        self.at += length;
        Some(inside.trim().to_owned())
    }

    fn primary(&mut self) -> Result<Node, Error> {
        self.skip_spaces();
        let start = self.at;
        let negative = self.rest().starts_with('-');
        let digits = self.rest().strip_prefix('-').unwrap_or(self.rest());
        if digits.starts_with(|c: char| c.is_ascii_digit()) {
            let Some((mut literal, length)) = lexer::number(digits) else {
                return Err(self.wants("a number of 64 bits"));
            };
            self.at += length + usize::from(negative);
            literal.value = if negative { -literal.value } else { literal.value };
            return Ok(self.node(start, NodeKind::Number(literal)));
        }
        let length = lexer::name(self.rest());
        if length > 0 {
            return self.named(start, length);
        }
        if !self.take("(") {
            return Err(self.wants("a name, a number or `(`"));
        }
        let inside = self.unary()?;
        self.must(")", "`)`")?;
        Ok(self.node(start, inside.kind))
    }

    fn named(&mut self, start: usize, length: usize) -> Result<Node, Error> {
        let name = self.rest().get(..length).unwrap_or_default().to_owned();
        self.at += length;
        self.skip_spaces();
        if name == "sizeof" && self.rest().starts_with('(') {
            return self.size_of(start);
        }
        Ok(self.node(start, NodeKind::Name(name)))
    }

    /// Parses the parentheses of `sizeof`, which may contain a type that is not an expression, such
    /// as `void *`.
    fn size_of(&mut self, start: usize) -> Result<Node, Error> {
        let (open, depth) = (self.at, self.depth);
        let length = lexer::bracketed(self.rest());
        self.at += 1;
        let operand =
            self.unary().and_then(|operand| self.must(")", "`)`").map(|()| Box::new(operand)));
        let Some(length) = length else { return operand.and(Err(self.wants("`)`"))) };
        (self.at, self.depth) = (open + length, depth);
        let inside = self.text.get(open + 1..self.at - 1).unwrap_or_default().trim();
        if inside.is_empty() {
            return operand.and(Err(self.wants("a type or an expression")));
        }
        Ok(self.node(start, NodeKind::SizeOf(inside.to_owned(), operand.ok())))
    }

    fn steps(&mut self, mut node: Node) -> Result<Node, Error> {
        let start = node.span.start;
        for _ in 0..MAX_PARTS {
            let operand = Box::new(node);
            let kind = if self.take("->") {
                NodeKind::Through(operand, self.member()?)
            } else if self.take(".") {
                NodeKind::Member(operand, self.member()?)
            } else if self.take("[") {
                let index = Box::new(self.unary()?);
                self.must("]", "`]`")?;
                NodeKind::Index(operand, index)
            } else {
                return Ok(*operand);
            };
            node = self.node(start, kind);
        }
        Err(self.wants("an expression of fewer parts"))
    }

    fn member(&mut self) -> Result<String, Error> {
        self.skip_spaces();
        let length = lexer::identifier(self.rest());
        let name = self.rest().get(..length).unwrap_or_default().to_owned();
        if length == 0 {
            return Err(self.wants("the name of a member"));
        }
        self.at += length;
        Ok(name)
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::expression::{Node, NodeKind};

    /// The parts with each operation in brackets.
    fn shape(node: &Node) -> String {
        match &node.kind {
            NodeKind::Name(name) => name.clone(),
            NodeKind::Number(number) => number.value.to_string(),
            NodeKind::Member(operand, name) => format!("[{} . {name}]", shape(operand)),
            NodeKind::Through(operand, name) => format!("[{} -> {name}]", shape(operand)),
            NodeKind::Index(operand, index) => format!("[{} at {}]", shape(operand), shape(index)),
            NodeKind::Follow(operand) => format!("[* {}]", shape(operand)),
            NodeKind::AddressOf(operand) => format!("[& {}]", shape(operand)),
            NodeKind::Cast(ty, operand) => format!("[{} as {ty}]", shape(operand)),
            NodeKind::At(ty, address) => format!("[{ty} @ {}]", shape(address)),
            NodeKind::SizeOf(_, Some(operand)) => format!("[sizeof {}]", shape(operand)),
            NodeKind::SizeOf(ty, None) => format!("[sizeof type {ty}]"),
        }
    }

    #[test]
    fn expressions_come_apart_as_in_cpp() {
        let checks = [
            ("m", "m"),
            ("ns::a<1>::x . y", "[ns::a<1>::x . y]"),
            ("mailboxes->launch[m->rd].e", "[[[mailboxes -> launch] at [m -> rd]] . e]"),
            ("*p.next", "[* [p . next]]"),
            ("(*p).x", "[[* p] . x]"),
            ("&*p[2]", "[& [* [p at 2]]]"),
            ("(launch_t *)0x10", "[16 as launch_t *]"),
            ("((launch_t *)0x10)->e", "[[16 as launch_t *] -> e]"),
            ("*(uint32_t *)p", "[* [p as uint32_t *]]"),
            ("(uint8_t)-1", "[-1 as uint8_t]"),
            ("go_t@0x370.signal", "[[go_t @ 880] . signal]"),
            ("uint32_t [4]@(&x)[1]", "[[uint32_t [4] @ [& x]] at 1]"),
            ("unsigned int@16", "[unsigned int @ 16]"),
            ("&go_t@0x370", "[& [go_t @ 880]]"),
            ("go_t@&x.y", "[go_t @ [& [x . y]]]"),
            ("*ptr_t@0x370", "[* [ptr_t @ 880]]"),
            ("a[b_t@4]", "[a at [b_t @ 4]]"),
            ("(anonymous namespace)::secret.word", "[(anonymous namespace)::secret . word]"),
            ("sizeof(m.x)", "[sizeof [m . x]]"),
            ("sizeof( void * )", "[sizeof type void *]"),
            ("sizeof(unsigned long)", "[sizeof type unsigned long]"),
        ];
        for (text, want) in checks {
            assert_eq!(parse(text).map(|node| shape(&node)).as_deref(), Ok(want), "{text}");
        }
    }

    #[test]
    fn bad_expressions_say_where() {
        let checks = [
            ("", "cannot read `` as an expression: a name, a number or `(` is missing at the end"),
            ("m.", "cannot read `m.` as an expression: the name of a member is missing at the end"),
            ("m[1", "cannot read `m[1` as an expression: `]` is missing at the end"),
            ("m..x", "cannot read `m..x` as an expression: the name of a member expected at `.x`"),
            ("a b", "cannot read `a b` as an expression: `.`, `->` or `[` expected at `b`"),
            ("(a", "cannot read `(a` as an expression: `)` is missing at the end"),
            ("@4", "cannot read `@4` as an expression: a type before `@` expected at `@4`"),
            (
                "a[99999999999999999999]",
                "cannot read `a[99999999999999999999]` as an expression: a number of 64 bits expected \
                 at `99999999999999999999]`",
            ),
        ];
        for (text, want) in checks {
            assert_eq!(parse(text).map_or_else(|error| error.to_string(), |_| String::new()), want);
        }
        assert!(parse(&"(".repeat(5000)).is_err());
        assert!(parse(&"*".repeat(3000)).is_err());
    }
}
