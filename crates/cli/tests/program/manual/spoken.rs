//! Commands in pages and recipes, checked against the program.

use std::collections::BTreeMap;

use crate::common::{Scratch, fathom, run};
use crate::manual::lint::written_pages;
use crate::manual::{files_below, pages, text_of};

/// Returns the Fathom commands in a page: those in code spans and in lines of code blocks.
fn commands(page: &str) -> Vec<String> {
    let joined = page.replace("\\\n", " ");
    let mut found: Vec<String> = Vec::new();
    for line in joined.lines() {
        let line = line.trim_start();
        let typed = line.trim_start_matches(['$', '#']).trim_start();
        let at_start = typed.split_whitespace().find(|word| !word.contains('='));
        if at_start == Some("fathom") {
            found.extend(typed.find("fathom ").map(|at| typed[at..].to_owned()));
        }
        let code = line.split('`').skip(1).step_by(2);
        found.extend(code.filter(|code| code.starts_with("fathom ")).map(str::to_owned));
        found.extend(line.split("| fathom ").skip(1).map(|rest| format!("fathom {rest}")));
    }
    found
}

/// Returns the words of a command up to the first shell operator, without quoted texts.
fn words(command: &str) -> Vec<String> {
    let unquoted: String = command.split('\'').step_by(2).collect::<Vec<_>>().join("QUOTED");
    let unquoted: String = unquoted.split('"').step_by(2).collect::<Vec<_>>().join("QUOTED");
    let own =
        unquoted.split(['|', ';', '>', '<', '(']).next().unwrap_or_default().split(" && ").next().unwrap_or_default();
    let own = own.split("  ").next().unwrap_or_default().split(" # ").next().unwrap_or_default();
    own.split_whitespace().map(str::to_owned).collect()
}

/// The help of the program's commands, read once each.
#[derive(Default)]
pub(crate) struct Known(BTreeMap<String, String>);

impl Known {
    fn help(&mut self, command: &[&str]) -> &str {
        self.0.entry(command.join(" ")).or_insert_with(|| run(fathom(command.iter().copied()).arg("--help")).stdout)
    }

    /// Returns what is unknown in a command, if anything.
    pub(crate) fn complaint(&mut self, words: &[String]) -> Option<String> {
        let mut words = words.iter().map(String::as_str).skip(1);
        let command = words.next()?;
        let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase());
        if !is_word(command) {
            return None;
        }
        let listed =
            |help: &str, name: &str| help.lines().any(|line| line.trim_start().split(' ').next() == Some(name));
        if !listed(self.help(&[]), command) {
            return Some(format!("there is no command `{command}`"));
        }
        let rest: Vec<&str> = words.collect();
        let nested = rest.first().copied().filter(|word| is_word(word) && self.help(&[command]).contains("Commands:"));
        let path: Vec<&str> = std::iter::once(command).chain(nested).collect();
        rest.iter().filter_map(|word| word.strip_prefix("--")).find_map(|option| {
            let name = option.split('=').next().unwrap_or_default().trim_end_matches([',', '.', ':']);
            let is_placeholder = name.is_empty() || name.bytes().any(|byte| byte.is_ascii_uppercase() || byte == b'[');
            let own = self.help(&path).contains(&format!("--{name}"));
            let of_jobs = matches!(command, "run" | "sim" | "sweep" | "fio") && !job::table::find_all(name).is_empty();
            (!is_placeholder && !own && !of_jobs && name != "help").then(|| format!("{path:?} has no --{name}"))
        })
    }
}

#[test]
fn every_command_in_pages_and_recipes_is_valid() {
    let mut known = Known::default();
    let mut wrong = Vec::new();
    let mut seen = 0;
    let scratch = Scratch::new();
    let printed = written_pages(&scratch).into_iter().map(|page| (scratch.read(&page), page));
    let kept = pages().into_iter().chain(files_below("packaging")).map(|page| (text_of(&page), page));
    for (text, page) in kept.chain(printed) {
        let text = text.replace("\\-", "-");
        for command in commands(&text) {
            seen += 1;
            wrong.extend(known.complaint(&words(&command)).map(|why| format!("{page}: {command}: {why}")));
        }
    }
    assert!(seen > 150, "{seen} commands");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn invalid_commands_are_reported() {
    let mut known = Known::default();
    for command in
        ["fathom rum x", "fathom sweep --depth-least 3", "fathom plan --rw=read", "fathom suite run x --iodepth 3"]
    {
        assert!(known.complaint(&words(command)).is_some(), "{command}");
    }
    let good = "fathom serve aws/gp3 --run 'fio --nonsense' && fathom nonsense --nonsense";
    assert_eq!(known.complaint(&words(good)), None);
    assert_eq!(
        commands("see `fathom run x` and\n    $ A=b fathom sim --on \\\n  y\nfathom is"),
        ["fathom run x", "fathom sim --on    y", "fathom is"]
    );
}
