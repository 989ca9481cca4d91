//! Makes `docs/fio-compatibility.md`: what each option of fio does in Fathom, and which test compares the two.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;

use anyhow::{Context, Result};
use job::table::{self, OptionSpec, Status};
use syn::visit::Visit;

/// Test files that run fio and Fathom for the same jobs and compare what they do or print.
const COMPARISONS: &[&str] = &[
    "crates/cli/tests/host/counts.rs",
    "crates/cli/tests/host/defragment.rs",
    "crates/cli/tests/host/engine_options.rs",
    "crates/cli/tests/host/fio_face.rs",
    "crates/cli/tests/host/fio_options.rs",
    "crates/cli/tests/host/fio_random_jobs.rs",
    "crates/cli/tests/host/fio_zones.rs",
    "crates/cli/tests/host/fio_trims.rs",
    "crates/cli/tests/host/fio_submission.rs",
    "crates/cli/tests/host/logs.rs",
    "crates/cli/tests/host/metadata.rs",
    "crates/cli/tests/host/network.rs",
    "crates/cli/tests/host/processor.rs",
    "crates/cli/tests/host/programs.rs",
    "crates/cli/tests/host/verify_exchange.rs",
    "crates/cli/tests/host/verified.rs",
    "crates/job/tests/fio.rs",
    "crates/report/tests/fio/installed.rs",
    "crates/report/tests/fio/oracle.rs",
    "crates/workload/tests/fio.rs",
];

/// Guest tests that run both programs, by the function `as_fio`.
const GUEST_COMPARISONS: &[&str] = &["xtask/guest/cases/sg.sh"];

/// How an option compares with fio's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Conformance {
    Compared,
    NotCompared,
    WithoutEffect,
    Refused,
}

impl Conformance {
    const fn title(self) -> &'static str {
        match self {
            Self::Compared => "As fio",
            Self::NotCompared => "Works, not compared with fio",
            Self::WithoutEffect => "Accepted without effect",
            Self::Refused => "Refused",
        }
    }
}

/// Returns the text of the page.
pub(crate) fn page(root: &Path) -> Result<String> {
    let compared = compared_options(root)?;
    let mut rows: BTreeMap<Conformance, Vec<String>> = BTreeMap::new();
    // An option of several engines counts once, by the engine with which it does most.
    let mut best: BTreeMap<&str, Conformance> = BTreeMap::new();
    for spec in table::OPTIONS.iter().filter(|spec| spec.status != Status::OfFathom) {
        let files = compared.get(spec.name);
        let (conformance, remark) = judge(spec, files);
        best.entry(spec.name).and_modify(|known| *known = conformance.min(*known)).or_insert(conformance);
        let names = spec.names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let engines = if spec.engines.is_empty() { "all".to_owned() } else { spec.engines.join(", ") };
        rows.entry(conformance).or_default().push(format!("| {names} | {engines} | {remark} |\n"));
    }
    let total = best.len();
    let mut text = format!(
        "# Compatibility with fio\n\nGenerated from the option table and the tests; do not edit. fio has {total} \
         options. *As fio* means that a test runs the installed fio (3.33) and Fathom with the same job and compares \
         their behaviour. `fathom fio` parses values as fio does. `fathom run` is stricter with all options: it \
         refuses values that fio misreads (see [errors.md](errors.md)), options that have no effect, and writes to \
         data in use (see [safety.md](safety.md)).\n\n| | options |\n|---|---|\n"
    );
    for conformance in rows.keys() {
        let count = best.values().filter(|one| *one == conformance).count();
        let _ = writeln!(text, "| {} | {count} |", conformance.title());
    }
    for (conformance, rows) in &rows {
        let remark = match conformance {
            Conformance::Compared => "compared in",
            Conformance::NotCompared => "state",
            Conformance::WithoutEffect | Conformance::Refused => "why",
        };
        let _ = write!(text, "\n## {}\n\n| option | engines | {remark} |\n|---|---|---|\n", conformance.title());
        rows.iter().for_each(|row| text.push_str(row));
    }
    Ok(text)
}

/// Returns the conformance of an option, and its tests or the reason.
fn judge(spec: &OptionSpec, files: Option<&BTreeSet<&'static str>>) -> (Conformance, String) {
    match (spec.status, files) {
        (Status::Supported, Some(files)) => {
            let names = files.iter().map(|file| format!("`{}`", file.trim_start_matches("crates/")));
            (Conformance::Compared, names.collect::<Vec<_>>().join(", "))
        }
        (Status::Supported | Status::OfFathom, _) => (Conformance::NotCompared, "no comparison yet".to_owned()),
        (Status::Accepted(reason), _) => (Conformance::WithoutEffect, reason.to_owned()),
        (Status::Deprecated, _) => {
            (Conformance::WithoutEffect, "deprecated in fio, without effect there too".to_owned())
        }
        (Status::Profile, _) => {
            (Conformance::WithoutEffect, "an option of fio's profiles, without effect in a job of fio too".to_owned())
        }
        (Status::NotYet, _)
            if !spec.engines.is_empty()
                && spec.engines.iter().all(|engine| !table::engines().any(|known| known == *engine)) =>
        {
            (Conformance::Refused, "its engines are not supported: see [engines.md](engines.md)".to_owned())
        }
        (Status::NotYet, _) => (Conformance::Refused, "not supported yet".to_owned()),
        (Status::Removed, _) => (Conformance::Refused, "removed from fio, which refuses it too".to_owned()),
    }
}

/// Returns the canonical names of the options in each comparison, with the files.
fn compared_options(root: &Path) -> Result<BTreeMap<&'static str, BTreeSet<&'static str>>> {
    let mut compared: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for &file in COMPARISONS {
        let text = std::fs::read_to_string(root.join(file)).with_context(|| format!("read {file}"))?;
        let mut words = OptionWords::default();
        words.visit_file(&syn::parse_file(&text).with_context(|| format!("parse {file}"))?);
        for name in words.0 {
            for spec in table::find_all(&name) {
                compared.entry(spec.name).or_default().insert(file);
            }
        }
    }
    for &file in GUEST_COMPARISONS {
        let text = std::fs::read_to_string(root.join(file)).with_context(|| format!("read {file}"))?;
        let mut words = OptionWords::default();
        text.lines().filter(|line| line.trim_start().starts_with("as_fio ")).for_each(|line| words.add(line));
        // Options of other engines are compared elsewhere.
        let of_guest = words.0.iter().flat_map(|name| table::find_all(name)).filter(|spec| spec.engines == ["sg"]);
        for spec in of_guest {
            compared.entry(spec.name).or_default().insert(file);
        }
    }
    Ok(compared)
}

/// Words in string literals that look like options: `--name`, and `name=` at the start of a line or after a blank.
#[derive(Default)]
struct OptionWords(BTreeSet<String>);

impl OptionWords {
    fn add(&mut self, text: &str) {
        for word in text.split(|c: char| c.is_whitespace()) {
            let (name, is_given) = match word.split_once('=') {
                Some((name, _)) => (name, true),
                None => (word, word.starts_with("--")),
            };
            if is_given {
                self.0.insert(name.trim_start_matches('-').to_owned());
            }
        }
    }
}

impl<'ast> Visit<'ast> for OptionWords {
    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.add(&literal.value());
    }

    /// Strings within macros such as `format!` are not part of the syntax tree.
    fn visit_macro(&mut self, of: &'ast syn::Macro) {
        add_tokens(self, of.tokens.clone());
    }
}

fn add_tokens(words: &mut OptionWords, tokens: proc_macro2::TokenStream) {
    for token in tokens {
        match token {
            proc_macro2::TokenTree::Group(group) => add_tokens(words, group.stream()),
            proc_macro2::TokenTree::Literal(literal) => {
                if let Ok(literal) = syn::parse_str::<syn::LitStr>(&literal.to_string()) {
                    words.add(&literal.value());
                }
            }
            proc_macro2::TokenTree::Ident(_) | proc_macro2::TokenTree::Punct(_) => {}
        }
    }
}
