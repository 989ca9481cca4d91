//! `fathom serve`: serves modelled volumes as disks, over NBD.
//!
//! The server runs on the main thread. A supervisor thread waits for signals and for the command of `--run`.

mod supervisor;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use clap::{Args, Subcommand};
use live::EventLog;
use nbd::store::FaultKind;
use report::{ResultDocument, ResultFormat};
use results::serve::ServerStats;
use serve::{
    ControlReply, HostFiles, Located, PreparedServer, RejectionLog, RuntimeDirectory, ServeQuestion, ServeRequest,
};
use supervisor::ServerSupervisor;
use units::{Problem, ProblemCode};

use crate::args::{Details, JSON, OptionWord, ProgressStyle, TEXT, TEXT_OR_JSON, one_of};
use crate::display::Display;
use crate::exit::Exit;
use crate::outputs::{self, Output, deliver_and_print, printed};
use crate::signals::Signals;
use crate::terminal::write_stderr;
use crate::{diagnostics, home, runners, shutdown};

/// Names of the faults that a server can inject.
static FAULTS: LazyLock<Vec<&str>> = LazyLock::new(|| FaultKind::ALL.map(FaultKind::name).to_vec());

/// Serves until a signal, or queries, changes or cleans up after other servers.
pub(crate) fn command(options: &ServeOptions) -> Result<Exit, Exit> {
    let directory =
        RuntimeDirectory::new(std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from), &std::env::temp_dir());
    if options.cleanup {
        return Ok(clean(&directory));
    }
    if let Some(ServeCommand::Control(options)) = &options.command {
        return Ok(control(options));
    }
    let Some(address) = &options.stats else { return run(options, &directory) };
    let served = serve::read_statistics(address, &directory).map_err(Exit::environment)?;
    Ok(outputs::print_text(&printed(
        ResultDocument::Server(&served, &FAULTS),
        options.format.unwrap_or(ResultFormat::Text),
        options.details,
    )))
}

/// Returns a function that reports a system error.
fn failure(what: &'static str) -> impl Fn(std::io::Error) -> Exit {
    move |error| Exit::environment(engine::io_problem(ProblemCode::Host, what, &error))
}

const FILES: HostFiles = HostFiles {
    read_certificate: |path| device::input::read(path, device::input::SMALL),
    read_volume: runners::read_volumes,
};

/// Checks the options, serves until a signal or the end of the command, and reports statistics.
fn run(options: &ServeOptions, directory: &RuntimeDirectory) -> Result<Exit, Exit> {
    let seed = options.request.seed.unwrap_or_else(|| runners::seed_for_many(false));
    let request = ServeRequest { seed: Some(seed), ..options.request.clone() };
    let question = ServeQuestion::read(&request, &FILES).map_err(Exit::invalid)?;
    let gate = device::safety::gate_of_server(&options.allow_destroy, home::ledger().as_deref());
    let refusals = serve::dangers(&request, &question, &gate);
    if !refusals.is_empty() {
        return Err(Exit::invalid(refusals));
    }
    let mut files = Output::open(&options.output, ResultFormat::OF_SERVER).map_err(Exit::invalid)?;
    let signals = Signals::listen(GRACE)?;
    let mut prepared = PreparedServer::set(&request, &question, &gate, directory).map_err(Exit::environment)?;
    let view = prepared.view();
    prepared.tell_others(&view).map_err(failure("cannot start a thread"))?;
    prepared.be_controlled(&question, &view, &FILES).map_err(failure("cannot start a thread"))?;
    let opening = prepared.opening(options.run.clone());
    let display = Display::new(progress(options), EventLog::none());
    let log = RejectionLog::new(prepared.connections_most());
    let supervisor =
        ServerSupervisor { signals: signals.clone(), stopper: prepared.stopper(), view: view.clone(), display, log };
    let supervisor = supervisor.start(opening).map_err(failure("cannot start a thread"))?;
    let run = move || {
        shutdown::panic_if_requested("server");
        prepared.run()
    };
    let done = catch_unwind(AssertUnwindSafe(run));
    let exit = supervisor.join();
    signals.conclude();
    match done {
        Ok(done) => {
            let snapshot = done.map_err(failure("the server failed"))?;
            Ok(conclude(options, &view.of(&snapshot), &mut files, exit))
        }
        // After a panic: the statistics it published last. Its devices are removed already.
        Err(_) => Ok(conclude(options, &view.served(), &mut files, Exit::Environment)),
    }
}

/// Removes devices and files of servers that were killed.
fn clean(directory: &RuntimeDirectory) -> Exit {
    let cleaned = serve::clean(directory);
    let mut text: String = cleaned.removed.iter().map(|what| format!("removed {what}\n")).collect();
    if cleaned.removed.is_empty() && cleaned.errors.is_empty() {
        text = "no devices left by killed servers\n".to_owned();
    }
    let printed = outputs::print_text(&text);
    diagnostics::errors(&cleaned.errors);
    if cleaned.errors.is_empty() { printed } else { Exit::Environment }
}

/// Maximum time for a server to end: five seconds each for the command, devices and requests in flight.
const GRACE: Duration = Duration::from_secs(15);

/// Returns the progress style: off if a command writes to the terminal.
fn progress(options: &ServeOptions) -> ProgressStyle {
    if options.run.is_some() && options.progress == ProgressStyle::Auto { ProgressStyle::Off } else { options.progress }
}

/// Reports statistics: on standard output or, if that belongs to the command of `--run` and no format is given, on
/// standard error.
fn conclude(options: &ServeOptions, served: &ServerStats, files: &mut [Output], exit: Exit) -> Exit {
    let on_stderr = options.format.is_none() && options.run.is_some();
    let result = ResultDocument::Server(served, &FAULTS);
    let text = printed(result, options.format.unwrap_or(ResultFormat::Text), options.details);
    let delivered = deliver_and_print(files, if on_stderr { "" } else { &text }, result);
    if on_stderr {
        write_stderr(&printed(result, ResultFormat::Text, options.details));
    }
    match (exit, delivered) {
        (Exit::Good, delivered) => delivered,
        (exit, _) => exit,
    }
}

/// Sends a command to a server and prints its reply.
fn control(options: &ControlOptions) -> Exit {
    let line = if options.words.is_empty() { "show".to_owned() } else { options.words.join(" ") };
    if line.contains('\n') {
        return Exit::invalid(
            Problem::error(ProblemCode::Arguments, "serve control: the command has several lines")
                .help("write one command at a time"),
        );
    }
    let socket = options.socket.display();
    let reply = match serve::send_command(&options.socket, &line) {
        Ok(reply) => reply,
        Err(error) => {
            let subject = format_args!("serve control: no server accepts commands at {socket}");
            return Exit::environment(engine::io_problem(ProblemCode::Connection, subject, &error));
        }
    };
    let Some(parsed) = ControlReply::parse(&reply) else {
        return Exit::environment(
            Problem::error(ProblemCode::Connection, format!("serve control: unrecognized reply from {socket}"))
                .help("give the --control socket of a server of the same version"),
        );
    };
    let text = match (options.format, &parsed.server) {
        (ResultFormat::Json, _) => reply,
        (_, Some(state)) => report::serve::state(state, &FAULTS),
        (_, None) => String::new(),
    };
    match outputs::print_text(&text) {
        exit if parsed.ok => exit,
        // Errors without a place are not about the command.
        _ if parsed.errors.iter().all(|error| error.column.is_none()) => {
            let problem =
                |error: &Located| format!("{}: {}", error.message, error.remedy.as_deref().unwrap_or_default());
            let problems: Vec<String> = parsed.errors.iter().map(problem).collect();
            Exit::environment(Problem::error(ProblemCode::Connection, problems.join("; ")).of("serve control"))
        }
        _ => Exit::invalid(parsed.errors.iter().map(|error| error.diagnostic(&line)).collect::<Vec<_>>()),
    }
}

pub(crate) const HELP: &str = "\
Without VOLUME there is no model: the server replies at the speed of its backing. Volumes are named as for \
`fathom sim --on`. Volumes on one machine share its limits; host=NAME puts them on different machines.

Backings: memory (only written blocks take memory), zero, pattern and random (read-only content), \
file:PATH (created if missing), copy:PATH (changes in memory over an image that is never written).

Faults are random, with --seed. CHANCE is a probability per operation, from 0 to 1 or as a percentage:
  eio=CHANCE                reads and writes fail with EIO
  flush_eio=CHANCE          flushes fail with EIO
  enospc=CHANCE             writes fail with ENOSPC
  torn=CHANCE               writes stop in the middle and fail with EIO
  lost=CHANCE               writes succeed but change nothing
  corrupt=CHANCE            reads return one flipped bit; stored data stays
  stall=CHANCE:TIME         replies to any operation are late
  flush_stall=CHANCE:TIME   replies to flushes are late
  disconnect=CHANCE         connections break

--run sets the variables uri, unixsocket, exportname, port, statistics, control and device for its command, \
and exits with the command's exit code.

Examples:
  fathom serve aws/gp3,size=100GiB --run 'nbdinfo \"$uri\"'
  fathom serve aws/gp3,size=100GiB --device --run 'mkfs.ext4 -q $device'
  fathom serve hdd/7200rpm --backing file:disk.img --listen 127.0.0.1:10809

Exit codes:
  0 served until stopped
  2 usage, nothing was touched
  3 I/O or environment error
  with --run: the command's exit code";

const CONTROL_HELP: &str = "\
Commands:
  show                         print volumes, faults and fault counts
  faults FAULTS                inject these faults and no others (see --faults)
  faults none                  inject none
  limits [EXPORT] KEY=VALUE,.. set keys of the volume (see `fathom catalog`);
                               the value `none` restores the default
  limits [EXPORT] reset        restore the volume as it was at the start

A command applies to all requests that the server reads later. Requests in flight keep their times and \
results. A refused command changes nothing.

Examples:
  fathom serve control /run/disk.control
  fathom serve control /run/disk.control limits iops=500,throughput=20MiB/s
  fathom serve control /run/disk.control faults eio=1%,flush_stall=100%:2s

Exit codes: 0 done, 2 refused: nothing was changed, 3 no server answers";

/// Options of `fathom serve`.
#[derive(Clone, Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
pub(crate) struct ServeOptions {
    #[command(subcommand)]
    command: Option<ServeCommand>,
    #[command(flatten)]
    request: ServeRequest,
    /// Permit writes of clients to this device or file even if it holds data or is in use (repeatable)
    #[arg(long, value_name = "TARGET", help_heading = "Safety")]
    allow_destroy: Vec<PathBuf>,
    /// Remove block devices left by killed servers, and exit
    #[arg(long, conflicts_with_all = ["volume", "export", "run", "listen", "socket", "metrics", "stats", "device", "control"], help_heading = "Control")]
    cleanup: bool,
    /// Run CMD with sh, and stop when it exits
    #[arg(long, value_name = "CMD", help_heading = "Control")]
    run: Option<String>,
    /// Print the statistics of the running server at this socket or address
    #[arg(long, value_name = "SOCKET|URI", conflicts_with_all = ["volume", "export", "run", "listen", "socket", "metrics", "control"], help_heading = "Output")]
    stats: Option<String>,
    /// Format of the final statistics [default: text; with --run on standard error]
    #[arg(long, value_parser = one_of(FORMATS), help_heading = "Output")]
    format: Option<ResultFormat>,
    /// Write additional output to FILE: .json .txt .prom (repeatable)
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    output: Vec<PathBuf>,
    #[command(flatten)]
    details: Details,
    /// Show progress on standard error
    #[arg(long, value_enum, default_value_t = ProgressStyle::Auto, help_heading = "Output")]
    progress: ProgressStyle,
}

#[derive(Clone, Debug, Subcommand)]
enum ServeCommand {
    /// Change limits and faults of a running server, and count the faults it injected
    #[command(override_usage = "fathom serve control [OPTIONS] SOCKET [COMMAND...]", after_help = CONTROL_HELP)]
    Control(ControlOptions),
}

#[derive(Clone, Debug, Args)]
struct ControlOptions {
    /// Socket given to the server with --control
    #[arg(value_name = "SOCKET")]
    socket: PathBuf,
    /// show, faults FAULTS or limits [EXPORT] KEY=VALUE,... [default: show]
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
    /// Format of standard output
    #[arg(long, value_parser = one_of(TEXT_OR_JSON), default_value = "text")]
    format: ResultFormat,
}

const FORMATS: &[OptionWord<ResultFormat>] =
    &[TEXT, JSON, ("openmetrics", "OpenMetrics, for Prometheus", ResultFormat::OpenMetrics)];
