//! Parses text into the parts of an expression, down to a limited depth.

use super::{Node, NodeKind, Operator, lexer};
use crate::error::Error;

/// The deepest, the most parts and the longest text accepted.
const MAX_DEPTH: usize = 64;
const MAX_PARTS: usize = 256;
const MAX_OPERATORS: usize = 64;
const MAX_TEXT: usize = 4096;

/// The operators between numbers, by precedence.
const OPERATORS: [&[(&str, Operator)]; 6] = [
    &[("|", Operator::Or)],
    &[("^", Operator::Xor)],
    &[("&", Operator::And)],
    &[("<<", Operator::ShiftLeft), (">>", Operator::ShiftRight)],
    &[("+", Operator::Add), ("-", Operator::Subtract)],
    &[("*", Operator::Multiply), ("/", Operator::Divide), ("%", Operator::Remainder)],
];

/// Parses a whole expression. `is_type` decides where `(name)` can be a cast or an operand, as in
/// `(name) * x`.
pub(super) fn parse(text: &str, is_type: &mut dyn FnMut(&str) -> bool) -> Result<Node, Error> {
    let mut parser = Parser { text, at: 0, depth: 0, operators: 0, is_type };
    if text.len() > MAX_TEXT {
        return Err(parser.wants("a shorter expression"));
    }
    let node = parser.binary(0)?;
    parser.skip_spaces();
    match parser.rest() {
        "" => Ok(node),
        _ => Err(parser.wants("`.`, `->`, `[` or an operator")),
    }
}

struct Parser<'a, 't> {
    text: &'a str,
    at: usize,
    depth: usize,
    operators: usize,
    is_type: &'t mut dyn FnMut(&str) -> bool,
}

impl<'a> Parser<'a, '_> {
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

    /// Parses operands with operators between them that bind at least as tightly as `level`.
    fn binary(&mut self, level: usize) -> Result<Node, Error> {
        let Some(operators) = OPERATORS.get(level) else { return self.unary() };
        let mut node = self.binary(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return Err(self.wants("an expression of fewer operators"));
            }
            let (start, left) = (node.span.start, Box::new(node));
            let right = Box::new(self.binary(level + 1)?);
            node = self.node(start, NodeKind::Binary(operator, left, right));
        }
        Ok(node)
    }

    fn operator(&mut self, operators: &[(&str, Operator)]) -> Option<Operator> {
        self.skip_spaces();
        let rest = self.rest();
        let logical = ["&&", "||"].iter().any(|mark| rest.starts_with(mark));
        let found = operators.iter().find(|(mark, _)| rest.starts_with(mark) && !logical)?;
        self.at += found.0.len();
        Some(found.1)
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
        if self.take("~") {
            let operand = Box::new(self.unary()?);
            return Ok(self.node(start, NodeKind::Complement(operand)));
        }
        let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        if self.rest().strip_prefix('-').is_some_and(|rest| !digit(rest)) {
            self.at += 1;
            let operand = Box::new(self.unary()?);
            return Ok(self.node(start, NodeKind::Negate(operand)));
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
        let (inside, after) = (inside.trim(), after.trim_start());
        let operand = |c: char| c.is_alphanumeric() || matches!(c, '_' | '(' | ':' | '~');
        let either = |c: char| matches!(c, '*' | '&' | '-') && !after.starts_with("->");
        let nameless = self.rest().starts_with("(anonymous namespace)");
        let casts = after.starts_with(operand) || after.starts_with(either) && self.is_cast(inside);
        if nameless || !casts {
            return None;
        }
        self.at += length;
        Some(inside.to_owned())
    }

    /// Whether the text in parentheses is a type: only a file knows that of `(a)` and `(a[1])`.
    fn is_cast(&mut self, inside: &str) -> bool {
        let is_type = lexer::type_before_at(&format!("{inside}@")) == Some(inside.len());
        let rest = inside.get(lexer::name(inside)..).unwrap_or_default();
        let is_operand = rest.is_empty() || rest.starts_with('[');
        is_type && (!is_operand || (self.is_type)(inside))
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
        let inside = self.binary(0)?;
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
            self.binary(0).and_then(|operand| self.must(")", "`)`").map(|()| Box::new(operand)));
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
                let index = Box::new(self.binary(0)?);
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
    use crate::error::Error;
    use crate::expression::{Node, NodeKind};

    /// Parses a text; types end in `_t`.
    fn parse(text: &str) -> Result<Node, Error> {
        super::parse(text, &mut |name| name.ends_with("_t"))
    }

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
            NodeKind::Negate(operand) => format!("[- {}]", shape(operand)),
            NodeKind::Complement(operand) => format!("[~ {}]", shape(operand)),
            NodeKind::Binary(operator, left, right) => {
                format!("[{} {operator:?} {}]", shape(left), shape(right))
            }
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
            ("1+2*3", "[1 Add [2 Multiply 3]]"),
            ("(1+2)*3", "[[1 Add 2] Multiply 3]"),
            ("a - b - c", "[[a Subtract b] Subtract c]"),
            ("a|b^c&d<<1+2", "[a Or [b Xor [c And [d ShiftLeft [1 Add 2]]]]]"),
            ("a<<2>>1", "[[a ShiftLeft 2] ShiftRight 1]"),
            ("p->x-1", "[[p -> x] Subtract 1]"),
            ("a--b", "[a Subtract [- b]]"),
            ("a*-1", "[a Multiply -1]"),
            ("~a%-b", "[[~ a] Remainder [- b]]"),
            ("a[i+1]*2", "[[a at [i Add 1]] Multiply 2]"),
            ("*p * *q", "[[* p] Multiply [* q]]"),
            ("a & &b", "[a And [& b]]"),
            ("(a)*b", "[a Multiply b]"),
            ("(a)-1", "[a Subtract 1]"),
            ("(a)->b-1", "[[a -> b] Subtract 1]"),
            ("(a_t)*b+c", "[[[* b] as a_t] Add c]"),
            ("(a_t *)*b", "[[* b] as a_t *]"),
            ("(a+1)&b", "[[a Add 1] And b]"),
            ("(unsigned int)-b", "[[- b] as unsigned int]"),
            ("(a_t)~0", "[[~ 0] as a_t]"),
            ("*(uint32_t*)(0x18080 + 16*2)", "[* [[98432 Add [16 Multiply 2]] as uint32_t*]]"),
            ("go_t@0x10 + a*b_t@4", "[[go_t @ 16] Add [a Multiply [b_t @ 4]]]"),
            ("go_t@(4+4).x", "[[go_t @ [4 Add 4]] . x]"),
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
            (
                "a b",
                "cannot read `a b` as an expression: `.`, `->`, `[` or an operator expected at `b`",
            ),
            (
                "a && b",
                "cannot read `a && b` as an expression: `.`, `->`, `[` or an operator expected at \
                 `&& b`",
            ),
            (
                "1+",
                "cannot read `1+` as an expression: a name, a number or `(` is missing at the end",
            ),
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
        assert!(parse(&"1+".repeat(1000)).is_err());
        assert!(parse(&"(a)*".repeat(1000)).is_err());
    }
}
