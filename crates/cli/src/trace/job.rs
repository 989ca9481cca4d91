//! `--to-job`: a job that behaves like the trace.

use std::path::{Path, PathBuf};

use engine::describe;
use engine::gate::ResultFile;
use procedure::synthesis::{JobFile, SynthesisRunError};
use trace::{SynthesizedJob, TraceStudy};

use crate::exit::Exit;
use crate::outputs;
use crate::runners;
use crate::signals::Signals;

/// The file of a job, opened before the trace is read.
pub(super) struct JobOutput {
    path: PathBuf,
    file: ResultFile,
}

impl JobOutput {
    pub(super) fn open(path: &Path) -> Result<Self, Exit> {
        outputs::claim_as("--to-job", path).map_err(Exit::usage)?;
        let denied = |denied| Exit::usage(format!("--to-job {}: {denied}", path.display()));
        Ok(Self { path: path.to_owned(), file: ResultFile::open(path).map_err(denied)? })
    }

    /// Writes the job, and adds its distance from the trace to the study.
    pub(super) fn write(
        mut self,
        job: &SynthesizedJob,
        traces: &[PathBuf],
        mut study: TraceStudy,
        control: &Signals,
    ) -> Result<TraceStudy, Exit> {
        let name = self.path.display().to_string();
        let file = JobFile { job, name: &name };
        let text = file.write(&mut study);
        let written = self.file.write(text.as_bytes());
        written.map_err(|error| Exit::environment(format!("--to-job {name}: {}", describe(&error))))?;
        let path = match traces {
            [one] if one.is_file() => one.to_str().ok_or_else(|| "its path is not UTF-8".to_owned()),
            [_] => Err("the trace can be read only once; name a file to compare".to_owned()),
            _ => Err("the trace has several files; copy it with -o FILE.trace to compare".to_owned()),
        };
        let compared = file.compare(&text, path, &mut study, &runners::models(), control);
        compared.map(|()| study).map_err(|error| match error {
            SynthesisRunError::Problems(problems) => Exit::invalid(problems),
            SynthesisRunError::Failed(why) => Exit::environment(why),
        })
    }
}
