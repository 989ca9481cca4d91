//! Settings with many values, and their combinations.

use units::{Problem, ProblemCode};

pub use results::grid::assignments as label;

/// A setting with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridAxis {
    /// Job option, or key of the volume after `on.`.
    pub key: String,
    /// Values as text.
    pub values: Vec<String>,
}

/// Maximum number of points; more are a mistake.
const POINTS_MAX: usize = 100_000;

impl GridAxis {
    /// Parses `KEY=A..B`, `KEY=A..BxF`, `KEY=A..B/STEP` or `KEY=V,V,V`.
    ///
    /// # Errors
    ///
    /// Returns what is wrong, with the syntax.
    pub fn parse(option: &str, text: &str) -> Result<Self, Problem> {
        let usage = |what: &str| {
            Problem::error(ProblemCode::Vary, format!("{option} {text}: {what}"))
                .help("use KEY=A..B (doubling), KEY=A..BxF, KEY=A..B/STEP or KEY=V,V,V")
        };
        let (key, range) = text.split_once('=').ok_or_else(|| usage("missing `=`"))?;
        if key.is_empty() {
            return Err(usage("missing key"));
        }
        let values = match range.split_once("..") {
            None => range.split(',').map(|value| value.trim().to_owned()).collect(),
            Some((from, rest)) => between(from, rest).map_err(|problem| usage(&problem.what))?,
        };
        if values.iter().any(String::is_empty) {
            return Err(usage("empty value"));
        }
        Ok(Self { key: key.to_owned(), values })
    }
}

enum GridStep {
    Times(f64),
    Plus(f64),
}

fn between(from: &str, rest: &str) -> Result<Vec<String>, Problem> {
    let (to, step) = if let Some((to, step)) = rest.split_once('/') {
        (to, GridStep::Plus(GridNumber::parse(step)?.absolute()))
    } else if let Some((to, factor)) = rest.rsplit_once('x') {
        (to, GridStep::Times(GridNumber::parse(factor)?.absolute()))
    } else {
        (rest, GridStep::Times(2.0))
    };
    let (from, to) = (GridNumber::parse(from)?, GridNumber::parse(to)?);
    // `1TiB..4TiB` keeps its unit; different units are converted.
    let same = from.unit == to.unit;
    let (mut value, end) = if same { (from.value, to.value) } else { (from.absolute(), to.absolute()) };
    let unit = if same { from.unit } else { "" };
    let rising = match step {
        GridStep::Times(factor) => factor > 1.0 && value > 0.0,
        GridStep::Plus(step) => step > 0.0,
    };
    if end < value || !rising {
        return Err(Problem::error(ProblemCode::Vary, "the range does not increase"));
    }
    let mut values = Vec::new();
    // The tolerance covers rounding: 0.1 + 0.2 is more than 0.3.
    while value <= end * (1.0 + 1e-9) {
        values.push(format!("{}{unit}", (value * 1e6).round() / 1e6));
        if values.len() > POINTS_MAX {
            return Err(Problem::error(ProblemCode::Vary, format!("more than {POINTS_MAX} values")));
        }
        value = match step {
            GridStep::Times(factor) => value * factor,
            GridStep::Plus(step) => value + step,
        };
    }
    Ok(values)
}

struct GridNumber<'a> {
    value: f64,
    unit: &'a str,
}

impl<'a> GridNumber<'a> {
    fn parse(text: &'a str) -> Result<Self, Problem> {
        let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (value, unit) = text.split_at(digits);
        let no_number = || Problem::error(ProblemCode::Vary, format!("`{text}` is not a number"));
        // `1e6` is not a number with a unit.
        if unit.contains(|c: char| c.is_ascii_digit() || c == '-') {
            return Err(no_number());
        }
        let value = value.parse().map_err(|_| no_number())?;
        Ok(Self { value, unit })
    }

    /// Returns the value with fio's size suffix applied: `4k` is 4096.
    fn absolute(&self) -> f64 {
        let power = match self.unit.to_ascii_lowercase().trim_end_matches('b').trim_end_matches('i') {
            "k" => 1,
            "m" => 2,
            "g" => 3,
            "t" => 4,
            _ => 0,
        };
        self.value * f64::from(1024_i32.pow(power.min(3))) * if power == 4 { 1024.0 } else { 1.0 }
    }
}

/// Parses the axes of all values of an option.
///
/// # Errors
///
/// Returns the first problem.
pub fn axes(option: &str, values: &[String]) -> Result<Vec<GridAxis>, Problem> {
    let axes = values.iter().map(|text| GridAxis::parse(option, text)).collect::<Result<Vec<_>, _>>()?;
    check(option, &axes).map(|()| axes)
}

/// Checks the axes together.
///
/// # Errors
///
/// Returns an error if there are too many combinations, or two axes with one key.
pub(crate) fn check(option: &str, axes: &[GridAxis]) -> Result<(), Problem> {
    if let Some((_, axis)) =
        axes.iter().enumerate().find(|(index, axis)| axes[..*index].iter().any(|before| before.key == axis.key))
    {
        return Err(Problem::error(ProblemCode::Vary, format!("{option} {}=…: given twice", axis.key))
            .help(format!("pass all values in one {option}")));
    }
    let points = axes.iter().fold(1_usize, |points, axis| points.saturating_mul(axis.values.len()));
    if points <= POINTS_MAX {
        return Ok(());
    }
    Err(Problem::error(
        ProblemCode::Vary,
        format!("{option}: {points} combinations, more than the maximum of {POINTS_MAX}"),
    )
    .help("use larger steps"))
}

/// Returns all combinations of the values of all axes, the last one varying fastest.
pub fn combinations(axes: &[GridAxis]) -> Vec<Vec<(String, String)>> {
    axes.iter().fold(vec![Vec::new()], |points, axis| {
        let with = |point: &Vec<(String, String)>, value: &String| {
            let mut point = point.clone();
            point.push((axis.key.clone(), value.clone()));
            point
        };
        points.iter().flat_map(|point| axis.values.iter().map(move |value| with(point, value))).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        GridAxis::parse("--vary", text).unwrap().values
    }

    #[test]
    fn ranges_double_multiply_or_step() {
        assert_eq!(values("iodepth=1..8"), ["1", "2", "4", "8"]);
        assert_eq!(values("iodepth=1..100x10"), ["1", "10", "100"]);
        assert_eq!(values("iodepth=10..20/4"), ["10", "14", "18"]);
        assert_eq!(values("rw=randread,randwrite"), ["randread", "randwrite"]);
        assert_eq!(values("on.size=1TiB..4TiB"), ["1TiB", "2TiB", "4TiB"]);
        assert_eq!(values("bs=4k..1mx16"), ["4096", "65536", "1048576"]);
        assert_eq!(values("rwmixread=0..100/25"), ["0", "25", "50", "75", "100"]);
        assert_eq!(values("on.factor=0.1..0.3/0.1"), ["0.1", "0.2", "0.3"]);
    }

    #[test]
    fn descending_ranges_are_refused() {
        for text in ["iodepth", "=1..2", "iodepth=8..1", "iodepth=1..8x1", "iodepth=1..8/0", "iodepth=a..b", "x=1,,2"] {
            let error = GridAxis::parse("--vary", text).unwrap_err();
            assert!(
                error.what.contains(text) && error.help.as_ref().is_some_and(|help| help.contains("KEY=A..B")),
                "{error}"
            );
        }
        assert!(GridAxis::parse("--vary", "iodepth=1..1000000/1").is_err());
        assert!(GridAxis::parse("--vary", "iodepth=1..1e6/1").unwrap_err().what.contains("`1e6` is not a number"));
    }

    #[test]
    fn a_key_is_varied_once() {
        let axes = ["a=1,2", "b=1,2", "a=4..8"].map(|text| GridAxis::parse("--vary", text).unwrap());
        assert!(check("--vary", &axes).unwrap_err().what.contains("a=") && check("--vary", &axes[..2]).is_ok());
    }

    #[test]
    fn the_last_axis_changes_fastest() {
        let axes = [GridAxis::parse("--vary", "a=1,2").unwrap(), GridAxis::parse("--vary", "b=x,y").unwrap()];
        let values = |point: &Vec<(String, String)>| format!("{}{}", point[0].1, point[1].1);
        assert_eq!(combinations(&axes).iter().map(values).collect::<Vec<_>>(), ["1x", "1y", "2x", "2y"]);
    }
}
