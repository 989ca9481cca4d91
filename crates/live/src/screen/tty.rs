//! The terminal of the full screen, restored in all cases.
//!
//! Raw mode, keys and escape sequences are written here, over `rustix`; only the drawing of cells is ratatui's. So
//! Ctrl-C and Ctrl-Z stay signals, and one function restores the terminal, also after a panic.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ratatui_core::buffer::{Buffer, Cell};
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Modifier};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr,
};
use units::{Problem, ProblemCode};

use super::TerminalFeatures;

/// Wait for a key press: shorter than the time between two presses of Ctrl-C, the second of which ends the program at
/// once.
pub(super) const KEY_WAIT: Duration = Duration::from_millis(20);

/// Switches to a cleared alternate screen without cursor and wrapping.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[0m\x1b[2J";
/// Undoes [`ENTER`].
const LEAVE: &str = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";
/// Brackets of a synchronized update; terminals without support ignore them.
const FRAME: (&str, &str) = ("\x1b[?2026h", "\x1b[?2026l");

/// The keyboard and the settings of the terminal before the full screen; `None` without one.
static SAVED: Mutex<Option<(OwnedFd, Termios)>> = Mutex::new(None);

/// Messages held during the full screen.
static HELD: Mutex<String> = Mutex::new(String::new());

/// Restores the terminal and prints held messages. Does nothing without a full screen, and may be called at any time
/// from any thread.
pub fn restore_terminal() {
    // The lock is held for moments only, but a thread that panics while it holds the lock must not wait for itself.
    let saved = (0..50).find_map(|_| match SAVED.try_lock() {
        Ok(mut saved) => Some(saved.take()),
        Err(_) => {
            std::thread::sleep(Duration::from_millis(1));
            None
        }
    });
    if let Some((keys, before)) = saved.flatten() {
        let _ = write(LEAVE);
        let _ = tcsetattr(&keys, OptionalActions::Flush, &before);
        let held = HELD.lock().map(|mut held| std::mem::take(&mut *held)).unwrap_or_default();
        let _ = write(&held);
    }
}

/// Holds a message until the terminal is restored, if a full screen is on. Returns whether it did.
pub fn hold(text: &str) -> bool {
    let saved = SAVED.lock().unwrap_or_else(PoisonError::into_inner);
    if saved.is_some() {
        HELD.lock().unwrap_or_else(PoisonError::into_inner).push_str(text);
    }
    saved.is_some()
}

/// The terminal of standard error and its keyboard.
#[derive(Debug)]
pub(super) struct Tty {
    keys: File,
    /// The current content of the screen; `None` if unknown.
    shown: Option<Buffer>,
    /// Whether the terminal shows characters beyond ASCII.
    unicode: bool,
}

impl Tty {
    /// Opens the terminal, if it can show a full screen.
    ///
    /// # Errors
    /// Why it cannot, with the remedy.
    pub(super) fn open(features: TerminalFeatures) -> Result<Self, Problem> {
        let refused = |why: &str| {
            Problem::error(ProblemCode::Arguments, format!("--live: {why}"))
                .help("leave out --live to print progress as lines")
        };
        if !io::stderr().is_terminal() {
            return Err(refused("standard error is not a terminal"));
        }
        if !features.full_screen {
            return Err(refused("this terminal does not support a full screen (TERM is dumb or unset)"));
        }
        let of_input = || io::stdin().as_fd().try_clone_to_owned().map(File::from).ok();
        let keys = File::open("/dev/tty").ok().or_else(|| of_input().filter(IsTerminal::is_terminal));
        let keys = keys.ok_or_else(|| refused("cannot read keys (/dev/tty cannot be opened)"))?;
        Ok(Self { keys, shown: None, unicode: features.unicode })
    }

    /// Reports whether this process is in the foreground: the kernel stops background jobs that use the terminal.
    pub(super) fn in_foreground(&self) -> bool {
        tcgetpgrp(&self.keys).is_ok_and(|group| group == rustix::process::getpgrp())
    }

    pub(super) fn is_taken(&self) -> bool {
        SAVED.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Switches the terminal to raw mode and the full screen. Keys that send signals still do.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn take(&mut self) -> io::Result<()> {
        self.shown = None;
        let mut saved = SAVED.lock().unwrap_or_else(PoisonError::into_inner);
        let before = match saved.take() {
            Some((_, before)) => before,
            None => tcgetattr(&self.keys)?,
        };
        let mut raw = before.clone();
        raw.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
        raw.input_modes.remove(InputModes::IXON | InputModes::ICRNL);
        raw.special_codes[SpecialCodeIndex::VMIN] = 0;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        // Ctrl-\ would end the program without restoring the terminal.
        raw.special_codes[SpecialCodeIndex::VQUIT] = 0;
        *saved = Some((self.keys.as_fd().try_clone_to_owned()?, before));
        tcsetattr(&self.keys, OptionalActions::Now, &raw)?;
        write(ENTER)
    }

    /// Returns the bytes of pressed keys; waits for [`KEY_WAIT`] if there are none.
    pub(super) fn typed(&mut self) -> Vec<u8> {
        let mut buffer = [0; 64];
        match self.keys.read(&mut buffer) {
            Ok(read) if read > 0 => buffer[..read].to_vec(),
            _ => {
                std::thread::sleep(KEY_WAIT);
                Vec::new()
            }
        }
    }

    /// Returns the size of the screen, 80 by 24 if it is unknown.
    pub(super) fn area(&self) -> Rect {
        let size = tcgetwinsize(io::stderr()).ok().map(|size| (size.ws_col, size.ws_row));
        let (width, height) = size.filter(|(width, height)| *width > 0 && *height > 0).unwrap_or((80, 24));
        Rect::new(0, 0, width.min(1000), height.min(500))
    }

    /// Reports whether the screen has to be redrawn for an area of this size.
    pub(super) fn is_new(&self, area: Rect) -> bool {
        self.shown.as_ref().is_none_or(|shown| shown.area != area)
    }

    /// Shows a screen by writing the cells that differ from the current one.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn show(&mut self, mut screen: Buffer) -> io::Result<()> {
        if !self.unicode {
            screen.content.iter_mut().for_each(in_ascii);
        }
        let mut out = FRAME.0.to_owned();
        let empty = Buffer::empty(screen.area);
        let current = self.shown.as_ref().filter(|shown| shown.area == screen.area);
        if current.is_none() {
            out.push_str("\x1b[0m\x1b[2J");
        }
        let changed = current.unwrap_or(&empty).diff(&screen);
        if current.is_some() && changed.is_empty() {
            return Ok(());
        }
        write_cells(&mut out, &changed);
        out.push_str(FRAME.1);
        self.shown = Some(screen);
        write(&out)
    }
}

fn write(text: &str) -> io::Result<()> {
    let mut out = io::stderr();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Appends the bytes that change cells.
fn write_cells(out: &mut String, changed: &[(u16, u16, &Cell)]) {
    let mut at = None;
    let mut style = None;
    for &(x, y, cell) in changed {
        if at != Some((x, y)) {
            out.push_str(&format!("\x1b[{};{}H", y + 1, x + 1));
        }
        let wanted = (cell.fg, cell.modifier);
        if style != Some(wanted) {
            out.push_str(&sgr(cell.fg, cell.modifier));
            style = Some(wanted);
        }
        out.push_str(cell.symbol());
        // After a symbol that may be wide, the column is set explicitly.
        at = is_narrow(cell.symbol()).then_some((x + 1, y));
    }
    out.push_str("\x1b[0m");
}

/// Reports whether a symbol is certainly one cell wide: ASCII, braille, blocks and lines.
fn is_narrow(symbol: &str) -> bool {
    symbol.is_ascii() || symbol.chars().all(|symbol| ('\u{2500}'..='\u{28ff}').contains(&symbol))
}

fn sgr(colour: Color, modifier: Modifier) -> String {
    let mut codes = "\x1b[0".to_owned();
    for (flag, code) in [(Modifier::BOLD, ";1"), (Modifier::DIM, ";2"), (Modifier::REVERSED, ";7")] {
        if modifier.contains(flag) {
            codes.push_str(code);
        }
    }
    match colour {
        Color::Red => codes.push_str(";31"),
        Color::Green => codes.push_str(";32"),
        Color::Blue => codes.push_str(";34"),
        Color::Magenta => codes.push_str(";35"),
        Color::Cyan => codes.push_str(";36"),
        Color::Indexed(index) => codes.push_str(&format!(";38;5;{index}")),
        _ => {}
    }
    codes.push('m');
    codes
}

/// Replaces the symbol of a cell by ASCII.
fn in_ascii(cell: &mut Cell) {
    let Some(symbol) = cell.symbol().chars().next().filter(|symbol| !symbol.is_ascii()) else { return };
    cell.set_char(match symbol {
        '─' => '-',
        '━' | '█' | '▉' | '▊' | '▋' | '▌' => '#',
        '│' => '|',
        '╭' | '╮' | '╰' | '╯' => '+',
        '▍' | '▎' | '▏' | '·' => '.',
        '≤' => '<',
        '×' => 'x',
        // By the number of dots.
        '\u{2800}'..='\u{28ff}' => {
            [' ', '.', '.', ':', ':', '+', '+', '#', '#'][(symbol as u32 & 0xff).count_ones() as usize]
        }
        _ => '?',
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui_core::style::Style;

    #[test]
    fn only_changed_cells_are_written() {
        let area = Rect::new(0, 0, 8, 2);
        let (before, mut after) = (Buffer::empty(area), Buffer::empty(area));
        after.set_string(2, 1, "ab", Style::new().fg(Color::Indexed(33)).add_modifier(Modifier::BOLD));
        after.set_string(6, 1, "⣿", Style::new());
        let mut out = String::new();
        write_cells(&mut out, &before.diff(&after));
        assert_eq!(out, "\x1b[2;3H\x1b[0;1;38;5;33mab\x1b[2;7H\x1b[0m⣿\x1b[0m");
    }

    #[test]
    fn every_symbol_has_an_ascii_replacement() {
        let shown = |symbol: char| {
            let mut cell = Cell::EMPTY;
            cell.set_char(symbol);
            in_ascii(&mut cell);
            cell.symbol().to_owned()
        };
        assert_eq!("a─╭⣿⡀█≤×ü".chars().map(shown).collect::<String>(), "a-+#.#<x?");
    }
}
