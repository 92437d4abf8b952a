//! Report cards, as the command `check` prints them, and patches.

use std::collections::BTreeMap;

use rolecall_check::card::{Card, Examiner};
use rolecall_check::choice::ContractChoice;
use rolecall_check::contract::Contract;
use rolecall_check::fix::{Fixer, Work};
use rolecall_check::nearest;
use rolecall_check::reach::Reach;
use rolecall_cli::commands::check::document::CheckDocument;
use rolecall_cli::commands::check::report::write_card;
use rolecall_cli::report::card::CardDetail;
use rolecall_cli::report::clean;
use rolecall_cli::report::fixes::{self, Fate, TemplateFixes};
use rolecall_cli::report::html;
use rolecall_cli::report::html::card::{report_card, with_marks};
use rolecall_core::Template;
use rolecall_core::diff::Diff;
use rolecall_front::engines::Engines;
use serde_json::{Value, json};

use crate::request::TemplateText;
use crate::suite;

/// The name of a template without one in the commands that a card recommends.
const FILE: &str = "chat_template.jinja";

/// The report card of a template: as JSON, and in words. A page needs more: transcripts, differences,
/// and the explanations of broken contracts.
pub(crate) fn card(text: &TemplateText, page: bool) -> Result<Value, String> {
    let (template, limits) = text.read()?;
    let engines = Engines::with_limits(&limits);
    let card = examined(&engines, &template);
    let page = page.then(|| {
        let broken = card.broken().chain(&card.without_front);
        let pages = broken.map(|finding| (finding.contract.id, finding.contract.page));
        let pages: BTreeMap<&str, &str> = pages.collect();
        json!({ "card": report_card(&card, &template), "pages": pages })
    });
    answer(&card, None, page.as_ref())
}

/// The difference of two texts, as pages show it.
pub(crate) fn difference(a: &str, b: &str) -> Value {
    html::diff("", &Diff::of_sides(&with_marks(a), &with_marks(b)))
}

/// The same with patches.
pub(crate) fn with_fixes(text: &TemplateText) -> Result<Value, String> {
    let (template, limits) = text.read()?;
    let cases = suite::cases()?;
    let engines = Engines::with_limits(&limits);
    let card = examined(&engines, &template);
    let broken = card.unexplained().chain(&card.without_front);
    let broken: Vec<&str> = broken.map(|finding| finding.contract.id).collect();
    let fixer = Fixer {
        engine: engines.for_dialect(template.dialect),
        cases: &|| cases,
        tokenizer: None,
        unsafe_too: false,
        most_work: Some(Work::SECOND),
        step: &|| {},
    };
    let is_chosen = |contract: &Contract| broken.contains(&contract.id);
    let found = TemplateFixes {
        template: card.template.clone(),
        file: FILE.to_owned(),
        typed: FILE.to_owned(),
        fixes: fixer.fixes(&template, &card, is_chosen),
        is_searched: true,
        fate: Fate::Shown,
    };
    answer(&card, Some(&found), None)
}

pub(crate) fn examined(engines: &Engines, template: &Template) -> Card {
    let examiner = Examiner::by(ContractChoice::default());
    let mut card = examiner.examine(engines.for_dialect(template.dialect), template, None);
    card.nearest = card
        .skeleton
        .nearest(nearest::builtin(), card.dialect, None);
    card
}

fn answer(
    card: &Card,
    fixes: Option<&TemplateFixes>,
    page: Option<&Value>,
) -> Result<Value, String> {
    let cards = std::slice::from_ref(card);
    let all = fixes.map(std::slice::from_ref);
    let document = CheckDocument::of(cards, Reach::of(cards), &[], all, &[]);
    let mut text = Vec::new();
    let mut written = write_card(&mut text, card, CardDetail::Marked, &card.template);
    if let Some(fixes) = fixes {
        written = written.and_then(|()| fixes::write(&mut text, fixes, true, true));
    }
    written.map_err(|error| error.to_string())?;
    let found = || fixes.into_iter().flat_map(|of| &of.fixes.found);
    let document = serde_json::to_value(document).map_err(|error| error.to_string())?;
    Ok(json!({
        "document": document,
        "page": page,
        "text": clean::plain(&text),
        // The template after each patch, in the order of the document.
        "patched": found().map(|fix| fix.after.as_str()).collect::<Vec<_>>(),
        "diffs": found().map(|fix| difference(&fix.before, &fix.after)).collect::<Vec<_>>(),
    }))
}
