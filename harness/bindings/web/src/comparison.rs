//! Two templates side by side.

use rolecall_cli::report::clean;
use rolecall_cli::report::comparison as report;
use rolecall_cli::report::comparison::ComparisonDocument;
use rolecall_core::Template;
use rolecall_front::embed::CompiledTemplate;
use rolecall_front::engines::Engines;
use rolecall_front::front::Front;
use rolecall_suite::comparison::{Comparison, Pairing, SideKind};
use serde_json::{Value, json};

use crate::card::examined;
use crate::request::TemplateText;
use crate::suite;

/// Compares two templates in the conversations of the suite, and by their report cards.
pub(crate) fn compare(sides: [&TemplateText; 2]) -> Result<Value, String> {
    let [a, b] = sides.map(TemplateText::read);
    let (a, b) = (a?, b?);
    let templates = [&a.0, &b.0];
    let names = templates.map(|template| template.name.to_string());
    let mut comparison = Comparison::new(SideKind::Templates, names.clone());
    comparison.pairings.push(Pairing {
        names,
        ..Pairing::default()
    });
    let compiled =
        [&a, &b].map(|(template, limits)| CompiledTemplate::new(template.clone(), limits));
    let takes = |template: &Template, dialects: &[_]| dialects.contains(&template.dialect);
    for case in suite::cases()? {
        if templates
            .iter()
            .all(|template| takes(template, &case.dialects))
        {
            let outcomes = compiled
                .each_ref()
                .map(|one| one.outcome(case, Front::of(one.template())));
            comparison.add(&case.id.to_string(), Some(case), outcomes);
        }
    }
    let cards =
        [&a, &b].map(|(template, limits)| examined(&Engines::with_limits(limits), template));
    let [one, other] = cards;
    comparison.add_cards(&[one, other]);
    let comparison = comparison.sorted();
    let mut text = Vec::new();
    report::write(&mut text, &comparison, false).map_err(|error| error.to_string())?;
    let document = serde_json::to_value(ComparisonDocument::of(&comparison));
    let document = document.map_err(|error| error.to_string())?;
    Ok(json!({ "document": document, "text": clean::plain(&text) }))
}
