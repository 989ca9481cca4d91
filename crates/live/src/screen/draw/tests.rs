//! Compares screens of synthetic figures, cell by cell, with the files in `screens`. To accept a change, run
//! `FATHOM_ACCEPT=1 cargo test -p live` and review the difference.

use std::path::Path;

use super::*;
use crate::screen::sampler::{ScreenSampler, example};

/// Returns the text of a screen.
fn text(buffer: &Buffer) -> String {
    let row = |y| {
        let row: String = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect();
        row.trim_end().to_owned() + "\n"
    };
    (0..buffer.area.height).map(row).collect()
}

fn drawn(view: &ScreenView<'_>, width: u16, height: u16) -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, width, height));
    draw(view, &mut buffer, Colours::Many);
    buffer
}

#[track_caller]
fn assert_screen(name: &str, view: &ScreenView<'_>, width: u16, height: u16) {
    let found = text(&drawn(view, width, height));
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/screen/draw/screens").join(format!("{name}.txt"));
    if std::env::var_os("FATHOM_ACCEPT").is_some() {
        std::fs::write(&path, &found).expect("the expected screen is written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{name} is drawn differently; it is now\n{found}");
}

/// Returns the view of a synthetic run.
fn view<'a>(facts: &'a [JobFacts], sampler: &'a ScreenSampler) -> ScreenView<'a> {
    ScreenView {
        title: "fathom run",
        lead: "",
        making: None,
        elapsed: Duration::from_secs(42),
        eta: Some(Duration::from_secs(78)),
        fraction: Some(0.35),
        jobs: facts.iter().zip(&sampler.jobs).collect(),
        all: &sampler.all,
        chosen: None,
        window: Duration::from_secs(60),
        limits: &sampler.limits,
        notes: &[],
        metrics: None,
        paused: false,
        help: false,
    }
}

#[test]
fn a_read_job_fills_screens_of_every_size() {
    let (facts, sampler) = example::reads();
    let view = view(&facts, &sampler);
    assert_screen("reads-80x24", &view, 80, 24);
    assert_screen("reads-120x40", &view, 120, 40);
    assert_screen("reads-20x5", &view, 20, 5);
}

#[test]
fn reads_and_writes_have_separate_graphs_and_limits_are_named() {
    let (facts, sampler) = example::mixed_on_a_model();
    let notes = ["logs: /mnt/x cannot be opened: Permission denied; run as its owner".to_owned()];
    let metrics = Some("http://127.0.0.1:9184/metrics");
    let view = ScreenView { chosen: Some(0), notes: &notes, metrics, ..view(&facts, &sampler) };
    assert_screen("mixed-100x30", &view, 100, 30);
    assert_screen("mixed-200x60", &view, 200, 60);
    assert_screen("mixed-60x16", &ScreenView { paused: true, ..view }, 60, 16);
}

#[test]
fn a_long_job_list_scrolls_to_the_chosen_job() {
    let (facts, sampler) = example::many(40);
    let view = ScreenView { chosen: Some(20), ..view(&facts, &sampler) };
    let screen = text(&drawn(&view, 100, 30));
    assert!(screen.contains("job-20") && !screen.contains("job-39") && screen.contains(" of 41"), "{screen}");
    assert!(text(&drawn(&ScreenView { chosen: Some(39), ..view }, 100, 30)).contains("job-39"));
}

#[test]
fn layout_progress_and_help_are_drawn_before_the_run() {
    let sampler = ScreenSampler::new();
    let making = FileProgress { path: "/data/test.bin".to_owned(), fraction: 0.5 };
    let view = ScreenView { making: Some(&making), fraction: None, eta: None, ..view(&[], &sampler) };
    let screen = text(&drawn(&view, 80, 24));
    assert!(screen.contains(" 50.0%  laying out /data/test.bin"), "{screen}");
    assert_screen("help-80x24", &ScreenView { help: true, ..view }, 80, 24);
}

#[test]
fn no_terminal_size_or_job_name_breaks_the_screen() {
    let (mut facts, sampler) = example::mixed_on_a_model();
    facts[0].name = "\u{1b}[31mnäme\t漢字".repeat(20);
    let original = view(&facts, &sampler);
    for (width, height) in
        [(0, 0), (1, 1), (2, 40), (20, 5), (44, 14), (45, 15), (70, 14), (300, 4), (300, 100), (8, 200)]
    {
        for help in [false, true] {
            for chosen in [None, Some(0), Some(7)] {
                let buffer = drawn(&ScreenView { help, chosen, ..original.clone() }, width, height);
                assert!(!text(&buffer).contains('\u{1b}'), "escape sequences in names must not reach the terminal");
            }
        }
    }
}

#[test]
fn no_cell_is_coloured_without_colours() {
    let (facts, sampler) = example::mixed_on_a_model();
    let mut buffer = Buffer::empty(Rect::new(0, 0, 120, 40));
    draw(&view(&facts, &sampler), &mut buffer, Colours::None);
    assert!(buffer.content.iter().all(|cell| cell.fg == ratatui_core::style::Color::Reset));
}
