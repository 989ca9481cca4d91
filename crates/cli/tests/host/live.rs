//! `--live` in a pseudo-terminal: start, resizing, end, and restoring of the terminal.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::common::json::Json;
use crate::common::{Scratch, TIME_LIMIT, WAIT_MAX, fathom, operations_in, run, wait_for, words};

const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";
const NULL: &str = "--name=n --ioengine=null --rw=randread --bs=4k --size=1g --iodepth=8 --time_based";

/// A pseudo-terminal in which Fathom runs, created by `script` of util-linux.
struct Terminal {
    script: Child,
    shown: Arc<Mutex<Vec<u8>>>,
    /// Takes what is shown, until the terminal is closed.
    reader: Option<JoinHandle<()>>,
    scratch: Scratch,
}

impl Terminal {
    /// Runs Fathom with a command line. The terminal's modes before and after are saved.
    fn run(line: &str) -> Self {
        Self::run_with("", line)
    }

    /// Runs Fathom with environment variables in shell syntax.
    fn run_with(variables: &str, line: &str) -> Self {
        let scratch = Scratch::new();
        let file = |name: &str| scratch.text(name);
        let command = format!(
            "stty cols 100 rows 30; stty -g > {}; tty > {}; sh -c 'echo $$ > {}; {variables} exec {} {line} --events {}' > {}; echo $? > {}; stty -g > {}",
            file("before"),
            file("tty"),
            file("pid"),
            env!("CARGO_BIN_EXE_fathom"),
            file("events"),
            file("out"),
            file("code"),
            file("after")
        );
        let mut script = Command::new("script")
            .args(["-qfc", &command, "/dev/null"])
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .env("FATHOM_NO_RECORD", "1")
            .env_remove("NO_COLOR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("script of util-linux is installed");
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (mut out, seen) = (script.stdout.take().unwrap(), Arc::clone(&shown));
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = out.read(&mut buffer) {
                seen.lock().unwrap().extend_from_slice(&buffer[..read]);
            }
        });
        Self { script, shown, reader: Some(reader), scratch }
    }

    /// Returns everything written to the terminal.
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap()).into_owned()
    }

    /// Waits until a text appears behind `from`. Returns the position after it.
    #[track_caller]
    fn wait_for(&self, from: usize, what: &str) -> usize {
        let began = Instant::now();
        loop {
            let text = self.text();
            if let Some(at) = text.get(from..).and_then(|text| text.find(what)) {
                return from + at + what.len();
            }
            assert!(began.elapsed() < WAIT_MAX, "timeout while waiting for {what:?} in {:?}", text.get(from..));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn press(&mut self, keys: &str) {
        self.script.stdin.as_mut().unwrap().write_all(keys.as_bytes()).unwrap();
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.scratch.path(name)).unwrap_or_default().trim().to_owned()
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([&format!("-{name}"), &self.read("pid")]).status();
        assert!(sent.is_ok_and(|status| status.success()));
    }

    /// Waits until the run has completed operations: one stopped before has no results.
    #[track_caller]
    fn wait_for_operations(&self) {
        wait_for("operations", || operations_in(&self.scratch.path("events")) > 0);
    }

    /// Waits until the run has reported its progress twice.
    #[track_caller]
    fn wait_for_progress(&self) {
        let reports = || self.read("events").matches("\"ios\":").count();
        let before = reports();
        wait_for("progress", || reports() >= before + 2);
    }

    /// Returns the state of the process as in `ps`: `T` while it is stopped.
    fn state(&self) -> String {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.read("pid"))).unwrap_or_default();
        stat.rsplit_once(") ").map_or_else(String::new, |(_, rest)| rest[..1].to_owned())
    }

    /// Waits for the end, and checks that the terminal is restored. Returns the exit code and standard output.
    #[track_caller]
    fn end(mut self) -> (String, String) {
        let began = Instant::now();
        while self.script.try_wait().unwrap().is_none() {
            assert!(began.elapsed() < TIME_LIMIT, "it does not end: {}", self.text());
            std::thread::sleep(Duration::from_millis(10));
        }
        self.reader.take().unwrap().join().unwrap();
        let text = self.text();
        assert_eq!(text.matches(ENTER).count(), text.matches(LEAVE).count(), "the screen is left as often as entered");
        assert!(text.rfind(LEAVE) > text.rfind(ENTER) && text.rfind("\x1b[?25h") > text.rfind("\x1b[?25l"), "{text:?}");
        assert_eq!(self.read("before"), self.read("after"), "the modes of the terminal have changed");
        (self.read("code"), std::fs::read_to_string(self.scratch.path("out")).unwrap())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

#[test]
fn the_screen_starts_resizes_and_stops_at_a_key() {
    let mut terminal = Terminal::run(&format!("run --live {NULL} --runtime=3000 --format json"));
    let begun = terminal.wait_for(0, ENTER);
    let drawn = terminal.wait_for(begun, "service latency");
    terminal.press("?");
    let help = terminal.wait_for(drawn, "press any key to close");
    terminal.press("x");
    let back = terminal.wait_for(help, "service latency");
    terminal.press("-p");
    // Only changed cells are written, of `2 min ago` one digit.
    let paused = terminal.wait_for(back, "display paused");
    let resized = Command::new("stty").args(["-F", &terminal.read("tty"), "cols", "20", "rows", "5"]).status();
    assert!(resized.is_ok_and(|status| status.success()));
    terminal.wait_for(paused, "q stop");
    terminal.press("q");
    let (code, out) = terminal.end();
    assert_eq!(code, "130");
    assert_eq!(Json::read(&out).text("outcome"), "interrupted");
}

#[test]
fn the_terminal_is_restored_at_the_end_and_results_are_printed() {
    let terminal = Terminal::run(&format!("run --live {NULL} --runtime=1"));
    terminal.wait_for(0, ENTER);
    let (code, out) = terminal.end();
    assert!(["0", "4"].contains(&code.as_str()), "{code}");
    assert!(out.contains("IOPS") && !out.contains('\x1b'), "{out}");
}

#[test]
fn the_terminal_is_restored_after_a_signal() {
    for (name, code) in [("TERM", "143"), ("INT", "130")] {
        let terminal = Terminal::run(&format!("run --live {NULL} --runtime=3000"));
        let begun = terminal.wait_for(0, ENTER);
        terminal.wait_for(begun, "IOPS");
        terminal.wait_for_operations();
        terminal.signal(name);
        let (found, out) = terminal.end();
        assert_eq!(found, code);
        assert!(out.contains("IOPS"), "results so far: {out}");
    }
}

#[test]
fn a_stopped_process_has_restored_the_terminal() {
    let mut terminal = Terminal::run(&format!("run --live {NULL} --runtime=3000"));
    let begun = terminal.wait_for(0, ENTER);
    terminal.wait_for(begun, "IOPS");
    terminal.signal("TSTP");
    let left = terminal.wait_for(begun, LEAVE);
    wait_for("the process to stop", || terminal.state() == "T");
    assert_eq!(terminal.read("before"), {
        let of = Command::new("stty").args(["-F", &terminal.read("tty"), "-g"]).output().unwrap();
        String::from_utf8_lossy(&of.stdout).trim().to_owned()
    });
    terminal.signal("CONT");
    let again = terminal.wait_for(left, ENTER);
    terminal.wait_for(again, "service latency");
    terminal.press("q");
    assert_eq!(terminal.end().0, "130");
}

#[test]
fn messages_are_printed_after_the_screen() {
    let mut terminal = Terminal::run(&format!("run --live {NULL} --runtime=3000"));
    let begun = terminal.wait_for(0, ENTER);
    let drawn = terminal.wait_for(begun, "service latency");
    terminal.signal("USR1");
    terminal.wait_for_progress();
    assert!(!terminal.text()[drawn..].contains("operations in"), "messages are written over the screen");
    terminal.press("q");
    let left = terminal.wait_for(drawn, LEAVE);
    terminal.wait_for(left, "ANSWER");
    assert_eq!(terminal.end().0, "130");
}

#[test]
fn the_state_of_a_model_is_on_the_screen() {
    let volume = "aws/gp2,size=100GiB";
    let mut terminal = Terminal::run(&format!(
        "run --live --on {volume} --name=m --rw=randread --iodepth=64 --runtime=3000 --time_based"
    ));
    let begun = terminal.wait_for(0, ENTER);
    terminal.wait_for(begun, "throttles");
    terminal.wait_for(begun, "credits");
    terminal.press("q");
    assert_eq!(terminal.end().0, "130");
}

#[test]
fn without_a_terminal_live_is_refused() {
    let scratch = Scratch::new();
    let line = format!("--name=a --filename={} --rw=write --size=1m", scratch.text("data"));
    for (words_of, message) in [
        (format!("run --live {line}"), "--live: standard error is not a terminal"),
        (format!("run --live --progress plain {line}"), "cannot be used with"),
        ("sim --live --on hdd/7200rpm --name=a --rw=randread".to_owned(), "use `fathom run --on VOLUME --live`"),
    ] {
        let outcome = run(&mut fathom(words(&words_of))).expect_code(2);
        assert!(outcome.stderr.contains(message) && outcome.stdout.is_empty(), "{words_of}: {}", outcome.stderr);
    }
    assert!(scratch.names().is_empty());
}

/// f52613e died at the second signal and left the terminal raw, on the alternate screen and without a cursor.
#[test]
fn the_terminal_is_restored_after_two_and_three_signals() {
    for count in [2, 3] {
        let terminal = Terminal::run(&format!("run --live {NULL} --runtime=3000"));
        let begun = terminal.wait_for(0, ENTER);
        terminal.wait_for(begun, "IOPS");
        terminal.wait_for_operations();
        for _ in 0..count {
            let _ = Command::new("kill").args(["-INT", &terminal.read("pid")]).output();
            std::thread::sleep(Duration::from_millis(10));
        }
        let (code, out) = terminal.end();
        assert_eq!(code, "130");
        assert!(count == 3 || out.contains("IOPS"), "results so far: {out}");
    }
}

/// Not tried on f52613e, which cannot be made to panic at a given place. By its code, the exit code was that of the
/// run.
#[test]
fn a_panicking_screen_restores_the_terminal() {
    let terminal = Terminal::run_with("fathom_panic_at=live", &format!("run --live {NULL} --runtime=3"));
    let (code, out) = terminal.end();
    assert_eq!(code, "3");
    assert!(out.contains("IOPS"), "{out}");
}

/// f52613e was killed by SIGHUP without printing or saving results.
#[test]
fn results_are_saved_when_the_terminal_closes() {
    let file = Scratch::new();
    let mut terminal = Terminal::run(&format!("run --live {NULL} --runtime=3000 -o {}", file.text("out.json")));
    let begun = terminal.wait_for(0, ENTER);
    terminal.wait_for(begun, "IOPS");
    terminal.script.kill().unwrap();
    terminal.script.wait().unwrap();
    let saved = || std::fs::read_to_string(file.path("out.json")).unwrap_or_default();
    wait_for("results", || saved().ends_with("}\n"));
    assert_eq!(Json::read(&saved()).text("outcome"), "interrupted");
}
