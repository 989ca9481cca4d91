//! The rule language of limits: `min(30 * gib + 6_000, 100_000)`.
//!
//! Rules consist of numbers (with `_` between digits), words in single quotes, variables, `+ - * /`, comparisons,
//! `and`, `or`, `if(condition, then, otherwise)`, `either(a, b)` (the first that is known), `min`, `max`, `ceil`,
//! `floor` and `round`. Arithmetic is in `f64`; the caller rounds. A variable may be absent, such as an unpublished
//! figure or one of a machine that is not named: whatever needs it is absent too, and is never guessed.

use units::{Problem, ProblemCode};

mod parse;
mod show;
#[cfg(test)]
mod tests;
mod value;

pub(super) use parse::parse;
pub(super) use parse::split;
pub(super) use show::{number, show};
pub(super) use value::{Names, RuleValue, Variable, eval};

/// An error of a rule, with its place in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RuleError {
    pub problem: Box<Problem>,
    pub at: std::ops::Range<usize>,
}

impl RuleError {
    fn new(what: impl Into<String>, at: std::ops::Range<usize>) -> Self {
        Self { problem: Box::new(Problem::error(ProblemCode::Volume, what)), at }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    Number(f64),
    Word(String),
    Name(String, std::ops::Range<usize>),
    Negative(Box<Expr>),
    Binary(Operator, Box<[Expr; 2]>),
    Call(Function, Vec<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Unequal,
    Add,
    Subtract,
    Multiply,
    Divide,
}

impl Operator {
    /// All operators with their symbols; longer symbols before their prefixes.
    const ALL: [(&str, Self); 12] = [
        ("or", Self::Or),
        ("and", Self::And),
        ("<=", Self::AtMost),
        (">=", Self::AtLeast),
        ("!=", Self::Unequal),
        ("<", Self::Less),
        (">", Self::More),
        ("=", Self::Equal),
        ("+", Self::Add),
        ("-", Self::Subtract),
        ("*", Self::Multiply),
        ("/", Self::Divide),
    ];

    const fn strength(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Less | Self::AtMost | Self::More | Self::AtLeast | Self::Equal | Self::Unequal => 3,
            Self::Add | Self::Subtract => 4,
            Self::Multiply | Self::Divide => 5,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    If,
    Either,
    Min,
    Max,
    Ceil,
    Floor,
    Round,
}

impl Function {
    const ALL: [(&str, Self); 7] = [
        ("if", Self::If),
        ("either", Self::Either),
        ("min", Self::Min),
        ("max", Self::Max),
        ("ceil", Self::Ceil),
        ("floor", Self::Floor),
        ("round", Self::Round),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }
}

impl Expr {
    /// Returns the expression with numbers in place of the variables that have one.
    pub(super) fn with(&self, value: &dyn Fn(&str) -> Option<f64>) -> Self {
        match self {
            Self::Number(_) | Self::Word(_) => self.clone(),
            Self::Name(name, _) => value(name).map_or_else(|| self.clone(), Self::Number),
            Self::Negative(inner) => Self::Negative(Box::new(inner.with(value))),
            Self::Binary(operator, sides) => {
                Self::Binary(*operator, Box::new([sides[0].with(value), sides[1].with(value)]))
            }
            Self::Call(function, arguments) => {
                Self::Call(*function, arguments.iter().map(|argument| argument.with(value)).collect())
            }
        }
    }

    /// Appends every variable in the expression, with its place.
    pub(super) fn names(&self, found: &mut Vec<(String, std::ops::Range<usize>)>) {
        match self {
            Self::Number(_) | Self::Word(_) => {}
            Self::Name(name, at) => found.push((name.clone(), at.clone())),
            Self::Negative(inner) => inner.names(found),
            Self::Binary(_, sides) => sides.iter().for_each(|side| side.names(found)),
            Self::Call(_, arguments) => arguments.iter().for_each(|argument| argument.names(found)),
        }
    }
}
