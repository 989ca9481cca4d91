//! Expands `${NAME}`, `$pagesize`, `$mb_memory` and `$ncpus`.

use units::{Problem, ProblemCode};

use crate::limits::EXPANDED_BYTES_MAX;
use crate::source::HostSource;

/// A text after expansion of its variables.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    pub(crate) text: String,
    /// Names of variables that are not set.
    pub(crate) unset: Vec<String>,
    /// Name of the first variable whose value cannot be used, and the reason.
    pub(crate) unusable: Option<(String, &'static str)>,
}

/// Expands the environment variables of a text.
pub(crate) fn environment(text: &str, source: &dyn HostSource) -> Expanded {
    let (mut out, mut rest) = (Expanded::default(), text);
    while let Some((before, name, after)) = braced(rest) {
        out.text.push_str(before);
        match source.variable(name) {
            _ if source.is_not_text(name) => out.refuse(name, "is not UTF-8 text"),
            Some(value) if out.text.len() + value.len() > EXPANDED_BYTES_MAX => {
                out.refuse(name, "makes the option longer than 128 KiB");
            }
            Some(value) => out.text.push_str(&value),
            None => out.unset.push(name.to_owned()),
        }
        rest = after;
    }
    out.text.push_str(rest);
    out
}

impl Expanded {
    fn refuse(&mut self, name: &str, why: &'static str) {
        self.unusable.get_or_insert_with(|| (name.to_owned(), why));
    }
}

/// Splits a text at its first `${NAME}`: the text before it, the name, and the text after it.
fn braced(text: &str) -> Option<(&str, &str, &str)> {
    let (before, tail) = text.split_once("${")?;
    let (name, after) = tail.split_once('}')?;
    Some((before, name, after))
}

/// Replaces the host's keywords in a value. If any was replaced and the result looks like a calculation, evaluates it
/// in integers as `bc` does.
///
/// # Errors
///
/// Returns the problem of a calculation that cannot be evaluated.
pub(crate) fn keywords(value: &str, source: &dyn HostSource) -> Result<String, Problem> {
    type Number = fn(&dyn HostSource) -> u64;
    let words: [(&str, Number); 3] =
        [("$pagesize", |s| s.page_size_bytes()), ("$mb_memory", |s| s.memory_mib()), ("$ncpus", |s| s.cpus())];
    let mut replaced = value.to_owned();
    for (word, number) in words {
        if replaced.contains(word) {
            replaced = replaced.replace(word, &number(source).to_string());
        }
    }
    if replaced == value || !replaced.contains(['+', '-', '*', '/']) {
        return Ok(replaced);
    }
    calculate(&replaced).map(|n| n.to_string()).ok_or_else(|| {
        Problem::error(ProblemCode::Calculation, format!("`{replaced}` cannot be evaluated"))
            .help("use whole numbers, + - * / and brackets, without units")
    })
}

/// Evaluates an expression of integers, `+ - * / %` and brackets; division truncates.
fn calculate(text: &str) -> Option<i128> {
    let tokens: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let mut calculation = Calculation { tokens: &tokens, at: 0, depth: 0 };
    let value = calculation.sum()?;
    (calculation.at == tokens.len()).then_some(value)
}

struct Calculation<'a> {
    tokens: &'a [char],
    at: usize,
    depth: u32,
}

/// Maximum nesting of brackets and signs, so that no input exhausts the stack.
const DEPTH_MAX: u32 = 64;

impl Calculation<'_> {
    fn take(&mut self, accepted: &[char]) -> Option<char> {
        let token = self.tokens.get(self.at).copied().filter(|token| accepted.contains(token))?;
        self.at += 1;
        Some(token)
    }

    fn sum(&mut self) -> Option<i128> {
        let mut value = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            let right = self.product()?;
            value = if operator == '+' { value.checked_add(right)? } else { value.checked_sub(right)? };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<i128> {
        let mut value = self.factor()?;
        while let Some(operator) = self.take(&['*', '/', '%']) {
            let right = self.factor()?;
            value = match operator {
                '*' => value.checked_mul(right)?,
                '/' => value.checked_div(right)?,
                _ => value.checked_rem(right)?,
            };
        }
        Some(value)
    }

    fn factor(&mut self) -> Option<i128> {
        if self.take(&['-']).is_some() {
            return self.bounded(Self::factor)?.checked_neg();
        }
        if self.take(&['(']).is_some() {
            let value = self.bounded(Self::sum)?;
            return self.take(&[')']).map(|_| value);
        }
        let start = self.at;
        while self.tokens.get(self.at).is_some_and(char::is_ascii_digit) {
            self.at += 1;
        }
        self.tokens[start..self.at].iter().collect::<String>().parse().ok()
    }

    fn bounded(&mut self, read: fn(&mut Self) -> Option<i128>) -> Option<i128> {
        self.depth += 1;
        let value = (self.depth < DEPTH_MAX).then(|| read(self)).flatten();
        self.depth -= 1;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::EmptySource;

    #[test]
    fn calculates_as_bc_does() {
        let cases = [
            ("10*10*1000*24105", Some(2_410_500_000)),
            ("7/2", Some(3)),
            ("2+3*4", Some(14)),
            ("(2+3)*4", Some(20)),
            ("2-2", Some(0)),
            ("-3+1", Some(-2)),
            ("1/0", None),
            ("2m*4", None),
            ("(1", None),
            ("", None),
        ];
        for (text, value) in cases {
            assert_eq!(calculate(text), value, "{text}");
        }
        assert_eq!(calculate(&"(".repeat(100_000)), None);
    }

    #[test]
    fn keywords_are_replaced_and_calculated_only_where_replaced() {
        assert_eq!(keywords("10*$pagesize", &EmptySource), Ok("40960".to_owned()));
        assert_eq!(keywords("$ncpusfoo", &EmptySource), Ok("1foo".to_owned()));
        assert_eq!(keywords("10*10", &EmptySource), Ok("10*10".to_owned()));
        assert!(keywords("$mb_memory*2m", &EmptySource).unwrap_err().what.contains("`1024*2m`"));
    }

    #[test]
    fn unset_variables_expand_to_nothing_and_are_reported() {
        let replaced = |text| environment(text, &EmptySource);
        assert_eq!(
            (replaced("size=${SIZE}k").text.as_str(), replaced("${SIZE}").unset),
            ("size=k", vec!["SIZE".into()])
        );
        for text in ["size=${SIZE", "size=$SIZE"] {
            assert_eq!((replaced(text).text.as_str(), replaced(text).unset.len()), (text, 0));
        }
    }

    #[test]
    fn negating_the_minimum_is_an_error() {
        assert_eq!(calculate(&format!("-(0-{}-1)", i128::MAX)), None);
    }
}
