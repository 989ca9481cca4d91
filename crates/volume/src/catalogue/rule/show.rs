//! Prints a rule with its values: `min(30 × 2,048 GB, 60,000)`.

use units::grouped;

use super::{Expr, Function, Names, Operator, RuleValue, eval};

/// Formats an expression with the values of its variables; of an `if`, the branch that applies.
pub(in super::super) fn show(expr: &Expr, names: &Names) -> String {
    shown(expr, names, 0)
}

fn shown(expr: &Expr, names: &Names, floor: u8) -> String {
    match expr {
        Expr::Number(value) => number(*value),
        Expr::Word(word) => word.clone(),
        Expr::Name(name, _) => variable(name, names),
        Expr::Negative(inner) => format!("-{}", shown(inner, names, u8::MAX)),
        // Omits factors of 1, such as a single disk.
        Expr::Binary(Operator::Multiply, sides) if matches!(bare(&sides[0], names), Some(1.0)) => {
            shown(&sides[1], names, floor)
        }
        Expr::Binary(operator, sides) => {
            let strength = operator.strength();
            // The right side of a difference or quotient keeps its parentheses.
            let text = format!(
                "{} {} {}",
                shown(&sides[0], names, strength),
                symbol(*operator),
                shown(&sides[1], names, strength + 1)
            );
            if strength < floor { format!("({text})") } else { text }
        }
        Expr::Call(Function::If, arguments) => match eval(&arguments[0], names) {
            Ok(Some(RuleValue::Number(0.0))) => shown(&arguments[2], names, floor),
            Ok(Some(_)) => shown(&arguments[1], names, floor),
            _ => "?".to_owned(),
        },
        Expr::Call(Function::Either, arguments) => {
            let known = arguments.iter().find(|argument| matches!(eval(argument, names), Ok(Some(_))));
            known.map_or_else(|| "?".to_owned(), |argument| shown(argument, names, floor))
        }
        Expr::Call(function, arguments) => {
            let parts: Vec<String> = arguments.iter().map(|argument| shown(argument, names, 0)).collect();
            format!("{}({})", function.name(), parts.join(", "))
        }
    }
}

/// Returns the value of a constant, also one selected by `if`.
fn bare(expr: &Expr, names: &Names) -> Option<f64> {
    let text = matches!(expr, Expr::Number(_) | Expr::Call(Function::If, _)).then(|| shown(expr, names, 0))?;
    text.parse().ok()
}

fn symbol(operator: Operator) -> &'static str {
    match operator {
        Operator::Multiply => "×",
        Operator::Subtract => "−",
        other => Operator::ALL.iter().find(|(_, known)| *known == other).map_or("", |(symbol, _)| symbol),
    }
}

fn variable(name: &str, names: &Names) -> String {
    let Some(variable) = names.get(name) else { return name.to_owned() };
    match &variable.value {
        None => format!("{name}?"),
        Some(RuleValue::Word(word)) => word.clone(),
        Some(RuleValue::Number(value)) if variable.unit.is_empty() => number(*value),
        Some(RuleValue::Number(value)) => format!("{} {}", number(*value), counted(*value, &variable.unit)),
    }
}

/// Returns a unit after its number: `1 disk`, `2 disks`; abbreviations stay.
fn counted(value: f64, unit: &str) -> &str {
    let word = unit.strip_suffix('s').filter(|word| word.len() > 2 && !word.contains('/') && !word.ends_with("bp"));
    word.filter(|_| value == 1.0).unwrap_or(unit)
}

/// Formats a number with thousands separators and at most four decimals, without trailing zeros.
pub(in super::super) fn number(value: f64) -> String {
    if !(value.is_finite() && value.abs() < 1e15) {
        return format!("{value}");
    }
    let sign = if value < 0.0 { "-" } else { "" };
    // Most numbers are whole, and this is many times faster.
    if value.fract() == 0.0 {
        return format!("{sign}{}", grouped(value.abs() as u64));
    }
    let digits = format!("{:.4}", value.abs());
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let whole = grouped(whole.parse().unwrap_or(0));
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}
