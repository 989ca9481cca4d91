//! Graphs in braille characters, eight dots per cell.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use super::canvas::Canvas;

/// The dots of a cell's two columns, from bottom to top.
const DOTS: [[u32; 4]; 2] = [[0x40, 0x04, 0x02, 0x01], [0x80, 0x20, 0x10, 0x08]];
const BRAILLE: u32 = 0x2800;

/// Returns the number of braille dots across an area.
pub(super) fn dots(area: Rect) -> usize {
    usize::from(area.width) * 2
}

struct DotGrid {
    width: usize,
    height: usize,
    cells: Vec<u32>,
}

impl DotGrid {
    fn new(area: Rect) -> Self {
        let (width, height) = (usize::from(area.width), usize::from(area.height));
        Self { width, height, cells: vec![0; width * height] }
    }

    /// Sets a dot, counted from the lower left.
    fn set(&mut self, x: usize, y: usize) {
        let (column, row) = (x / 2, y / 4);
        if column < self.width && row < self.height {
            self.cells[(self.height - 1 - row) * self.width + column] |= DOTS[x % 2][y % 4];
        }
    }

    /// Draws the cells that hold a dot, together with the dots that are already drawn there.
    fn draw(&self, canvas: &mut Canvas<'_>, area: Rect, style: Style) {
        for (index, &bits) in self.cells.iter().enumerate().filter(|(_, bits)| **bits > 0) {
            let (x, y) = (area.x + (index % self.width) as u16, area.y + (index / self.width) as u16);
            let drawn = canvas.buffer.cell((x, y)).and_then(|cell| cell.symbol().chars().next());
            let drawn = drawn.map_or(0, |symbol| symbol as u32).checked_sub(BRAILLE).filter(|bits| *bits < 0x100);
            let symbol = char::from_u32(BRAILLE | bits | drawn.unwrap_or(0));
            symbol.into_iter().for_each(|symbol| canvas.cell(x, y, symbol, style));
        }
    }
}

/// Fills the area under values between 0 and `top`, one for each column of dots.
pub(super) fn filled(canvas: &mut Canvas<'_>, area: Rect, values: &[f32], top: f64, style: Style) {
    let mut grid = DotGrid::new(area);
    let height = grid.height * 4;
    for (x, &value) in values.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
        let fraction = if top > 0.0 { f64::from(value) / top } else { 0.0 };
        // A known 0 gets a dot, unlike an unknown value.
        let dots = ((fraction * height as f64).round() as usize).clamp(1, height.max(1));
        (0..dots).for_each(|y| grid.set(x, y));
    }
    grid.draw(canvas, area, style);
}

/// Draws a line through values on a logarithmic scale, one for each column of dots.
pub(super) fn line(canvas: &mut Canvas<'_>, area: Rect, values: &[f32], scale: GraphScale, style: Style) {
    let mut grid = DotGrid::new(area);
    let highest = (grid.height * 4).saturating_sub(1);
    let mut previous = None;
    for (x, &value) in values.iter().enumerate() {
        let y = (!value.is_nan()).then(|| (scale.fraction(f64::from(value)) * highest as f64).round() as usize);
        if let Some(y) = y {
            // A vertical stroke from the previous value keeps the line connected.
            let from = previous.unwrap_or(y);
            (y.min(from)..=y.max(from)).for_each(|y| grid.set(x, y));
        }
        previous = y;
    }
    grid.draw(canvas, area, style);
}

/// A logarithmic scale between two round values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GraphScale {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl GraphScale {
    /// Returns a scale that holds all values; `None` without values.
    pub(super) fn of<'a>(values: impl Iterator<Item = &'a f32>) -> Option<Self> {
        let known = values.filter(|value| value.is_finite() && **value > 0.0).map(|value| f64::from(*value));
        let (low, high) = known.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        (high > 0.0).then(|| {
            let low = step(low, false);
            Self { low, high: step(high, true).max(low * 2.0) }
        })
    }

    fn fraction(self, value: f64) -> f64 {
        ((value / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0)
    }
}

/// Rounds a value up or down to 1, 2 or 5 times a power of ten.
pub(super) fn step(value: f64, up: bool) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 1.0;
    }
    let power = 10_f64.powf(value.log10().floor());
    // Tolerances, because computed powers of ten are not exact.
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    if up {
        steps.into_iter().find(|step| *step >= value * 0.999_999).unwrap_or(steps[3])
    } else {
        steps.into_iter().rev().find(|step| *step <= value * 1.000_001).unwrap_or(steps[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Colours;
    use ratatui_core::buffer::Buffer;

    fn drawn(width: u16, height: u16, draw: impl Fn(&mut Canvas<'_>, Rect)) -> Vec<String> {
        let area = Rect::new(0, 0, width, height);
        let mut buffer = Buffer::empty(area);
        draw(&mut Canvas { buffer: &mut buffer, colours: Colours::None }, area);
        let row = |y| (0..width).map(|x| buffer[(x, y)].symbol().to_owned()).collect::<String>();
        (0..height).map(row).collect()
    }

    #[test]
    fn filled_areas_reach_as_high_as_their_values() {
        let values = [0.0, 1.0, 2.0, 4.0, f32::NAN, 8.0];
        let rows = drawn(3, 2, |canvas, area| filled(canvas, area, &values, 8.0, Style::new()));
        assert_eq!(rows, ["  ⢸", "⣀⣼⢸"].map(str::to_owned));
    }

    #[test]
    fn lines_are_connected() {
        let scale = GraphScale { low: 1.0, high: 100.0 };
        let rows = drawn(2, 1, |canvas, area| line(canvas, area, &[1.0, 100.0, 100.0, f32::NAN], scale, Style::new()));
        assert_eq!(rows, ["⣸⠁"]);
    }

    #[test]
    fn scales_start_and_end_at_round_values() {
        assert_eq!(GraphScale::of([230.0, 611.0, f32::NAN].iter()), Some(GraphScale { low: 200.0, high: 1000.0 }));
        assert_eq!(GraphScale::of([100.0].iter()), Some(GraphScale { low: 100.0, high: 200.0 }));
        assert_eq!(GraphScale::of([f32::NAN, 0.0].iter()), None);
        assert_eq!(
            (step(0.0, true), step(1001.0, true), step(0.3, true), step(999.0, false)),
            (1.0, 2000.0, 0.5, 500.0)
        );
    }
}
