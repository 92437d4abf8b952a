//! What several pages show.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rolecall_model::{Dialect, OutcomeKind, TemplateName};

use super::html::{escaped, link, transcript};
use crate::diff::{Diff, Side};
use crate::matrix::Matrix;
use crate::measurement::{Example, Measurement, Share, file_name};
use crate::report::numbers::{percent, thousands};

/// The name of an engine's page and badge.
pub(super) fn slug(engine: &Measurement) -> String {
    let name = file_name(&engine.engine).unwrap_or_default();
    name.trim_end_matches(".json").to_owned()
}

/// The engine with its version.
pub(super) fn label(engine: &Measurement) -> String {
    format!("{} {}", engine.engine.engine, engine.engine.version)
}

/// A link to the page of an engine.
pub(super) fn engine_link(root: &str, engine: &Measurement) -> String {
    link(
        &format!("{root}engines/{}.html", slug(engine)),
        &label(engine),
    )
}

/// The engines of a dialect, the best first.
pub(super) fn ranked(matrix: &Matrix, dialect: Dialect) -> Vec<&Measurement> {
    let mut engines: Vec<&Measurement> = matrix.of_dialect(dialect).collect();
    engines.sort_by(|a, b| {
        let (a, b) = (a.prompts(), b.prompts());
        (b.agree * a.all.max(1)).cmp(&(a.agree * b.all.max(1)))
    });
    engines
}

/// The templates that the engines of a dialect were asked for.
pub(super) fn templates(matrix: &Matrix, dialect: Dialect) -> BTreeSet<TemplateName> {
    let engines = matrix.of_dialect(dialect);
    engines
        .flat_map(|engine| engine.templates.keys().cloned())
        .collect()
}

/// The heading of an engine in a table where many stand beside each other.
pub(super) fn heading(root: &str, engine: &Measurement) -> String {
    format!(
        "<th scope=\"col\" class=\"engine\">{}</th>",
        engine_link(root, engine)
    )
}

/// A cell with a share, by which the column can be sorted, coloured by how much agrees.
pub(super) fn cell(share: Option<Share>) -> String {
    match share {
        Some(share) if share.all > 0 => format!(
            "<td class=\"number {}\" data-value=\"{}\" title=\"{} of {}\">{}</td>",
            grade(share),
            share.agree.saturating_mul(1_000_000) / share.all,
            thousands(share.agree),
            thousands(share.all),
            percent(share.agree, share.all),
        ),
        _ => "<td class=\"number quiet\" data-value=\"-1\">–</td>".to_owned(),
    }
}

/// How much agrees, as a class of the style.
pub(super) fn grade(share: Share) -> &'static str {
    let thousandths = share.agree.saturating_mul(1000) / share.all.max(1);
    match thousandths {
        1000 => "g5",
        950.. => "g4",
        800.. => "g3",
        500.. => "g2",
        1.. => "g1",
        0 => "g0",
    }
}

/// The class of an outcome that differs, for its colour: a prompt is the worst, for nobody
/// notices that it is another.
pub(super) fn ink(kind: OutcomeKind) -> &'static str {
    match kind {
        OutcomeKind::Raised => "cool",
        OutcomeKind::Failed => "note",
        OutcomeKind::Rendered
        | OutcomeKind::Exceeded
        | OutcomeKind::Crashed
        | OutcomeKind::NotAsked => "bad",
    }
}

/// The lines of an example that differ, each side's with its sign.
pub(super) fn difference(example: &Example) -> String {
    let mut out = String::from("<pre class=\"diff\">");
    for line in Diff::new(&example.expected, &example.found)
        .hunks
        .iter()
        .flatten()
    {
        let (class, sign) = match line.side {
            Side::Both => ("", " "),
            Side::Expected => ("gone", "-"),
            Side::Found => ("came", "+"),
        };
        // Writing to a string cannot fail.
        let _ = write!(out, "<div class=\"{class}\">{sign} ");
        for piece in &line.pieces {
            let text = transcript(piece.text.trim_end_matches('\n'));
            let _ = if piece.changed {
                write!(out, "<b>{text}</b>")
            } else {
                write!(out, "{text}")
            };
        }
        out.push_str("</div>");
    }
    out + "</pre>"
}

/// A table that scrolls by itself where it is wider than the screen.
pub(super) fn table(caption: &str, head: &str, rows: &str) -> String {
    format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{caption}\"><table \
         class=\"matrix\"><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>\n",
        caption = escaped(caption),
    )
}
