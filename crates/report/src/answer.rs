//! Layout of the answer that every result begins with.

use results::answer::{Answer, Outcome};

use crate::escape;
use crate::sheet::{Sheet, Tone};

/// Returns the tone of an outcome.
const fn tone(outcome: Outcome) -> Tone {
    match outcome {
        Outcome::Good => Tone::Good,
        Outcome::Neutral => Tone::Strong,
        Outcome::Bad => Tone::Bad,
        Outcome::Unknown => Tone::Odd,
    }
}

/// Column in which the paragraphs of an answer begin.
const INDENT: usize = 10;

/// Layout of answers.
pub(crate) trait AnswerText {
    /// Appends the answer to text.
    fn write(&self, sheet: &mut Sheet);

    /// Returns the answer in Markdown, with an empty line behind it.
    fn markdown(&self) -> String;
}

impl AnswerText for Answer {
    fn write(&self, sheet: &mut Sheet) {
        let label = |label: &str| format!("{label:<INDENT$}");
        let room = sheet.width().saturating_sub(INDENT);
        let blank = label("");
        for (index, line) in self.verdict.lines().enumerate() {
            let lead = if index == 0 { sheet.strong(&label("ANSWER")) } else { blank.clone() };
            sheet.hung([&lead, &blank], room, line, Some(tone(self.outcome)));
        }
        for (index, action) in self.actions.iter().enumerate() {
            let lead = if index == 0 { sheet.strong(&label("DO")) } else { blank.clone() };
            let fits = |command: &&String| action.what.chars().count() + 3 + command.chars().count() <= room;
            match &action.command {
                Some(command) if action.what.is_empty() => write_command(sheet, &lead, command),
                Some(command) if fits(&command) => {
                    sheet.line(&format!("{lead}{}   {}", action.what, sheet.strong(command)));
                }
                Some(command) => {
                    sheet.hung([&lead, &blank], room, &action.what, None);
                    write_command(sheet, &format!("{blank}  "), command);
                }
                None => sheet.hung([&lead, &blank], room, &action.what, None),
            }
        }
        if !self.basis.is_empty() {
            sheet.hung([&sheet.strong(&label("BASIS")), &blank], room, &sentence(&self.basis), None);
        }
    }

    fn markdown(&self) -> String {
        let mut text = format!("**{}**\n\n", escape::markdown(&self.verdict));
        for action in &self.actions {
            let command = action
                .command
                .as_ref()
                .map_or_else(String::new, |command| format!(" {}", escape::markdown_code(command)));
            text.push_str(&format!("* {}{command}\n", escape::markdown(&action.what)));
        }
        if !self.actions.is_empty() {
            text.push('\n');
        }
        if !self.basis.is_empty() {
            text.push_str(&format!("Basis: {}\n\n", escape::markdown(&sentence(&self.basis))));
        }
        text
    }
}

/// Appends a command. A long one is continued before an option as in a shell, so that it can be copied.
fn write_command(sheet: &mut Sheet, lead: &str, command: &str) {
    /// Column of further lines.
    const FURTHER: usize = INDENT + 4;
    const CONTINUED: &str = " \\";
    let room = sheet.width().saturating_sub(FURTHER + CONTINUED.len());
    let mut lines: Vec<String> = Vec::new();
    for (index, option) in command.split(" -").enumerate() {
        let option = if index == 0 { option.to_owned() } else { format!("-{option}") };
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + option.chars().count() <= room => {
                line.push(' ');
                line.push_str(&option);
            }
            _ => lines.push(option),
        }
    }
    let last = lines.len() - 1;
    for (index, line) in lines.iter().enumerate() {
        let lead = if index == 0 { lead.to_owned() } else { " ".repeat(FURTHER) };
        let end = if index == last { "" } else { CONTINUED };
        sheet.line(&format!("{lead}{}{end}", sheet.strong(line)));
    }
}

/// Joins clauses as one sentence: `averages of iostat; the latency is assumed.`
pub(crate) fn sentence(clauses: &[String]) -> String {
    let text = clauses.iter().map(|clause| clause.trim_end_matches('.')).collect::<Vec<_>>().join("; ");
    text + "."
}

#[cfg(test)]
mod tests {
    use results::answer::{Action, Outcome};

    use super::*;
    use crate::sheet::SheetStyle;

    #[test]
    fn long_commands_are_continued_before_options() {
        let command = "aws ec2 create-volume --availability-zone ZONE --volume-type gp3 --size 24 --iops 12000";
        let action = Action { what: String::new(), command: Some(command.to_owned()) };
        let answer = Answer { actions: vec![action], ..Answer::new(Outcome::Good, "Buy gp3.") };
        let mut sheet = Sheet::new(SheetStyle { width: 60, ..SheetStyle::default() }, 0);
        answer.write(&mut sheet);
        let expected = "\
ANSWER    Buy gp3.
DO        aws ec2 create-volume \\
              --availability-zone ZONE --volume-type gp3 \\
              --size 24 --iops 12000
";
        assert_eq!(sheet.finish(), expected);
    }
}
