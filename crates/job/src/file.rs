//! Splits job files into lines, sections and includes.

use std::sync::Arc;

use units::{Bytes, Place, Problem, ProblemCode};

use crate::expand::{self, Expanded};
use crate::raw::{RawFile, RawJob, RawOption};
use crate::redact::redacted_line;
use crate::source::HostSource;
use crate::{Dialect, limits};

/// Bytes of an overlong line that its diagnostic shows.
const SHOWN_BYTES: usize = 240;

/// Amounts read so far for one plan.
#[derive(Debug, Default)]
pub(crate) struct ParsedAmounts {
    bytes: usize,
    includes: usize,
    sections: usize,
    options: usize,
    /// Whether a limit was exceeded, which ends all reading.
    exceeded: bool,
}

/// Splits job files into sections.
pub(crate) struct FileReader<'a> {
    pub(crate) dialect: Dialect,
    pub(crate) source: &'a dyn HostSource,
    pub(crate) diagnostics: &'a mut Vec<Problem>,
    pub(crate) spent: &'a mut ParsedAmounts,
}

impl FileReader<'_> {
    /// Splits the text of the file `name` into sections.
    pub(crate) fn read(&mut self, name: &str, bytes: &[u8]) -> RawFile {
        let mut file = RawFile::default();
        self.lines(name, bytes, &mut file, 0);
        file
    }

    fn lines(&mut self, name: &str, bytes: &[u8], file: &mut RawFile, depth: usize) {
        let source: Arc<str> = Arc::from(name);
        self.spent.bytes += bytes.len();
        if self.spent.bytes > limits::TEXT_BYTES_MAX {
            let place = Place { source, line: 1, column: 1, length: 0, text: Arc::from("") };
            let message = format!("job text exceeds {}", Bytes::new(limits::TEXT_BYTES_MAX as u64));
            let help = "name a job file; split a long one into several runs";
            return self.exceed(ProblemCode::TooMuchText, message, place, help);
        }
        for (index, bytes) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if self.spent.exceeded || self.diagnostics.len() >= limits::PROBLEMS_MAX {
                return;
            }
            let short = bytes.len() < limits::LINE_BYTES_MAX;
            let shown = if short { bytes } else { &bytes[..SHOWN_BYTES] };
            let line = JobLine::new(&source, index + 1, &String::from_utf8_lossy(shown));
            if !short {
                self.refuse_long(&line, bytes.len());
            } else if self.check_encoding(&line, bytes) {
                self.line(&line, file, depth);
            }
        }
    }

    /// Reports an exceeded limit and stops reading all files.
    fn exceed(&mut self, code: ProblemCode, message: String, place: Place, help: &str) {
        if !self.spent.exceeded {
            self.diagnostics.push(Problem::error(code, message).at(place).help(help));
        }
        self.spent.exceeded = true;
    }

    fn refuse_long(&mut self, line: &JobLine, length: usize) {
        let most = limits::LINE_BYTES_MAX;
        self.diagnostics.push(
            Problem::error(ProblemCode::TooMuchText, format!("the line has {length} bytes, more than {most}"))
                .at(line.place.part(0, 1))
                .note("fio splits it")
                .help("write a shorter line"),
        );
    }

    /// Reports whether the line is text: all of it in the strict dialect, the part before a comment in fio's. Replacing
    /// invalid bytes could name another file.
    fn check_encoding(&mut self, line: &JobLine, bytes: &[u8]) -> bool {
        let counts = bytes.split(|byte| b";#".contains(byte)).next().unwrap_or_default();
        let is_text = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok();
        let strict = self.dialect == Dialect::Strict;
        let good = if strict { is_text(bytes) && !bytes.contains(&0) } else { is_text(counts) };
        if !good {
            self.diagnostics.push(
                Problem::error(ProblemCode::Encoding, "the line is not plain UTF-8 text")
                    .at(line.place.clone())
                    .help("save the job file as UTF-8; link to files with other names under a UTF-8 name"),
            );
        }
        good || (strict && is_text(counts))
    }

    fn line(&mut self, line: &JobLine, file: &mut RawFile, depth: usize) {
        let body = line.body();
        if body.is_empty() {
            return;
        }
        if let Some(title) = body.strip_prefix('[') {
            self.section(line, title, file, depth);
        } else if let Some(path) = body.strip_prefix("include") {
            self.include(line, path, file, depth);
        } else if let Some(job) = file.jobs.last_mut() {
            self.spent.options += 1;
            if self.spent.options > limits::OPTIONS_MAX {
                let message = format!("more than {} options", limits::OPTIONS_MAX);
                return self.exceed(
                    ProblemCode::TooManyOptions,
                    message,
                    line.place_of(body),
                    "split the jobs into several runs",
                );
            }
            let option = self.option(line, body);
            job.options.push(option);
        } else {
            let diagnostic = Problem::error(ProblemCode::Section, format!("`{body}` precedes the first section"));
            self.diagnostics
                .push(diagnostic.at(line.place_of(body)).help("start with `[global]` or the name of a job, `[name]`"));
        }
    }

    /// Begins a section. As in fio, its title is the text after `[` without its last character, even if that is not
    /// `]`.
    fn section(&mut self, line: &JobLine, rest: &str, file: &mut RawFile, depth: usize) {
        let mut title = rest.to_owned();
        title.pop();
        let place = line.place_of(line.body());
        if depth > 0 {
            self.diagnostics.push(
                Problem::error(ProblemCode::Include, "an included file must not contain sections")
                    .at(place.clone())
                    .help("pass the file to the command as a separate job file"),
            );
        }
        if !rest.ends_with(']') || title.contains(']') {
            self.strict(
                Problem::error(ProblemCode::Section, "unexpected text after the section title")
                    .at(place.clone())
                    .note(format!("fio names the job `{title}`"))
                    .help("write `[name]` on its own line"),
            );
        }
        self.spent.sections += 1;
        if self.spent.sections > limits::SECTIONS_MAX {
            let message = format!("more than {} sections", limits::SECTIONS_MAX);
            return self.exceed(ProblemCode::TooManyJobs, message, place, "use `numjobs=` for identical workers");
        }
        let global = title.starts_with("global");
        file.jobs.push(RawJob { title, place, options: Vec::new(), global, ordered: false });
    }

    fn include(&mut self, line: &JobLine, rest: &str, file: &mut RawFile, depth: usize) {
        // fio compares the first seven letters only and takes the eighth for a blank.
        let path = rest.get(1..).unwrap_or("").trim();
        let place = line.place_of(line.body());
        if !rest.starts_with([' ', '\t']) {
            self.strict(
                Problem::error(ProblemCode::Include, "a space is missing after `include`")
                    .at(place.clone())
                    .note(format!("fio includes the file `{path}`"))
                    .help("write `include FILE`"),
            );
        }
        self.spent.includes += 1;
        let help = "check whether a file includes itself";
        if depth >= limits::INCLUDE_DEPTH_MAX {
            return self.exceed(ProblemCode::Include, "includes are nested too deep".to_owned(), place, help);
        }
        if self.spent.includes > limits::INCLUDES_MAX {
            let message = format!("more than {} included files", limits::INCLUDES_MAX);
            return self.exceed(ProblemCode::Include, message, place, help);
        }
        match self.open_include(path, &line.place.source) {
            Ok((name, bytes)) => self.lines(&name, &bytes, file, depth + 1),
            Err(problem) => {
                let problem = problem.of(format_args!("`{path}` cannot be included")).at(place);
                self.diagnostics.push(Problem { code: ProblemCode::Include, ..problem });
            }
        }
    }

    /// Opens a path relative to the working directory, or else to the directory of the including file.
    fn open_include(&self, path: &str, including: &str) -> Result<(String, Vec<u8>), Problem> {
        let first = self.source.read(path);
        let beside = including.rsplit_once('/').map(|(directory, _)| format!("{directory}/{path}"));
        match (first, beside.filter(|_| !path.starts_with('/'))) {
            (Ok(bytes), _) => Ok((path.to_owned(), bytes)),
            (Err(reason), None) => Err(reason),
            (Err(_), Some(beside)) => self.source.read(&beside).map(|bytes| (beside, bytes)),
        }
    }

    fn option(&mut self, line: &JobLine, body: &str) -> RawOption {
        let whole = line.place_of(body);
        let Expanded { text, unset, unusable } = expand::environment(body, self.source);
        if let Some((name, why)) = unusable {
            let message = format!("the environment variable `{name}` {why}");
            self.diagnostics.push(
                Problem::error(ProblemCode::UnsetVariable, message).at(whole.clone()).help("set it to another value"),
            );
        }
        let mut option = split_option(&text, &whole, text == body);
        option.cut = line.cut();
        option.unset = unset;
        if let Some(value) = &mut option.value {
            match expand::keywords(value, self.source) {
                Ok(replaced) if replaced == *value => {}
                Ok(replaced) => {
                    option.verbatim = false;
                    *value = replaced;
                }
                Err(problem) => self.diagnostics.push(problem.at(option.value_place.clone())),
            }
        }
        option
    }

    fn strict(&mut self, diagnostic: Problem) {
        if self.dialect == Dialect::Strict {
            self.diagnostics.push(diagnostic);
        }
    }
}

/// Splits `key=value`. `verbatim` says whether `text` is unchanged from the text at `place`.
pub(crate) fn split_option(text: &str, place: &Place, verbatim: bool) -> RawOption {
    let chars = |text: &str| text.chars().count();
    let (key, value) = text.split_once('=').map_or((text, None), |(key, value)| (key, Some(value.to_owned())));
    let key_place = place.part(0, chars(key.trim_end()));
    let value_place = match &value {
        Some(_) if verbatim => place.part(chars(key) + 1, place.length),
        Some(_) => written_value(place),
        None => key_place.clone(),
    };
    RawOption { key: key.trim().to_owned(), value, key_place, value_place, verbatim, cut: None, unset: Vec::new() }
}

/// Returns the place of the value in a line whose variables have been replaced.
fn written_value(place: &Place) -> Place {
    let written = place.text.chars().skip(place.column - 1).take(place.length);
    let key = written.take_while(|c| *c != '=').count();
    place.part(key + 1, place.length)
}

struct JobLine {
    /// The line without credentials.
    place: Place,
    text: String,
}

impl JobLine {
    fn new(source: &Arc<str>, number: usize, text: &str) -> Self {
        let text = text.trim_end_matches(['\r', '\n']);
        let shown = redacted_line(text);
        let (length, shown) = (shown.chars().count(), Arc::from(shown));
        let place = Place { source: Arc::clone(source), line: number, column: 1, length, text: shown };
        Self { place, text: text.to_owned() }
    }

    /// Returns the line without comment and surrounding blanks.
    fn body(&self) -> &str {
        let text = self.text.trim();
        text[..text.find([';', '#']).unwrap_or(text.len())].trim()
    }

    /// Returns the place of the comment.
    fn cut(&self) -> Option<Place> {
        let at = self.text.find([';', '#'])?;
        Some(self.place.part(self.text[..at].chars().count(), usize::MAX))
    }

    /// Returns the place of `body`.
    fn place_of(&self, body: &str) -> Place {
        let start = self.text.chars().take_while(|c| c.is_whitespace()).count();
        self.place.part(start, body.chars().count())
    }
}
