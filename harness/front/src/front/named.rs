//! Picks one of a model's named templates for a conversation, as transformers 5.24 does.

use rolecall_core::{Case, Template};

/// The name of the usual template.
const DEFAULT: &str = "default";

/// The name of the template that a tokenizer takes for conversations with tools.
const TOOL_USE: &str = "tool_use";

/// The template that a tokenizer takes (`get_chat_template` in `tokenization_utils_base.py`). An
/// empty list of tools counts as tools.
pub(super) fn of_tokenizer<'t>(
    template: &'t Template,
    case: &Case,
) -> Result<&'t Template, String> {
    let with_tools = case.tools.as_ref().and_then(|_| for_tools(template));
    with_tools.map_or_else(|| default(template), Ok)
}

/// The template that a tokenizer takes for conversations with tools, if it is another one.
pub(super) fn for_tools(template: &Template) -> Option<&Template> {
    get(template, TOOL_USE)
}

/// The template that a processor takes, with or without tools (`_resolve_chat_template` in
/// `processing_utils.py`).
pub(super) fn default(template: &Template) -> Result<&Template, String> {
    if template.named.is_empty() || get(template, DEFAULT).is_some() {
        return Ok(template);
    }
    let names = template.named.iter().map(|(name, _)| format!("`{name}`"));
    let names: Vec<_> = names.collect();
    Err(format!(
        "none of the model's templates is named `{DEFAULT}`; there are {}",
        names.join(", ")
    ))
}

fn get<'t>(template: &'t Template, name: &str) -> Option<&'t Template> {
    let mut named = template.named.iter();
    named.find_map(|(known, template)| (known == name).then_some(template))
}

#[cfg(test)]
mod tests {
    use rolecall_core::Dialect;

    use super::*;

    /// The chosen source. Each template's source is its own name.
    fn taken(names: &[&str], with_tools: bool, is_tokenizer: bool) -> Result<String, String> {
        let source = |source: &str| Template::from_source("m", Dialect::Jinja, source);
        let mut template = source("own");
        template.named = names
            .iter()
            .map(|name| ((*name).to_owned(), source(name)))
            .collect();
        let mut case = Case::from_messages(Vec::new());
        case.tools = with_tools.then(Vec::new);
        let taken = if is_tokenizer {
            of_tokenizer(&template, &case)
        } else {
            default(&template)
        };
        taken.map(|template| template.source.clone())
    }

    #[test]
    fn tools_take_their_template_where_there_is_one() {
        let own = Ok("own".to_owned());
        for (names, with_tools, without) in [
            (&[][..], &own, &own),
            (&["default", "rag"], &own, &own),
            (&["tool_use", "default"], &Ok("tool_use".to_owned()), &own),
        ] {
            assert_eq!(taken(names, true, true), *with_tools, "{names:?}");
            assert_eq!(taken(names, false, true), *without, "{names:?}");
            // A processor ignores tools.
            assert_eq!(taken(names, true, false), own, "{names:?}");
        }
    }

    #[test]
    fn without_a_default_somebody_has_to_say_which() {
        let names = ["tool_use", "rag"];
        assert_eq!(taken(&names, true, true), Ok("tool_use".to_owned()));
        let refusal =
            "none of the model's templates is named `default`; there are `tool_use`, `rag`";
        for (with_tools, is_tokenizer) in [(false, true), (false, false), (true, false)] {
            let found = taken(&names, with_tools, is_tokenizer);
            assert_eq!(found, Err(refusal.to_owned()));
        }
    }
}
