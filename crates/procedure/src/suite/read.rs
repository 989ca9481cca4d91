//! Reads suites from TOML (docs/suites.md).

use std::ops::Range;

use record::Figure;
use results::suite::{MeasureUnit, Published};
use toml::de::DeTable;
use units::{Problem, suggestion};
use volume::toml_value::kind;

use super::fields::{SuiteErrors, number, whole, word};
use super::schema::{MeasuredStep, RoundsSpec, StepOption, StepSpec, Suite, SuiteText};
use super::toml_fields::Fields;

/// Default maximum number of rounds.
const ROUNDS: usize = 25;
/// Maximum number of steps per entry of a file.
const STEPS: usize = 4096;

/// Parses a suite, or returns all problems of its text.
pub(crate) fn read(text: &SuiteText) -> Result<Suite, Vec<Problem>> {
    let (root, syntax_errors) = DeTable::parse_recoverable(&text.text);
    let mut errors = SuiteErrors { text: text.clone(), problems: Vec::new() };
    for error in &syntax_errors {
        let end = text.text.len();
        let remedy = "use valid TOML, as in docs/suites.md";
        errors.add(&error.span().unwrap_or(end..end), error.message(), remedy);
    }
    if !syntax_errors.is_empty() {
        return Err(errors.problems);
    }
    let suite = suite(Fields::new(root.get_ref(), 0..0, "the file"), &mut errors);
    errors.problems.sort_by_key(|problem| problem.place.as_ref().map(|place| (place.line, place.column)));
    if errors.problems.is_empty() { Ok(suite) } else { Err(errors.problems) }
}

fn suite(mut root: Fields, errors: &mut SuiteErrors) -> Suite {
    let head = root.table("suite", errors);
    if head.is_none() && errors.problems.is_empty() {
        errors.add(&(0..0), "missing [suite]", "start with [suite] and its `name`, `title` and `source`");
    }
    let options = root.table("options", errors).map_or_else(Vec::new, |fields| settings(&fields, errors));
    let rounds = root.table("rounds", errors).map(|mut fields| {
        let follow = fields.text_list("follow", errors);
        let most = whole(&mut fields, "most", 1000, errors).map_or(ROUNDS, |most| most as usize);
        let at = fields.at.clone();
        fields.finish(errors);
        (follow, most, at)
    });
    let mut steps: Vec<StepSpec> = Vec::new();
    let written = root.tables("step", errors);
    if written.is_empty() {
        errors.add(&(0..0), "missing [[step]]", "add a [[step]] with `name`, `measure` and `options`");
    }
    for fields in written {
        let at = fields.place("name");
        let mut told = false;
        for step in step(fields, &options, errors) {
            if !told && steps.iter().any(|known| known.name == step.name) {
                told = true;
                let remedy = "use unique names, with a {key} for each key of `each`";
                errors.add(&at, format!("two steps are named `{}`", step.name), remedy);
            }
            steps.push(step);
        }
    }
    let rounds = rounds.map(|(follow, most, at)| {
        if follow.is_empty() {
            let remedy = "add `follow = [\"STEP\"]`: the steps that must reach steady state";
            errors.add(&at, "`rounds` has no `follow`", remedy);
        }
        for (name, at) in &follow {
            if !steps.iter().any(|step| step.name == *name && !step.once) {
                let names = steps.iter().map(|step| step.name.as_str());
                let remedy = suggestion(name, names, || "use the name of a repeated step".to_owned());
                errors.add(at, format!("no repeated step is named `{name}`"), remedy);
            }
        }
        RoundsSpec { follow: follow.into_iter().map(|(name, _)| name).collect(), most }
    });
    root.finish(errors);
    let mut suite = Suite { rounds, steps, text: errors.text.clone(), ..Suite::default() };
    if let Some(fields) = head {
        about(fields, &mut suite, errors);
    }
    suite
}

fn about(mut fields: Fields, suite: &mut Suite, errors: &mut SuiteErrors) {
    suite.name = fields.required("name", errors);
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if !plain(&suite.name) {
        let remedy = "use letters, digits, `-`, `_` and `.`: it becomes part of file names";
        errors.add(&fields.place("name"), format!("`{}` is not a valid suite name", suite.name), remedy);
    }
    suite.title = fields.required("title", errors);
    suite.source = fields.required("source", errors);
    suite.date = fields.required("date", errors);
    suite.model = fields.text("model", errors);
    suite.size = fields.required("size", errors);
    suite.size_at = fields.place("size");
    suite.whole = fields.boolean("whole", errors);
    suite.drained = fields.boolean("drained", errors);
    suite.preconditions = fields.text_list("preconditions", errors).into_iter().map(|(text, _)| text).collect();
    fields.finish(errors);
}

/// Reads job options in the order of the file.
fn settings(fields: &Fields, errors: &mut SuiteErrors) -> Vec<StepOption> {
    let mut settings = Vec::new();
    for (key, value) in fields.entries() {
        let key = key.get_ref().to_string();
        match word(value) {
            Some(word) => settings.push(StepOption { key, value: word, at: value.span() }),
            None => {
                let message = format!("the job option `{key}` must be a string or a number, not {}", kind(value));
                errors.add(&value.span(), message, "write it in fio's notation, in quotes");
            }
        }
    }
    settings
}

/// Names of placeholders with their values.
type Names = Vec<(String, String)>;

/// Replaces the placeholders in braces; unknown ones stay.
pub(crate) fn fill_placeholders(text: &str, names: &[(String, String)]) -> String {
    names.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
}

/// Reads a step, once for each combination of the values of `each`.
fn step(mut fields: Fields, common: &[StepOption], errors: &mut SuiteErrors) -> Vec<StepSpec> {
    let name = fields.required("name", errors);
    fields.name = format!("the step `{name}`");
    let at = fields.place("name");
    let (title, means) = (fields.required("title", errors), fields.required("means", errors));
    let once = fields.boolean("once", errors);
    let copies = whole(&mut fields, "copies", 1024, errors).unwrap_or(1);
    let own = fields.table("options", errors).map_or_else(Vec::new, |fields| settings(&fields, errors));
    let mut jobs: Vec<Vec<StepOption>> =
        fields.tables("jobs", errors).iter().map(|fields| settings(fields, errors)).collect();
    if jobs.is_empty() {
        jobs.push(Vec::new());
    }
    let measure = figures(&mut fields, errors);
    let published: Vec<_> = fields.tables("figure", errors).into_iter().map(|table| figure(table, errors)).collect();
    for (figure, _, at, _) in published.iter().flatten() {
        if !measure.contains(figure) {
            errors.add(at, format!("{} does not measure `{figure}`", fields.name), "add it to `measure`");
        }
    }
    let combinations = each(&mut fields, errors);
    fields.finish(errors);
    let of = |names: &Names| {
        let matches = |when: &Names| when.iter().all(|pair| names.contains(pair));
        let measured = |wanted: &Figure| {
            let found = published.iter().flatten().find(|(figure, _, _, when)| figure == wanted && matches(when));
            MeasuredStep { figure: *wanted, published: found.map(|(_, published, _, _)| published.clone()) }
        };
        let job = |job: &Vec<StepOption>, copy: u32| {
            let names: Names = names.iter().cloned().chain([("copy".to_owned(), copy.to_string())]).collect();
            let all = common.iter().chain(&own).chain(job);
            all.map(|one| StepOption { value: fill_placeholders(&one.value, &names), ..one.clone() })
                .collect::<Vec<_>>()
        };
        StepSpec {
            name: fill_placeholders(&name, names),
            at: at.clone(),
            title: fill_placeholders(&title, names),
            means: means.clone(),
            figures: measure.iter().map(measured).collect(),
            once,
            jobs: (0..copies).flat_map(|copy| jobs.iter().map(move |settings| job(settings, copy))).collect(),
        }
    };
    combinations.iter().map(of).collect()
}

/// Returns all combinations of the values of `each`, the last key varying fastest.
fn each(fields: &mut Fields, errors: &mut SuiteErrors) -> Vec<Names> {
    let mut combinations = vec![Vec::new()];
    let Some(table) = fields.table("each", errors) else { return combinations };
    for (key, value) in table.entries() {
        let key = key.get_ref().to_string();
        let words: Option<Vec<String>> = value.get_ref().as_array().map(|list| list.iter().filter_map(word).collect());
        let Some(words) = words.filter(|words| !words.is_empty()) else {
            let message = format!("`{key}` of `each` must be a list of values, not {}", kind(value));
            errors.add(&value.span(), message, "use, for example, bs = [\"4k\", \"1m\"]");
            continue;
        };
        if combinations.len() * words.len() > STEPS {
            let message = format!("`each` expands to more than {STEPS} steps");
            errors.add(&value.span(), message, "use fewer values, or split the suite");
            continue;
        }
        let with = |names: &Names, word: &String| {
            names.iter().cloned().chain([(key.clone(), word.clone())]).collect::<Names>()
        };
        combinations = combinations.iter().flat_map(|names| words.iter().map(move |word| with(names, word))).collect();
    }
    combinations
}

fn figures(fields: &mut Fields, errors: &mut SuiteErrors) -> Vec<Figure> {
    let names = fields.text_list("measure", errors);
    if names.is_empty() {
        let remedy = "add, for example, `measure = [\"read.iops\"]`";
        errors.add(&fields.place("measure"), format!("{} measures nothing", fields.name), remedy);
    }
    names.iter().filter_map(|(name, at)| named(name, at, errors)).collect()
}

fn named(name: &str, at: &Range<usize>, errors: &mut SuiteErrors) -> Option<Figure> {
    let figure = Figure::named(name);
    if figure.is_none() {
        let known = Figure::names();
        let listed = || format!("use one of {}", known.join(", "));
        let remedy = suggestion(name, known.iter().map(String::as_str), listed);
        errors.add(at, format!("unknown figure `{name}`"), remedy);
    }
    figure
}

/// A published figure, its value, its place in the file, and the values of `each` to which it applies.
type Read = (Figure, Published, Range<usize>, Names);

fn figure(mut fields: Fields, errors: &mut SuiteErrors) -> Option<Read> {
    let at = fields.at.clone();
    let name = fields.required("measure", errors);
    let figure = if name.is_empty() { None } else { named(&name, &fields.place("measure"), errors) };
    let (value, to) = (number(&mut fields, "value", errors), number(&mut fields, "to", errors));
    if value.is_none() && fields.place("value") == at {
        errors.add(&at, "a published figure needs a value", "add `value = ...` as published");
    }
    let (below, conditions) = (fields.boolean("below", errors), fields.required("where", errors));
    let apart = fields.text("apart", errors);
    let written = fields.required("unit", errors);
    let unit = MeasureUnit::ALL.into_iter().find(|unit| unit.name() == written);
    let fits = unit.filter(|unit| figure.is_none_or(|figure| unit.fits(figure.quantity)));
    if fits.is_none() && !written.is_empty() {
        let fitting = MeasureUnit::ALL.iter().filter(|unit| figure.is_none_or(|figure| unit.fits(figure.quantity)));
        let fitting: Vec<&str> = fitting.map(|unit| unit.name()).collect();
        let remedy = format!("use one of {}", fitting.join(", "));
        errors.add(&fields.place("unit"), format!("`{written}` is not a unit of {name}"), remedy);
    }
    let when = fields.table("when", errors).map_or_else(Vec::new, |table| {
        settings(&table, errors).into_iter().map(|setting| (setting.key, setting.value)).collect()
    });
    fields.finish(errors);
    let unit = fits?;
    let factor = unit.factor();
    let published = Published { value: value? * factor, to: to.map(|to| to * factor), below, unit, conditions, apart };
    Some((figure?, published, at, when))
}

#[cfg(test)]
mod tests {
    use super::super::builtin;
    use super::*;

    const SMALL: &str = r#"[suite]
name = "mine"
title = "a test"
source = "none"
date = "2026"
size = "1g"

[options]
filename = "{target}"

[[step]]
name = "read-{bs}"
title = "reads of {bs}"
means = "little"
measure = ["read.iops"]
each = { bs = ["4k", "8k"] }
options = { rw = "randread", bs = "{bs}" }
figure = [{ measure = "read.iops", when = { bs = "8k" }, value = 5, unit = "IOPS", where = "here" }]
"#;

    fn problems(from: &str, to: &str) -> Vec<(usize, usize, String)> {
        assert!(SMALL.contains(from), "{from}");
        let problems =
            read(&SuiteText::new("mine.toml", &SMALL.replacen(from, &to.replace("LIST", &"1,".repeat(100)), 1)))
                .expect_err("it is wrong");
        let told = |problem: Problem| {
            let place = problem.place.expect("every problem has a place");
            (place.line, place.column, format!("{} ({})", problem.what, problem.help.unwrap_or_default()))
        };
        problems.into_iter().map(told).collect()
    }

    #[test]
    fn steps_are_expanded_for_each_value_with_their_figures() {
        let suite = read(&SuiteText::new("mine.toml", SMALL)).expect("it is good");
        let names: Vec<&str> = suite.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names, ["read-4k", "read-8k"]);
        assert_eq!(suite.steps[1].title, "reads of 8k");
        let published: Vec<bool> = suite.steps.iter().map(|step| step.figures[0].published.is_some()).collect();
        assert_eq!(published, [false, true]);
        let words: Vec<String> =
            suite.steps[0].jobs[0].iter().map(|one| format!("{}={}", one.key, one.value)).collect();
        assert_eq!(words, ["filename={target}", "rw=randread", "bs=4k"]);
        assert!(!suite.steps[0].writes());
    }

    #[test]
    fn problems_have_their_places_and_remedies() {
        let cases = [
            ("title = \"a test\"", "titel = \"a test\"", 3, 1, "no key `titel` (did you mean `title`?)"),
            ("\"read.iops\"]", "\"read.iosp\"]", 15, 12, "unknown figure `read.iosp` (did you mean `read.iops`?)"),
            ("unit = \"IOPS\"", "unit = \"ms\"", 18, 76, "`ms` is not a unit of read.iops (use one of IOPS)"),
            ("value = 5", "value = \"5\"", 18, 66, "`value` must be a number greater than 0, not a string"),
            ("[\"4k\", \"8k\"]", "[]", 16, 15, "`bs` of `each` must be a list of values"),
            ("name = \"read-{bs}\"", "name = \"read\"", 12, 8, "two steps are named `read`"),
            ("[suite]", "[suite", 1, 7, "use valid TOML"),
            ("{ bs = [", "{ a = [LIST], b = [LIST], bs = [", 16, 222, "`each` expands to more than 4096 steps"),
            ("name = \"mine\"", "name = \"my suite\"", 2, 8, "`my suite` is not a valid suite name"),
            ("value = 5", "value = -5", 18, 66, "`value` must be a number greater than 0, not -5"),
            (
                "[options]",
                "[rounds]\nfollow = \"read-4k\"\n[options]",
                9,
                10,
                "`follow` must be a list, not a string (enclose it in brackets)",
            ),
            ("[options]", "[rounds]\nfollow = [\"read-16k\"]\n[options]", 9, 11, "did you mean `read-4k`?"),
        ];
        for (from, to, line, column, text) in cases {
            let found = problems(from, to);
            let hit = found.iter().any(|(l, c, told)| (*l, *c) == (line, column) && told.contains(text));
            assert!(hit, "{text} at {line}:{column} is not in {found:?}");
        }
    }

    #[test]
    fn all_problems_are_reported_at_once() {
        let text =
            SMALL.replace("randread\"", "randread\", x = []").replace("\"2026\"", "2026").replace("means", "mean");
        assert!(read(&SuiteText::new("mine.toml", &text)).expect_err("it is wrong").len() >= 3);
    }

    #[test]
    fn every_built_in_suite_is_valid() {
        for (name, text) in builtin::TEXTS {
            match read(&SuiteText::new(name, text)) {
                Ok(suite) => assert_eq!(suite.name, *name),
                Err(problems) => panic!("{problems:#?}"),
            }
        }
    }
}
