//! What a page shows of a report card and of a prompt, for the pages of commands and the page in the browser.

use rolecall_check::card::Card;
use rolecall_check::contract::Evidence;
use rolecall_check::tokenizer::Tokenizer;
use rolecall_core::transcript::{self, encode_char};
use rolecall_core::{Outcome, Template, TemplatePart};
use serde_json::{Value, json};

use super::page_file::diff;
use crate::report::place::lines;

/// A report card in the page's form: with transcripts, differences and the lines of the template.
pub fn report_card(card: &Card, template: &Template) -> Value {
    let mut value = json!(card);
    for (finding, known) in list(&mut value["findings"]).zip(&card.findings) {
        if known.is_broken() {
            finding["source"] = excerpts(template, &lines(known, template));
        }
    }
    for (answer, known) in list(&mut value["read_back"]).zip(&card.read_back) {
        // The transcripts say where a text ends.
        for (name, text) in [("prompt", &known.prompt), ("text", &known.text)] {
            answer[name] = format!("{}\u{2403}", with_marks(text)).into();
        }
    }
    for (name, findings) in [("findings", &card.findings), ("alone", &card.without_front)] {
        for (finding, known) in list(&mut value[name]).zip(findings) {
            add_transcripts(&mut finding["evidence"], known.evidence());
        }
    }
    if let Some(served) = &card.served {
        let differences = list(&mut value["served"]["differences"]);
        for (one, known) in differences.zip(&served.differences) {
            add_transcripts(&mut one["evidence"], &known.evidence);
        }
    }
    value
}

/// The lines of a template's source at which a finding fails, each with the lines around it.
fn excerpts(template: &Template, lines: &[usize]) -> Value {
    match template.part {
        TemplatePart::Whole => {
            let lines = lines.iter().take(3);
            lines.map(|line| excerpt(template, *line)).collect()
        }
        // The line where the template begins says nothing.
        TemplatePart::Line(_) | TemplatePart::Key(_) => Value::Null,
    }
}

/// A line of a template's source with the lines around it.
pub(crate) fn excerpt(template: &Template, line: usize) -> Value {
    const AROUND: usize = 2;
    let at = line.saturating_sub(1);
    let lines = template.source.lines().enumerate();
    let shown = lines.skip(at.saturating_sub(AROUND)).take(2 * AROUND + 1);
    let shown = shown.map(|(number, text)| json!([number + 1, text, number == at]));
    shown.collect()
}

fn add_transcripts(evidence: &mut Value, known: &[Evidence]) {
    for (evidence, known) in list(evidence).zip(known) {
        if let Some(found) = known.diff() {
            evidence["diff"] = diff("", &found);
        }
        for (render, known) in list(&mut evidence["renders"]).zip(&known.renders) {
            render["transcript"] = transcript::encode(&known.outcome).into();
        }
        if let (Some(at), [one]) = (&known.at, known.renders.as_slice())
            && let Outcome::Rendered { text } = &one.outcome
            && let (Some(before), Some(mark), Some(after)) = (
                text.get(..at.start),
                text.get(at.clone()),
                text.get(at.end..),
            )
        {
            evidence["renders"][0]["marked"] = json!([before, mark, after].map(with_marks));
        }
    }
}

/// A text with every byte visible, in its lines, as transcripts have it.
pub fn with_marks(text: &str) -> String {
    let mut marked = String::new();
    text.chars().for_each(|c| encode_char(c, &mut marked));
    marked
}

fn list(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    value.as_array_mut().into_iter().flatten()
}

/// The tokens of a prompt: number, kind and text of each; or why it has none. If a character is split
/// over several tokens, it belongs to the first.
pub fn tokens(tokenizer: &Tokenizer, text: &str) -> Result<Value, String> {
    let mut end = 0;
    let tokens = tokenizer.encode(text)?.into_iter().map(|token| {
        let own = token.range.start.max(end)..token.range.end.max(end);
        end = own.end;
        json!([
            token.id,
            token.kind.name(),
            with_marks(text.get(own).unwrap_or_default())
        ])
    });
    Ok(tokens.collect())
}
