//! A JSON writer with fio's layout: two blanks per level, blanks around the colon, six decimals.

/// Writes nested objects and arrays line by line.
pub(super) struct FioWriter<'a> {
    out: &'a mut String,
    depth: usize,
    /// Whether the open object or array has no content yet.
    empty: bool,
}

impl<'a> FioWriter<'a> {
    pub(super) fn new(out: &'a mut String) -> Self {
        Self { out, depth: 0, empty: true }
    }

    /// Writes the outermost object.
    pub(super) fn root(&mut self, body: impl FnOnce(&mut Self)) {
        self.nested("{", "}", body);
        self.out.push('\n');
    }

    pub(super) fn object(&mut self, key: &str, body: impl FnOnce(&mut Self)) {
        self.key(key);
        self.nested("{", "}", body);
    }

    pub(super) fn array(&mut self, key: &str, body: impl FnOnce(&mut Self)) {
        self.key(key);
        self.nested("[", "]", body);
    }

    /// Writes an object as an array element.
    pub(super) fn element(&mut self, body: impl FnOnce(&mut Self)) {
        self.next_line();
        self.nested("{", "}", body);
    }

    /// Writes a string as an array element.
    pub(super) fn text_element(&mut self, value: &str) {
        self.next_line();
        self.quoted(value);
    }

    /// Writes a whole number as an array element.
    pub(super) fn int_element(&mut self, value: u64) {
        self.next_line();
        self.out.push_str(&value.to_string());
    }

    pub(super) fn text(&mut self, key: &str, value: &str) {
        self.key(key);
        self.quoted(value);
    }

    pub(super) fn int(&mut self, key: &str, value: impl Into<i128>) {
        self.key(key);
        self.out.push_str(&value.into().to_string());
    }

    /// Writes a number with a fraction. JSON cannot represent infinities and NaN, which become zero.
    pub(super) fn float(&mut self, key: &str, value: f64) {
        self.key(key);
        let value = if value.is_finite() { value } else { 0.0 };
        self.out.push_str(&format!("{value:.6}"));
    }

    fn nested(&mut self, open: &str, close: &str, body: impl FnOnce(&mut Self)) {
        self.out.push_str(open);
        self.depth += 1;
        self.empty = true;
        body(self);
        self.depth -= 1;
        self.empty = false;
        self.out.push('\n');
        self.indent();
        self.out.push_str(close);
    }

    fn key(&mut self, key: &str) {
        self.next_line();
        self.quoted(key);
        self.out.push_str(" : ");
    }

    fn next_line(&mut self) {
        self.out.push_str(if self.empty { "\n" } else { ",\n" });
        self.empty = false;
        self.indent();
    }

    fn indent(&mut self) {
        self.out.extend(std::iter::repeat_n("  ", self.depth));
    }

    /// Writes a string. Unlike fio, which escapes only backslashes and quotes, it also escapes control characters,
    /// because parsers reject them.
    fn quoted(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            match c {
                '"' | '\\' => self.out.extend(['\\', c]),
                c if c.is_control() => self.out.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }
}
