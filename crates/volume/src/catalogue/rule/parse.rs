//! Parses rules.

use units::{Problem, ProblemCode, closest};

use super::{Expr, Function, Names, Operator, RuleError, RuleValue, eval};

/// Maximum nesting: deeper rules are mistakes, and the stack is finite.
const DEPTH_MAX: usize = 64;

/// Maximum length: each operator of a chain nests one deeper.
const LENGTH_MAX: usize = 2000;

pub(in super::super) fn parse(text: &str) -> Result<Expr, RuleError> {
    if text.len() > LENGTH_MAX {
        return Err(RuleError::new(format!("longer than {LENGTH_MAX} bytes"), 0..0));
    }
    let mut parser = RuleParser { text, at: 0, depth: 0 };
    let expr = parser.binary(0)?;
    parser.blanks();
    if parser.at < text.len() {
        return Err(parser.error("unexpected text after the rule: missing operator?"));
    }
    Ok(expr)
}

struct RuleParser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl RuleParser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Creates an error at the next character, or at the end.
    fn error(&self, message: impl Into<String>) -> RuleError {
        let width = self.rest().chars().next().map_or(0, char::len_utf8);
        RuleError::new(message.into(), self.at..self.at + width)
    }

    fn takes(&mut self, symbol: char) -> bool {
        self.blanks();
        let found = self.rest().starts_with(symbol);
        self.at += if found { symbol.len_utf8() } else { 0 };
        found
    }

    /// Parses operators that bind more tightly than `floor`, left to right.
    fn binary(&mut self, floor: u8) -> Result<Expr, RuleError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.error(format!("nested deeper than {DEPTH_MAX} levels")));
        }
        let mut left = self.operand()?;
        while let Some((operator, length)) = self.operator().filter(|(operator, _)| operator.strength() > floor) {
            self.at += length;
            let right = self.binary(operator.strength())?;
            left = Expr::Binary(operator, Box::new([left, right]));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operator(&mut self) -> Option<(Operator, usize)> {
        self.blanks();
        let word = self.word_length();
        Operator::ALL.iter().find_map(|(symbol, operator)| {
            let whole = if word > 0 { self.rest()[..word] == **symbol } else { self.rest().starts_with(symbol) };
            whole.then_some((*operator, symbol.len()))
        })
    }

    /// Returns the length of the name at the current position, in bytes.
    fn word_length(&self) -> usize {
        let rest = self.rest();
        if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return 0;
        }
        rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())
    }

    fn operand(&mut self) -> Result<Expr, RuleError> {
        self.blanks();
        match self.rest().chars().next() {
            Some('-') => {
                self.at += 1;
                Ok(Expr::Negative(Box::new(self.binary(Operator::Multiply.strength())?)))
            }
            Some('(') => {
                self.at += 1;
                let inner = self.binary(0)?;
                self.closed().map(|()| inner)
            }
            Some('\'') => self.quoted(),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() => self.name(),
            Some(_) => Err(self.error("expected a number, a variable, a function, `(` or a word in single quotes")),
            None => Err(self.error("unexpected end of rule: expected a number or a variable")),
        }
    }

    fn closed(&mut self) -> Result<(), RuleError> {
        if self.takes(')') { Ok(()) } else { Err(self.error("expected `)`")) }
    }

    fn quoted(&mut self) -> Result<Expr, RuleError> {
        let length = self.rest()[1..].find('\'').ok_or_else(|| self.error("unclosed quote"))?;
        let word = self.rest()[1..=length].to_owned();
        self.at += length + 2;
        Ok(Expr::Word(word))
    }

    fn number(&mut self) -> Result<Expr, RuleError> {
        let bytes = self.rest().as_bytes();
        let mut length = 0;
        while let Some(byte) = bytes.get(length) {
            let sign = matches!(byte, b'+' | b'-') && matches!(bytes[length - 1], b'e' | b'E');
            if !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || sign) {
                break;
            }
            length += 1;
        }
        let at = self.at..self.at + length;
        let digits = self.text[at.clone()].replace('_', "");
        let value = digits.parse().ok().filter(|value: &f64| value.is_finite());
        self.at = at.end;
        let problem = Problem::error(ProblemCode::Volume, format!("`{}` is not a number", &self.text[at.clone()]))
            .help("use, for example, 12, 0.48, 160_000 or 1e6");
        value.map(Expr::Number).ok_or_else(|| RuleError { problem: Box::new(problem), at })
    }

    fn name(&mut self) -> Result<Expr, RuleError> {
        let at = self.at..self.at + self.word_length();
        let name = self.text[at.clone()].to_owned();
        self.at = at.end;
        if !self.takes('(') {
            return Ok(Expr::Name(name, at));
        }
        let Some((_, function)) = Function::ALL.iter().find(|(known, _)| *known == name) else {
            let known = Function::ALL.iter().map(|(name, _)| *name);
            let near = closest(&name, known).map_or(String::new(), |near| format!(": did you mean `{near}`?"));
            return Err(RuleError::new(format!("unknown function `{name}`{near}"), at));
        };
        let mut arguments = vec![self.binary(0)?];
        while self.takes(',') {
            arguments.push(self.binary(0)?);
        }
        self.closed()?;
        let wanted = match function {
            Function::If => arguments.len() == 3,
            Function::Min | Function::Max | Function::Either => true,
            Function::Ceil | Function::Floor | Function::Round => arguments.len() == 1,
        };
        let count = arguments.len();
        if wanted {
            return Ok(Expr::Call(*function, arguments));
        }
        let required = if *function == Function::If { "a condition and two values" } else { "one value" };
        Err(RuleError::new(format!("`{name}` takes {required}, not {count}"), at))
    }
}

/// Values of the four parts of a sum.
pub(in super::super) type Parts = [f64; 4];

/// Splits the value of a sum: each term goes to the part that `part` names for its variables, or to the last part if it
/// depends on several besides the first. `None` if a value is absent.
pub(in super::super) fn split(expr: &Expr, names: &Names, part: &dyn Fn(&str) -> Option<usize>) -> Option<Parts> {
    let inner = |expr: &Expr| split(expr, names, part);
    let scale = |parts: Parts, factor: f64| parts.map(|value| value * factor);
    match expr {
        Expr::Negative(expr) => Some(scale(inner(expr)?, -1.0)),
        Expr::Binary(operator @ (Operator::Add | Operator::Subtract), sides) => {
            let sign = if *operator == Operator::Add { 1.0 } else { -1.0 };
            let (left, right) = (inner(&sides[0])?, scale(inner(&sides[1])?, sign));
            Some(std::array::from_fn(|index| left[index] + right[index]))
        }
        Expr::Binary(Operator::Multiply, sides) if parts_of(&sides[0], part).is_empty() => {
            Some(scale(inner(&sides[1])?, number(&sides[0], names)?))
        }
        Expr::Binary(Operator::Multiply, sides) if parts_of(&sides[1], part).is_empty() => {
            Some(scale(inner(&sides[0])?, number(&sides[1], names)?))
        }
        Expr::Binary(Operator::Divide, sides) if parts_of(&sides[1], part).is_empty() => {
            Some(scale(inner(&sides[0])?, 1.0 / number(&sides[1], names)?))
        }
        Expr::Call(Function::If, arguments) => {
            inner(&arguments[if number(&arguments[0], names)? == 0.0 { 2 } else { 1 }])
        }
        Expr::Call(Function::Either, arguments) => arguments.iter().find_map(inner),
        term => {
            let mut parts = Parts::default();
            let last = parts.len() - 1;
            let index = match parts_of(term, part)[..] {
                [] => 0,
                [only] | [0, only] => only,
                _ => last,
            };
            parts[index] = number(term, names)?;
            Some(parts)
        }
    }
}

/// Returns the parts of an expression's variables, in order and without duplicates.
fn parts_of(expr: &Expr, part: &dyn Fn(&str) -> Option<usize>) -> Vec<usize> {
    let mut names = Vec::new();
    expr.names(&mut names);
    let mut parts: Vec<usize> = names.iter().filter_map(|(name, _)| part(name)).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

fn number(expr: &Expr, names: &Names) -> Option<f64> {
    eval(expr, names).ok().flatten().as_ref().and_then(RuleValue::number)
}
