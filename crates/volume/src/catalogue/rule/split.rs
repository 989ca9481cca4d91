//! Splits a sum by the variables of its terms.

use super::{Expr, Function, Names, Operator, RuleValue, eval};

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
