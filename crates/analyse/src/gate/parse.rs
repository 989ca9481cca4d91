//! Parser of assertions.

use record::Figure;
use units::{Place, Problem, ProblemCode, closest};

use super::{Assertion, AssertionSubject, Bound, GateCount, Relation};
use crate::Code;

impl Assertion {
    /// Parses an assertion.
    ///
    /// # Errors
    ///
    /// Returns the first syntax error, whose place is a range of `text`.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let mut parser = AssertionParser { text, at: 0 };
        let job = parser.job()?;
        let subject = parser.subject()?;
        let relation = parser.relation()?;
        let bound = parser.bound(subject)?;
        parser.end()?;
        Ok(Self { job, subject, relation, bound })
    }
}

struct AssertionParser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> AssertionParser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_whitespace(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    /// Consumes the characters that satisfy a predicate.
    fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// Returns an error from `from` up to the current position, or at the next character.
    fn error(&self, from: usize, what: impl Into<String>, remedy: impl Into<String>) -> Problem {
        let next = self.rest().chars().next().map_or(0, char::len_utf8);
        let to = if from == self.at { from + next } else { self.at };
        Problem::error(ProblemCode::Expectation, what).at(Place::of_text("--assert", self.text, from..to)).help(remedy)
    }

    /// Parses `job(NAME).`, if present.
    fn job(&mut self) -> Result<Option<String>, Problem> {
        const REMEDY: &str = "write `job(NAME).read.iops`, with the name in double quotes where it has a `)`";
        self.skip_whitespace();
        let start = self.at;
        if !self.eat("job(") {
            return Ok(None);
        }
        self.skip_whitespace();
        let name = if self.eat("\"") {
            let name = self.take_while(|c| c != '"');
            if !self.eat("\"") {
                return Err(self.error(start, "the quotes around the job name are not closed", REMEDY));
            }
            self.skip_whitespace();
            name
        } else {
            self.take_while(|c| c != ')').trim_end()
        };
        if !self.eat(")") || !self.eat(".") {
            return Err(self.error(self.at, "the job name must end with `).`", REMEDY));
        }
        if name.is_empty() {
            return Err(self.error(start, "the job has no name", REMEDY));
        }
        Ok(Some(name.to_owned()))
    }

    fn subject(&mut self) -> Result<AssertionSubject, Problem> {
        let start = self.at;
        let name = self.take_while(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-'));
        if name.is_empty() {
            let remedy = "write a figure such as `read.iops`, or `findings.warnings`";
            return Err(self.error(start, "expected a figure name", remedy));
        }
        let found = match name.strip_prefix("findings.") {
            Some(counted) => findings(counted).map(AssertionSubject::Findings),
            None => Figure::named(name).map(AssertionSubject::Figure),
        };
        found.ok_or_else(|| self.error(start, format!("unknown figure `{name}`"), other_name(name)))
    }

    fn relation(&mut self) -> Result<Relation, Problem> {
        self.skip_whitespace();
        let found = Relation::ALL.iter().find(|(sign, _)| self.eat(sign));
        found.map(|(_, relation)| *relation).ok_or_else(|| {
            let remedy = "write `>=`, `<=`, `>`, `<`, `==` or `!=`";
            self.error(self.at, "expected a comparison operator after the name", remedy)
        })
    }

    fn bound(&mut self, subject: AssertionSubject) -> Result<Bound, Problem> {
        self.skip_whitespace();
        let start = self.at;
        let bound = if self.eat("baseline") { self.optional_factor()? } else { self.value(subject)? };
        if matches!((subject, bound), (AssertionSubject::Findings(_), Bound::OfBaseline(_))) {
            let remedy = "write a number: `findings.warnings==0`";
            return Err(self.error(start, "findings are not compared with a baseline", remedy));
        }
        Ok(bound)
    }

    /// Parses an optional factor after `baseline`.
    fn optional_factor(&mut self) -> Result<Bound, Problem> {
        self.skip_whitespace();
        if !self.eat("*") {
            return Ok(Bound::OfBaseline(1.0));
        }
        self.skip_whitespace();
        let start = self.at;
        let number = self.number()?;
        let unit = self.unit();
        self.factor(start, number, unit).map(Bound::OfBaseline)
    }

    /// Parses a number with its unit, or a fraction of the baseline.
    fn value(&mut self, subject: AssertionSubject) -> Result<Bound, Problem> {
        let start = self.at;
        let number = self.number()?;
        let unit = self.unit();
        let after = self.at;
        self.skip_whitespace();
        if self.eat("*") {
            let factor = self.factor(start, number, unit)?;
            self.skip_whitespace();
            return if self.eat("baseline") {
                Ok(Bound::OfBaseline(factor))
            } else {
                Err(self.error(self.at, "only `baseline` can be multiplied", "write `0.98*baseline`"))
            };
        }
        self.at = after;
        if unit == "%" && matches!(subject, AssertionSubject::Figure(_)) {
            return Ok(Bound::OfBaseline(number / 100.0));
        }
        let known = match subject {
            AssertionSubject::Figure(figure) => figure.quantity.units(),
            AssertionSubject::Findings(_) => vec![("", 1.0)],
        };
        let factor = known.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
        let value = factor.map(|factor| number * factor).filter(|value| value.is_finite());
        value.map(Bound::Value).ok_or_else(|| self.error(start, wrong_unit(subject, unit), unit_remedy(&known)))
    }

    /// Applies the unit of a fraction of the baseline, which is `%` or none.
    fn factor(&self, start: usize, number: f64, unit: &str) -> Result<f64, Problem> {
        match unit {
            "" => Ok(number),
            "%" => Ok(number / 100.0),
            _ => {
                let what = format!("a fraction of the baseline has no unit `{unit}`");
                Err(self.error(start, what, "write `0.98*baseline`"))
            }
        }
    }

    fn number(&mut self) -> Result<f64, Problem> {
        let start = self.at;
        self.take_while(|c| c.is_ascii_digit() || matches!(c, '.' | '_'));
        self.exponent();
        let text = self.text[start..self.at].replace('_', "");
        let value = text.parse().ok().filter(|value: &f64| value.is_finite());
        value.ok_or_else(|| {
            let what = if text.is_empty() { "expected a number".into() } else { format!("`{text}` is not a number") };
            self.error(start, what, "write `150k`, `0.98*baseline`, `2ms`, `400MiB/s` or `1e6`")
        })
    }

    /// Consumes `e6`, `e+6` or `e-6`; an `e` without digits is not an exponent.
    fn exponent(&mut self) {
        let before = self.at;
        if self.eat("e") || self.eat("E") {
            let _sign = self.eat("+") || self.eat("-");
            if self.take_while(|c| c.is_ascii_digit()).is_empty() {
                self.at = before;
            }
        }
    }

    /// Parses a unit without an optional `/s`.
    fn unit(&mut self) -> &'a str {
        let unit = self.take_while(|c| c.is_alphabetic() || matches!(c, '%' | '/'));
        unit.strip_suffix("/s").unwrap_or(unit)
    }

    fn end(&mut self) -> Result<(), Problem> {
        self.skip_whitespace();
        let start = self.at;
        if self.rest().is_empty() {
            return Ok(());
        }
        self.at = self.text.len();
        Err(self.error(start, "unexpected text after the expectation", "write one expectation per argument or line"))
    }
}

fn findings(name: &str) -> Option<GateCount> {
    match name {
        "warnings" => Some(GateCount::Warnings),
        "distrusts" => Some(GateCount::Distrusts),
        _ => Code::ALL.into_iter().find(|code| code.name() == name).map(GateCount::Code),
    }
}

/// Suggests a name that the user may have meant.
fn other_name(name: &str) -> String {
    let mut names = Figure::names();
    names.extend(["findings.warnings".to_owned(), "findings.distrusts".to_owned()]);
    names.extend(Code::ALL.map(|code| format!("findings.{}", code.name())));
    closest(name, names.iter().map(String::as_str)).map_or_else(
        || "write `read`, `write`, `trim` or `all`, a point, and `iops`, `bw`, `lat.mean` or `lat.p99`".to_owned(),
        |near| format!("did you mean `{near}`?"),
    )
}

fn wrong_unit(subject: AssertionSubject, unit: &str) -> String {
    match unit {
        "" => format!("`{subject}` needs a unit, or the number is too large"),
        _ => format!("`{subject}` has no unit `{unit}`, or the number is too large"),
    }
}

fn unit_remedy(known: &[(&str, f64)]) -> String {
    let names: Vec<String> =
        known.iter().map(|(name, _)| if name.is_empty() { "none".to_owned() } else { format!("`{name}`") }).collect();
    format!("use one of the units {}", names.join(", "))
}
