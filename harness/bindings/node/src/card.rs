//! Report cards as `rolecall check -q --format json` prints them.

use rolecall_check::card::{Card, Examiner};
use rolecall_check::choice::ContractChoice;
use rolecall_check::reach::Reach;
use rolecall_check::tokenizer::Tokenizer;
use rolecall_core::Template;
use rolecall_core::guard::{catch, on_large_stack};
use rolecall_front::embed::Answer;
use rolecall_front::engines::Engines;
use serde_json::json;

/// The version of this format, as in the results of the command.
const VERSION: u32 = 1;

/// The document with the card of a template. If contracts are named, it has only findings about
/// these. An error if there is no such contract.
pub(crate) fn document(template: &Template, select: &[String]) -> Result<String, Answer> {
    let choice = ContractChoice::named(select, &[]).map_err(Answer::invalid)?;
    let mut card = on_large_stack(|| catch(|| examined(template, &choice)))
        .map_err(Answer::crashed)?
        .ok_or_else(|| Answer::invalid("no engine renders this dialect"))?;
    card.narrow(&choice);
    let cards = [card];
    let summary = Reach::of(&cards, None);
    Ok(json!({"rolecall": VERSION, "cards": cards, "summary": summary}).to_string())
}

/// The card of a template. None if no engine renders its dialect.
fn examined(template: &Template, choice: &ContractChoice) -> Option<Card> {
    let engines = Engines::default();
    let engine = engines.for_dialect(template.dialect)?;
    // Of the files of a vocabulary, this crate reads only GGUF.
    let gguf = template.vocabulary.first();
    let tokenizer = gguf.and_then(|file| Tokenizer::of_gguf(file).ok()?);
    Some(Examiner::by(choice.clone()).examine(engine, template, tokenizer.as_ref()))
}
