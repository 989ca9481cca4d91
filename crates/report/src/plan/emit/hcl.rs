//! Writes HCL: blocks with aligned arguments, as `terraform fmt` formats them.

use std::fmt::Write;

use units::is_hidden;

/// A block: `resource "aws_ebs_volume" "db" { ... }`.
pub(super) struct HclBlock {
    head: String,
    arguments: Vec<(&'static str, String)>,
    blocks: Vec<HclBlock>,
}

impl HclBlock {
    /// Creates a block of a type with labels, which are names without special characters.
    pub(super) fn new(kind: &str, labels: &[&str]) -> Self {
        let labels: String = labels.iter().map(|label| format!(" {}", quoted(label))).collect();
        Self { head: format!("{kind}{labels}"), arguments: Vec::new(), blocks: Vec::new() }
    }

    /// Adds an argument whose value is an expression.
    pub(super) fn set(mut self, name: &'static str, expression: impl Into<String>) -> Self {
        self.arguments.push((name, expression.into()));
        self
    }

    /// Adds an argument whose value is an expression, if there is one.
    pub(super) fn maybe(self, name: &'static str, expression: Option<impl ToString>) -> Self {
        match expression {
            Some(expression) => self.set(name, expression.to_string()),
            None => self,
        }
    }

    /// Adds an argument whose value is a text.
    pub(super) fn text(self, name: &'static str, text: &str) -> Self {
        self.set(name, quoted(text))
    }

    /// Adds a block.
    pub(super) fn block(mut self, block: Self) -> Self {
        self.blocks.push(block);
        self
    }

    /// Appends the block to a text.
    pub(super) fn write(&self, out: &mut String) {
        self.write_at(out, 0);
    }

    fn write_at(&self, out: &mut String, depth: usize) {
        let indent = "  ".repeat(depth);
        let _ = writeln!(out, "{indent}{} {{", self.head);
        let width = self.arguments.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
        for (name, expression) in &self.arguments {
            let _ = writeln!(out, "{indent}  {name:width$} = {expression}");
        }
        for (index, block) in self.blocks.iter().enumerate() {
            if index > 0 || !self.arguments.is_empty() {
                out.push('\n');
            }
            block.write_at(out, depth + 1);
        }
        let _ = writeln!(out, "{indent}}}");
    }
}

/// Returns text as a literal of HCL, without interpolation.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            // `$${` and `%%{` are literal.
            '$' | '%' if letters.peek() == Some(&'{') => out.extend([letter, letter]),
            letter if is_hidden(letter) => {
                let _ = write!(out, "\\u{:04X}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}
