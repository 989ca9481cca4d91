//! The answer at the head of a page: the verdict is its title, then follow actions and basis.

use super::findings::{micro, split};
use super::markup::Markup;
use results::answer::{Answer, Outcome};

/// Returns the title of a page: the first sentence of the verdict.
pub(super) fn title(answer: &Answer) -> String {
    micro(split(answer.verdict.lines().next().unwrap_or_default()).0.trim_end_matches('.'))
}

/// Writes what follows the title.
pub(super) fn write(out: &mut Markup, answer: &Answer) {
    let class = match answer.outcome {
        Outcome::Good => "info",
        Outcome::Neutral => "advice",
        Outcome::Bad => "distrust",
        Outcome::Unknown => "warning",
    };
    let mut lines = answer.verdict.lines();
    let rest = split(lines.next().unwrap_or_default()).1;
    let more: Vec<&str> = Some(rest).filter(|rest| !rest.is_empty()).into_iter().chain(lines).collect();
    if more.is_empty() && answer.actions.is_empty() && answer.basis.is_empty() {
        return;
    }
    out.class("div", &format!("card verdict answer {class}"), |out| {
        more.iter().for_each(|line| out.leaf("p", "lead", &micro(line)));
        for action in &answer.actions {
            if !action.what.is_empty() {
                out.leaf("p", "remedy", &micro(&action.what));
            }
            if let Some(command) = &action.command {
                out.leaf("pre", "", command);
            }
        }
        if !answer.basis.is_empty() {
            out.leaf("p", "basis", &micro(&format!("Basis: {}", crate::answer::sentence(&answer.basis))));
        }
    });
}
