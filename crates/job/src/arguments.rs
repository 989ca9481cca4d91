//! Separates host options, job options and job files, as `getopt_long_only` does.

use std::sync::Arc;

use crate::host::{Arity, Effect, HOST_OPTIONS, HostOptions, HostSpec, OutputFormat};
use crate::raw::{RawFile, RawJob, RawOption};
use crate::read::Findings;
use crate::redact::redacted_words;
use crate::table::{self, OPTIONS, OptionKind, OptionSpec};
use crate::{Dialect, limits};
use units::{Nanos, Place, Problem, ProblemCode, closest};

/// Option of simulations, which users may expect of other commands.
const HOSTS: &str = "hosts";

/// The parts of a command line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) host: HostOptions,
    /// Options before the first `--name`, then one section for each.
    pub(crate) jobs: RawFile,
    /// Job files and their places.
    pub(crate) files: Vec<(String, Place)>,
    /// Indices of the job files among the arguments.
    pub(crate) file_words: Vec<usize>,
    pub(crate) diagnostics: Vec<Problem>,
}

/// Splits `args` into its parts. Without `with_host`, host options are unknown options.
pub(crate) fn read(args: &[String], dialect: Dialect, with_host: bool) -> Arguments {
    // What diagnostics show.
    let shown = redacted_words(args);
    let text: Arc<str> = Arc::from(shown.join(" "));
    let mut column = 1;
    let source: Arc<str> = Arc::from("command line");
    let words = args.iter().zip(&shown).map(|(arg, shown)| {
        let place = Place {
            source: Arc::clone(&source),
            line: 1,
            column,
            length: shown.chars().count(),
            text: Arc::clone(&text),
        };
        column += place.length + 1;
        (arg.as_str(), place)
    });
    let words: Vec<_> = words.collect();
    let (output_formats, eta_interval) = (vec![OutputFormat::Normal], Nanos::from_secs(1));
    let host = HostOptions { output_formats, terse_version: 3, eta_interval, ..HostOptions::default() };
    let mut reader = ArgumentReader {
        words: &words,
        at: 0,
        dialect,
        with_host,
        engine: "psync".to_owned(),
        global_engine: "psync".to_owned(),
        options: 0,
        out: Arguments { host, ..Arguments::default() },
    };
    reader.all();
    reader.name_replay();
    reader.out
}

/// The option that an argument names.
#[derive(Clone, Copy)]
enum NamedArgument {
    Host(&'static HostSpec),
    Job(&'static OptionSpec),
}

impl NamedArgument {
    fn arity(self) -> Arity {
        match self {
            Self::Host(spec) => spec.arity,
            Self::Job(spec) if spec.kind == OptionKind::Flag => Arity::Optional,
            Self::Job(_) => Arity::Required,
        }
    }
}

struct ArgumentReader<'a> {
    words: &'a [(&'a str, Place)],
    at: usize,
    dialect: Dialect,
    with_host: bool,
    engine: String,
    /// The engine with which each later job begins.
    global_engine: String,
    /// Number of job options read so far.
    options: usize,
    out: Arguments,
}

impl ArgumentReader<'_> {
    fn all(&mut self) {
        let mut options_end = false;
        while let Some((word, place)) = self.words.get(self.at) {
            if self.is_exhausted(place) {
                return;
            }
            self.at += 1;
            if !options_end && *word == "--" {
                options_end = true;
            } else if options_end || *word == "-" || !word.starts_with('-') {
                self.out.files.push(((*word).to_owned(), place.clone()));
                self.out.file_words.push(self.at - 1);
            } else {
                self.option(word, place);
            }
        }
    }

    /// Makes a job of the options of a replay without `--name` and job files, so that `--replay TRACE` suffices.
    fn name_replay(&mut self) {
        let Arguments { jobs, files, .. } = &mut self.out;
        if let [only] = jobs.jobs.as_mut_slice()
            && (self.dialect, only.global, files.is_empty()) == (Dialect::Strict, true, true)
            && only.options.iter().any(|option| matches!(option.key.as_str(), "replay" | "read_iolog"))
        {
            (only.title, only.global) = ("replay".to_owned(), false);
        }
    }

    /// Reports whether parsing must stop: after many errors, or after too many options or jobs, which it then reports.
    fn is_exhausted(&mut self, place: &Place) -> bool {
        let amounts =
            [(self.options, limits::OPTIONS_MAX, "options"), (self.out.jobs.jobs.len(), limits::SECTIONS_MAX, "jobs")];
        if let Some((_, most, what)) = amounts.into_iter().find(|(amount, most, _)| amount > most) {
            let diagnostic = Problem::error(ProblemCode::TooManyOptions, format!("more than {most} {what}"));
            self.out.diagnostics.push(diagnostic.at(place.clone()).help("split the jobs into several runs"));
            return true;
        }
        self.out.diagnostics.len() >= limits::PROBLEMS_MAX
    }

    fn option(&mut self, word: &str, place: &Place) {
        let dashes = if word.starts_with("--") { 2 } else { 1 };
        let body = &word[dashes..];
        let (key, value) = body.split_once('=').map_or((body, None), |(key, value)| (key, Some(value)));
        let key_length = key.chars().count();
        let key_place = place.part(0, dashes + key_length);
        let Some(named) = self.resolve(key, &key_place) else {
            // A number of hosts is no job file.
            let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
            self.at += usize::from(key == HOSTS && self.words.get(self.at).is_some_and(|(word, _)| is_number(word)));
            return;
        };
        let inline = value.map(|value| (value.to_owned(), place.part(dashes + key_length + 1, usize::MAX)));
        if let (Arity::None, Some(_)) = (named.arity(), &inline) {
            let diagnostic = Problem::error(ProblemCode::UnusedArgument, format!("`--{key}` takes no value"));
            self.out.diagnostics.push(diagnostic.at(key_place).help(format!("write `--{key}`")));
            return;
        }
        let value = match (named.arity(), inline) {
            (Arity::Required, None) => match self.words.get(self.at) {
                Some((word, place)) => {
                    self.at += 1;
                    Some(((*word).to_owned(), place.clone()))
                }
                None => {
                    let diagnostic = Problem::error(ProblemCode::MissingValue, "a value is missing");
                    return self.out.diagnostics.push(diagnostic.at(key_place));
                }
            },
            (_, inline) => inline,
        };
        // Host options and flags check their own values.
        let may_be_empty = matches!(named, NamedArgument::Host(_)) || named.arity() == Arity::Optional;
        if !may_be_empty && value.as_ref().is_some_and(|(text, _)| text.is_empty()) {
            let diagnostic = Problem::error(ProblemCode::MissingValue, format!("`--{key}` needs a value"));
            return self.out.diagnostics.push(diagnostic.at(key_place).help(format!("write `--{key}=…`")));
        }
        match named {
            NamedArgument::Host(spec) => self.host(spec, value, &key_place),
            NamedArgument::Job(spec) => self.job(spec, key, value, key_place),
        }
    }

    /// Finds the option called `key`, or the only one whose name begins with `key`.
    fn resolve(&mut self, key: &str, place: &Place) -> Option<NamedArgument> {
        if let Some(named) = self.exact(key) {
            return Some(named);
        }
        let mut names: Vec<&str> = self.names().filter(|name| name.starts_with(key)).collect();
        names.dedup();
        match names.as_slice() {
            // fio has two entries called `size`, so its prefixes are ambiguous.
            [name] if *name != "size" && !key.is_empty() => self.exact(name),
            names => {
                let names: Vec<String> = names.iter().map(|name| format!("--{name}")).collect();
                let diagnostic = self.unknown(key, &names).at(place.clone());
                self.out.diagnostics.push(diagnostic);
                None
            }
        }
    }

    fn exact(&self, key: &str) -> Option<NamedArgument> {
        // fio's only short options.
        let host_key = match key {
            "h" => "help",
            "v" => "version",
            key => key,
        };
        let host = HOST_OPTIONS.iter().find(|spec| self.with_host && spec.name == host_key).map(NamedArgument::Host);
        host.or_else(|| table::find(key, &self.engine).map(NamedArgument::Job))
    }

    /// Returns the names of all options that are valid here. Engine options are valid only after their engine.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        let here = |spec: &&OptionSpec| spec.engines.is_empty() || spec.engines.contains(&&*self.engine);
        let jobs = OPTIONS.iter().filter(here).flat_map(OptionSpec::names);
        HOST_OPTIONS.iter().filter(|_| self.with_host).map(|spec| spec.name).chain(jobs)
    }

    fn unknown(&self, key: &str, candidates: &[String]) -> Problem {
        let diagnostic = Problem::error(ProblemCode::UnknownOption, format!("unknown option `--{key}`"));
        if let Some(spec) = table::find_all(key).first() {
            return diagnostic
                .note(format!(
                    "`{key}` is an option of {}; the engine here is `{}`",
                    spec.engines.join(", "),
                    self.engine
                ))
                .help(format!("write `--ioengine={}` before it", spec.engines[0]));
        }
        if key == HOSTS && !self.with_host {
            return diagnostic.note("only simulations accept `--hosts`; this command runs one process").help(
                "simulate hosts with `fathom sim --hosts N`, or run on real ones with `mpirun -n N fathom-fleet run`",
            );
        }
        if !key.is_empty() && (2..=6).contains(&candidates.len()) {
            return diagnostic.help(format!("write one of {}", candidates.join(", ")));
        }
        match closest(key, self.names()) {
            Some(name) => diagnostic.label(format!("did you mean `--{name}`?")).help(format!("write `--{name}`")),
            None => diagnostic,
        }
    }

    fn host(&mut self, spec: &HostSpec, value: Option<(String, Place)>, key_place: &Place) {
        let (text, place) = value.unwrap_or_else(|| (String::new(), key_place.clone()));
        match spec.effect {
            Effect::Nothing => {}
            Effect::NotYet => self.out.diagnostics.push(
                Problem::error(
                    ProblemCode::NotSupported,
                    format!("`--{}` is a fio option that is not supported yet", spec.name),
                )
                .at(key_place.clone()),
            ),
            Effect::Set(set) => {
                let mut findings = Findings::default();
                set(&mut self.out.host, &text, &mut findings);
                for finding in findings.items.iter().filter(|finding| finding.weight.is_error_in(self.dialect)) {
                    let message = format!("{}: {}", spec.name, finding.message);
                    let diagnostic = Problem::error(finding.code, message).at(place.clone());
                    self.out.diagnostics.push(diagnostic.help(&*finding.help));
                }
            }
        }
    }

    fn job(&mut self, spec: &OptionSpec, key: &str, value: Option<(String, Place)>, key_place: Place) {
        let (value, value_place) = value.map_or_else(|| (None, key_place.clone()), |(text, place)| (Some(text), place));
        if spec.name == "name" && !self.begin(value.as_deref().unwrap_or(""), &value_place) {
            return;
        }
        if let ("ioengine", Some(engine)) = (spec.name, &value) {
            table::engine_name(engine).clone_into(&mut self.engine);
            if self.section().global {
                self.global_engine.clone_from(&self.engine);
            }
        }
        let key = if spec.names().any(|name| name == key) { key } else { spec.name }.to_owned();
        let option = RawOption { key, value, key_place, value_place, verbatim: true, cut: None, unset: Vec::new() };
        self.options += 1;
        self.section().options.push(option);
    }

    /// Begins a job with the default engine. Reports whether the job is to run.
    fn begin(&mut self, title: &str, place: &Place) -> bool {
        self.engine.clone_from(&self.global_engine);
        // As in fio, a job that no earlier `--section` names only changes the defaults of later jobs.
        let sections = &self.out.host.sections;
        let chosen = sections.is_empty() || sections.iter().any(|section| section == title);
        self.out.jobs.jobs.push(RawJob {
            title: title.to_owned(),
            place: place.clone(),
            options: Vec::new(),
            global: title.starts_with("global") || !chosen,
            ordered: true,
        });
        chosen
    }

    /// Returns the section that receives options: a global one before the first `--name`.
    fn section(&mut self) -> &mut RawJob {
        let jobs = &mut self.out.jobs.jobs;
        if jobs.is_empty() {
            let place = self.words[0].1.clone();
            jobs.push(RawJob { title: "global".to_owned(), place, options: Vec::new(), global: true, ordered: true });
        }
        let last = jobs.len() - 1;
        &mut jobs[last]
    }
}
