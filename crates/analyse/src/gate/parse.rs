//! Parses assertions.

use record::Figure;
use units::closest;

use super::{Assertion, AssertionError, AssertionSubject, Bound, GateCount, Relation};
use crate::Code;

/// Reads an expectation.
pub(super) fn parse(text: &str) -> Result<Assertion, AssertionError> {
    let mut parser = AssertionParser { text, at: 0 };
    let job = parser.job()?;
    let subject = parser.subject()?;
    let relation = parser.relation()?;
    let bound = parser.bound(subject)?;
    parser.end()?;
    Ok(Assertion { job, subject, relation, bound })
}

struct AssertionParser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> AssertionParser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn takes(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    /// Goes on as long as characters are wanted.
    fn while_is(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// A fault from some place to here, or at the next character.
    fn fault(&self, from: usize, what: impl Into<String>, remedy: impl Into<String>) -> AssertionError {
        let next = self.rest().chars().next().map_or(0, char::len_utf8);
        let to = if from == self.at { from + next } else { self.at };
        AssertionError { at: from..to, what: what.into(), remedy: remedy.into() }
    }

    /// `job(NAME).`, if it stands there.
    fn job(&mut self) -> Result<Option<String>, AssertionError> {
        const REMEDY: &str = "write `job(NAME).read.iops`, with the name in double quotes where it has a `)`";
        self.blanks();
        let start = self.at;
        if !self.takes("job(") {
            return Ok(None);
        }
        self.blanks();
        let name = if self.takes("\"") {
            let name = self.while_is(|c| c != '"');
            if !self.takes("\"") {
                return Err(self.fault(start, "the quotes around the job's name are never closed", REMEDY));
            }
            self.blanks();
            name
        } else {
            self.while_is(|c| c != ')').trim_end()
        };
        if !self.takes(")") || !self.takes(".") {
            return Err(self.fault(self.at, "the job's name should end with `).`", REMEDY));
        }
        if name.is_empty() {
            return Err(self.fault(start, "the job has no name", REMEDY));
        }
        Ok(Some(name.to_owned()))
    }

    fn subject(&mut self) -> Result<AssertionSubject, AssertionError> {
        let start = self.at;
        let name = self.while_is(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-'));
        if name.is_empty() {
            let remedy = "write a figure such as `read.iops`, or `findings.warnings`";
            return Err(self.fault(start, "there should be the name of a figure", remedy));
        }
        let found = match name.strip_prefix("findings.") {
            Some(counted) => findings(counted).map(AssertionSubject::Findings),
            None => Figure::named(name).map(AssertionSubject::Figure),
        };
        found.ok_or_else(|| self.fault(start, format!("there is no figure `{name}`"), other_name(name)))
    }

    fn relation(&mut self) -> Result<Relation, AssertionError> {
        self.blanks();
        let found = Relation::ALL.iter().find(|(sign, _)| self.takes(sign));
        found.map(|(_, relation)| *relation).ok_or_else(|| {
            let remedy = "write `>=`, `<=`, `>`, `<`, `==` or `!=`";
            self.fault(self.at, "a comparison should follow the name", remedy)
        })
    }

    fn bound(&mut self, subject: AssertionSubject) -> Result<Bound, AssertionError> {
        self.blanks();
        let start = self.at;
        let bound = if self.takes("baseline") { self.times_number()? } else { self.value(subject)? };
        if matches!((subject, bound), (AssertionSubject::Findings(_), Bound::OfBaseline(_))) {
            let remedy = "write a number: `findings.warnings==0`";
            return Err(self.fault(start, "findings are not compared with a baseline", remedy));
        }
        Ok(bound)
    }

    /// What may follow `baseline`.
    fn times_number(&mut self) -> Result<Bound, AssertionError> {
        self.blanks();
        if !self.takes("*") {
            return Ok(Bound::OfBaseline(1.0));
        }
        self.blanks();
        let start = self.at;
        let number = self.number()?;
        let unit = self.unit();
        self.factor(start, number, unit).map(Bound::OfBaseline)
    }

    /// A number with its unit, or a share of the baseline.
    fn value(&mut self, subject: AssertionSubject) -> Result<Bound, AssertionError> {
        let start = self.at;
        let number = self.number()?;
        let unit = self.unit();
        let after = self.at;
        self.blanks();
        if self.takes("*") {
            let factor = self.factor(start, number, unit)?;
            self.blanks();
            return if self.takes("baseline") {
                Ok(Bound::OfBaseline(factor))
            } else {
                Err(self.fault(self.at, "only `baseline` can be multiplied", "write `0.98*baseline`"))
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
        value.map(Bound::Value).ok_or_else(|| self.fault(start, wrong_unit(subject, unit), unit_remedy(&known)))
    }

    /// A share of the baseline has no unit but per cent.
    fn factor(&self, start: usize, number: f64, unit: &str) -> Result<f64, AssertionError> {
        match unit {
            "" => Ok(number),
            "%" => Ok(number / 100.0),
            _ => Err(self.fault(
                start,
                format!("a fraction of the baseline has no unit `{unit}`"),
                "write `0.98*baseline`",
            )),
        }
    }

    fn number(&mut self) -> Result<f64, AssertionError> {
        let start = self.at;
        self.while_is(|c| c.is_ascii_digit() || matches!(c, '.' | '_'));
        self.exponent();
        let text = self.text[start..self.at].replace('_', "");
        let value = text.parse().ok().filter(|value: &f64| value.is_finite());
        value.ok_or_else(|| {
            let what =
                if text.is_empty() { "there should be a number".into() } else { format!("`{text}` is no number") };
            self.fault(start, what, "write `150k`, `0.98*baseline`, `2ms`, `400MiB/s` or `1e6`")
        })
    }

    /// `e6`, `e+6`, `e-6`; an `e` without digits is none.
    fn exponent(&mut self) {
        let before = self.at;
        if self.takes("e") || self.takes("E") {
            let _sign = self.takes("+") || self.takes("-");
            if self.while_is(|c| c.is_ascii_digit()).is_empty() {
                self.at = before;
            }
        }
    }

    /// What is per second anyway may say so.
    fn unit(&mut self) -> &'a str {
        let unit = self.while_is(|c| c.is_alphabetic() || matches!(c, '%' | '/'));
        unit.strip_suffix("/s").unwrap_or(unit)
    }

    fn end(&mut self) -> Result<(), AssertionError> {
        self.blanks();
        let start = self.at;
        if self.rest().is_empty() {
            return Ok(());
        }
        self.at = self.text.len();
        Err(self.fault(start, "something follows where the expectation should end", "write each expectation by itself"))
    }
}

fn findings(name: &str) -> Option<GateCount> {
    match name {
        "warnings" => Some(GateCount::Warnings),
        "distrusts" => Some(GateCount::Distrusts),
        _ => Code::ALL.into_iter().find(|code| code.name() == name).map(GateCount::Code),
    }
}

/// The name that was probably meant.
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
        "" => format!("`{subject}` needs a unit, and no number beyond measure"),
        _ => format!("`{subject}` is not told in `{unit}`, or not in so many"),
    }
}

fn unit_remedy(known: &[(&str, f64)]) -> String {
    let names: Vec<String> =
        known.iter().map(|(name, _)| if name.is_empty() { "none".to_owned() } else { format!("`{name}`") }).collect();
    format!("take one of the units {}", names.join(", "))
}
