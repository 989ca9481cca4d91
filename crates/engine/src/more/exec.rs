//! The engine `exec`: a program that runs beside the other jobs and never outlives its own.
//!
//! The program leads a process group of its own, so that it and all it starts are ended together. The kernel kills it if
//! its worker's thread ends, whatever the reason. What it starts in another session is out of reach.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use target::spec::ProgramOptions;
use target::{Completion, Op};
use units::Nanos;

use crate::buffers::Buffers;
use crate::cleanup::{self, CleanUp};
use crate::clock::MonotonicClock;
use crate::error::{Error, ErrorKind};
use crate::files::File;
use crate::in_call::InCall;
use crate::opening::{Opening, ProgramUse, TargetFailure};
use crate::sync_target::Perform;
use crate::thread;

/// Time that counts as one operation, as in fio.
const SLICE: Nanos = Nanos::from_millis(50);
/// Interval at which the end of the program is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// Maximum wait for the kernel to end a killed program, which may hang in a device.
const DEATH_TIME: Nanos = Nanos::from_secs(1);

/// Lets time pass while the program runs.
pub(crate) struct Program {
    options: ProgramOptions,
    used: Option<ProgramUse>,
    failure: Arc<TargetFailure>,
    running: Option<RunningProgram>,
    has_begun: bool,
    in_call: Arc<InCall>,
    clock: MonotonicClock,
}

impl Program {
    pub(crate) fn new(setup: &Opening) -> Self {
        Self {
            options: setup.spec.program.clone(),
            used: setup.program.clone(),
            failure: Arc::clone(&setup.failure),
            running: None,
            has_begun: false,
            in_call: setup.in_call.clone().unwrap_or_default(),
            clock: setup.clock,
        }
    }

    fn begin(&mut self) {
        self.has_begun = true;
        let Some(used) = &self.used else { return };
        match RunningProgram::start(&self.options.path, used) {
            Ok(running) => self.running = Some(running),
            Err(error) => self.fail(cannot_run(&self.options.path, &error)),
        }
    }

    /// Takes the exit status if the program has ended. Processes that it left in its group are killed.
    fn look(&mut self) {
        let Some(running) = self.running.take_if(|running| running.has_ended()) else { return };
        let (Some(used), Some(status)) = (&self.used, running.end(Nanos::ZERO, self.clock)) else { return };
        if used.checks_exit && !status.success() {
            let reason = match status.code() {
                Some(code) => format!("it exited with code {code}"),
                None => format!("it was terminated by {status}"),
            };
            let remedy = match &used.output {
                Some(_) => "see its standard error in the job's file NAME.stderr",
                None => "see its standard error",
            };
            let path = self.options.path.as_str();
            self.fail(Error::found(ErrorKind::Engine, "complete", path, reason).with_remedy(remedy));
        }
    }

    /// Records the first failure.
    fn fail(&self, error: Error) {
        let _ = self.failure.error.set(error);
    }

    fn is_over(&self) -> bool {
        self.in_call.is_cancelled() || thread::is_abandoned()
    }
}

fn cannot_run(path: &str, error: &io::Error) -> Error {
    let remedy = match error.raw_os_error() {
        Some(libc::ENOENT) => "correct `program`: it was not found, or its interpreter is missing",
        Some(libc::EACCES) => "use an executable file (see ls -l and chmod +x)",
        Some(libc::ENOEXEC) => "use a program for this host's architecture, or start the script with #!/bin/sh",
        Some(libc::EAGAIN | libc::ENOMEM) => "raise the process and memory limits (ulimit -u, -v)",
        _ => "run it in a shell to find the cause",
    };
    Error::system(ErrorKind::Engine, "run", path, error).with_remedy(remedy)
}

impl Perform for Program {
    fn files(&self) -> &[File] {
        &[]
    }

    fn perform(&mut self, _: &Op, _: &Buffers) -> i32 {
        if !self.has_begun {
            self.begin();
        }
        let has_failed = self.failure.error().is_some();
        let is_outlasted = self.options.outlasts_program;
        if has_failed || self.running.is_none() && !is_outlasted {
            return Completion::ENDED;
        }
        let end = self.clock.now() + SLICE;
        while self.clock.now() < end && !self.is_over() {
            let was_running = self.running.is_some();
            self.look();
            if was_running && self.running.is_none() && !is_outlasted {
                break;
            }
            std::thread::sleep(LOOK_EVERY);
        }
        Completion::WITHOUT_DATA
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.look();
        if let Some(running) = self.running.take() {
            let _ = running.end(self.options.grace, self.clock);
        }
    }
}

/// A program that was started and not yet waited for, so that the number of its group stays its own.
struct RunningProgram {
    child: Child,
    group: Arc<Mutex<Option<libc::pid_t>>>,
    cleanup: CleanUp,
}

impl RunningProgram {
    fn start(path: &str, used: &ProgramUse) -> io::Result<Self> {
        let mut command = Command::new(path);
        command.args(&used.arguments).stdin(Stdio::null()).process_group(0);
        if let Some(output) = &used.output {
            command.stdout(output.0.try_clone()?).stderr(output.1.try_clone()?);
        }
        let parent = std::process::id();
        // SAFETY: between fork and exec, the closure makes two system calls and uses a copied number.
        unsafe { command.pre_exec(move || die_with_parent(parent)) };
        let child = command.spawn()?;
        let group = Arc::new(Mutex::new(libc::pid_t::try_from(child.id()).ok()));
        let ended_at_exit = Arc::clone(&group);
        let cleanup = cleanup::on_exit(move || signal_group(&ended_at_exit, libc::SIGKILL));
        Ok(Self { child, group, cleanup })
    }

    /// Reports whether the program has ended, without waiting for it.
    fn has_ended(&self) -> bool {
        // SAFETY: all zeroes is a valid `siginfo_t`.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let flags = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG;
        // SAFETY: the kernel writes into `info`, which outlives the call.
        let result = unsafe { libc::waitid(libc::P_PID, self.child.id(), &raw mut info, flags) };
        // SAFETY: after success the field is that of a child, or zero.
        result != 0 || unsafe { info.si_pid() } != 0
    }

    /// Waits until the program has ended or `until` has come. Returns at once if the process no longer waits.
    fn wait(&self, until: Nanos, clock: MonotonicClock, is_final: bool) {
        while !self.has_ended() && clock.now() < until && (is_final || !thread::is_abandoned()) {
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Ends the program and its group: with SIGTERM, and `grace` later with SIGKILL. Returns its exit status, unless it
    /// hangs in the kernel.
    fn end(mut self, grace: Nanos, clock: MonotonicClock) -> Option<std::process::ExitStatus> {
        if !self.has_ended() {
            signal_group(&self.group, libc::SIGTERM);
            self.wait(clock.now() + grace, clock, false);
        }
        signal_group(&self.group, libc::SIGKILL);
        self.wait(clock.now() + DEATH_TIME, clock, true);
        // From here on the number may be that of another group.
        lock(&self.group).take();
        let status = self.child.try_wait().ok().flatten();
        self.cleanup.disarm();
        status
    }
}

/// Makes the kernel kill the calling process when the thread that started it ends.
fn die_with_parent(parent: u32) -> io::Result<()> {
    // SAFETY: the call takes only numbers.
    if unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has no requirements.
    if unsafe { libc::getppid() }.cast_unsigned() == parent {
        return Ok(());
    }
    Err(io::Error::from_raw_os_error(libc::ESRCH))
}

fn lock(group: &Mutex<Option<libc::pid_t>>) -> MutexGuard<'_, Option<libc::pid_t>> {
    group.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sends a signal to a process group whose leader was not waited for.
fn signal_group(group: &Mutex<Option<libc::pid_t>>, signal: i32) {
    let group = lock(group);
    if let Some(number) = group.filter(|number| *number > 1) {
        // SAFETY: the call takes only numbers.
        unsafe { libc::kill(-number, signal) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use target::spec::EngineKind;

    fn program(
        path: &str,
        arguments: &[&str],
        change: impl FnOnce(&mut ProgramOptions, &mut ProgramUse),
    ) -> (Program, Buffers) {
        let arguments = arguments.iter().map(|word| (*word).to_owned()).collect();
        let mut used = ProgramUse { arguments, output: None, checks_exit: true };
        let mut options = ProgramOptions { path: path.to_owned(), grace: Nanos::ZERO, ..ProgramOptions::default() };
        change(&mut options, &mut used);
        let setup = Opening {
            program: Some(used),
            ..Opening::new(EngineKind::Exec, 1, 4096, MonotonicClock::start()).with(|spec| spec.program = options)
        };
        (Program::new(&setup), Buffers::new(&setup).unwrap())
    }

    fn step(program: &mut Program, buffers: &Buffers) -> i32 {
        let op = Op { tag: target::Tag(0), kind: units::OpKind::Read, file: 0, offset: 0, length: 4096, skip: 0 };
        program.perform(&op, buffers)
    }

    fn failure(program: &Program) -> String {
        program.failure.error().map_or_else(String::new, Error::to_string)
    }

    #[test]
    fn a_program_that_ends_or_cannot_run_ends_the_job() {
        for (path, arguments, expected) in [
            ("true", &[][..], ""),
            ("/bin/sh", &["-c", "exit 3"], "cannot complete /bin/sh: it exited with code 3"),
            ("/bin/sh", &["-c", "kill -9 $$"], "cannot complete /bin/sh: it was terminated by signal: 9"),
            ("/nonexistent/program", &[], "cannot run /nonexistent/program: No such file"),
            ("/etc", &[], "cannot run /etc: Permission denied"),
        ] {
            let (mut program, buffers) = program(path, arguments, |_, _| {});
            let results: Vec<i32> = (0..100).map(|_| step(&mut program, &buffers)).collect();
            assert!(results.contains(&Completion::ENDED), "{path}");
            let found = failure(&program);
            assert!(found.starts_with(expected) && found.is_empty() == expected.is_empty(), "{path}: {found}");
        }
    }

    #[test]
    fn an_outlasted_program_ends_nothing_and_its_exit_code_may_not_matter() {
        let (mut program, buffers) = program("false", &[], |options, used| {
            options.outlasts_program = true;
            used.checks_exit = false;
        });
        let results: Vec<i32> = (0..10).map(|_| step(&mut program, &buffers)).collect();
        assert_eq!(results, [Completion::WITHOUT_DATA; 10]);
        assert!(program.running.is_none());
        assert_eq!(failure(&program), "");
    }

    /// Reads the processes of a group.
    fn members(group: u32) -> usize {
        let is_member = |entry: &std::fs::DirEntry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
            let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or("").split(' ').collect();
            fields.get(2) == Some(&group.to_string().as_str()) && fields[0] != "Z"
        };
        std::fs::read_dir("/proc").unwrap().flatten().filter(is_member).count()
    }

    /// Time in which the processes of a group have started or ended on any host: a tenth of what they would sleep.
    const AWAITED: Nanos = Nanos::from_secs(60);

    /// Waits until a group has this many processes.
    fn await_members(group: u32, count: usize) {
        let clock = MonotonicClock::start();
        while members(group) != count {
            assert!(clock.now() < AWAITED, "{} processes", members(group));
            std::thread::sleep(LOOK_EVERY);
        }
    }

    #[test]
    fn nothing_of_the_group_is_left_although_it_ignores_sigterm() {
        let script = "trap '' TERM; sleep 600 & sleep 600";
        let (mut program, buffers) =
            program("/bin/sh", &["-c", script], |options, _| options.grace = Nanos::from_millis(200));
        for _ in 0..4 {
            assert_eq!(step(&mut program, &buffers), Completion::WITHOUT_DATA);
        }
        let (group, clock) = (program.running.as_ref().unwrap().child.id(), program.clock);
        await_members(group, 3);
        let before = clock.now();
        drop(program);
        let took = clock.now().since(before);
        assert!(took >= Nanos::from_millis(200) && took < AWAITED, "{took}");
        await_members(group, 0);
    }

    #[test]
    fn what_a_program_leaves_behind_ends_with_it() {
        let pipe = std::env::temp_dir().join(format!("fathom-program-{}", std::process::id()));
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let script = format!("sleep 600 & exec cat {}", pipe.display());
        let (mut program, buffers) = program("/bin/sh", &["-c", &script], |_, _| {});
        step(&mut program, &buffers);
        let group = program.running.as_ref().unwrap().child.id();
        await_members(group, 2);
        // The program ends with its input.
        drop(std::fs::File::options().write(true).open(&pipe).unwrap());
        std::fs::remove_file(pipe).unwrap();
        while step(&mut program, &buffers) != Completion::ENDED {}
        await_members(group, 0);
        assert_eq!(failure(&program), "");
    }
}
