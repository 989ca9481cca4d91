//! Values of expressions.

use super::{Expr, Function, Operator, RuleError};

/// A number or a word; conditions are 1 and 0.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) enum RuleValue {
    Number(f64),
    Word(String),
}

impl RuleValue {
    pub(in super::super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Word(_) => None,
        }
    }
}

/// A variable: its value, if known, and its unit for display (`GiB`).
#[derive(Clone, Debug, Default, PartialEq)]
pub(in super::super) struct Variable {
    pub value: Option<RuleValue>,
    pub unit: String,
}

pub(in super::super) type Names = std::collections::BTreeMap<String, Variable>;

/// Evaluates an expression; `None` if a value it needs is absent.
pub(in super::super) fn eval(expr: &Expr, names: &Names) -> Result<Option<RuleValue>, RuleError> {
    match expr {
        Expr::Number(number) => Ok(Some(RuleValue::Number(*number))),
        Expr::Word(word) => Ok(Some(RuleValue::Word(word.clone()))),
        Expr::Name(name, at) => match names.get(name) {
            Some(variable) => Ok(variable.value.clone()),
            None => Err(RuleError::new(format!("unknown variable `{name}`"), at.clone())),
        },
        Expr::Negative(inner) => Ok(numeric(inner, names)?.map(|number| RuleValue::Number(-number))),
        Expr::Binary(operator, sides) => binary(*operator, &sides[0], &sides[1], names),
        Expr::Call(Function::If, arguments) => match numeric(&arguments[0], names)? {
            Some(condition) => eval(&arguments[if condition == 0.0 { 2 } else { 1 }], names),
            None => Ok(None),
        },
        Expr::Call(Function::Either, arguments) => {
            for argument in arguments {
                if let Some(value) = eval(argument, names)? {
                    return Ok(Some(value));
                }
            }
            Ok(None)
        }
        Expr::Call(function, arguments) => {
            let values: Result<Option<Vec<f64>>, RuleError> =
                arguments.iter().map(|argument| numeric(argument, names)).collect();
            Ok(values?.map(|values| RuleValue::Number(call(*function, &values))))
        }
    }
}

fn call(function: Function, values: &[f64]) -> f64 {
    let first = values.first().copied().unwrap_or(f64::NAN);
    match function {
        Function::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
        Function::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Function::Ceil => libm::ceil(first),
        Function::Floor => libm::floor(first),
        Function::Round | Function::If | Function::Either => libm::round(first),
    }
}

fn numeric(expr: &Expr, names: &Names) -> Result<Option<f64>, RuleError> {
    match eval(expr, names)? {
        None => Ok(None),
        Some(RuleValue::Number(number)) => Ok(Some(number)),
        Some(RuleValue::Word(word)) => {
            Err(RuleError::new(format!("`{word}` is a word, but a number is required"), place(expr)))
        }
    }
}

fn binary(operator: Operator, left: &Expr, right: &Expr, names: &Names) -> Result<Option<RuleValue>, RuleError> {
    if matches!(operator, Operator::Equal | Operator::Unequal) {
        let (Some(a), Some(b)) = (eval(left, names)?, eval(right, names)?) else { return Ok(None) };
        return Ok(Some(boolean((a == b) == (operator == Operator::Equal))));
    }
    let (Some(a), Some(b)) = (numeric(left, names)?, numeric(right, names)?) else { return Ok(None) };
    Ok(Some(match operator {
        Operator::Or => boolean(a != 0.0 || b != 0.0),
        Operator::And => boolean(a != 0.0 && b != 0.0),
        Operator::Less => boolean(a < b),
        Operator::AtMost => boolean(a <= b),
        Operator::More => boolean(a > b),
        Operator::AtLeast => boolean(a >= b),
        Operator::Equal | Operator::Unequal => boolean(false),
        Operator::Add => RuleValue::Number(a + b),
        Operator::Subtract => RuleValue::Number(a - b),
        Operator::Multiply => RuleValue::Number(a * b),
        Operator::Divide if b == 0.0 => {
            return Err(RuleError::new("division by zero".to_owned(), place(right)));
        }
        Operator::Divide => RuleValue::Number(a / b),
    }))
}

fn boolean(is: bool) -> RuleValue {
    RuleValue::Number(f64::from(u8::from(is)))
}

/// Returns the place of the first variable: constants alone hardly fail at evaluation.
fn place(expr: &Expr) -> std::ops::Range<usize> {
    let mut names = Vec::new();
    expr.names(&mut names);
    names.into_iter().next().map_or(0..0, |(_, at)| at)
}
