//! The switches that templates usually have.

/// The variables that applications set, by the names that published templates read.
pub(in crate::contract) const KNOWN: [&str; 37] = [
    "add_generation_prompt",
    "add_vision_id",
    "available_tools",
    "builtin_tools",
    "chat_template_kwargs",
    "citation_mode",
    "clear_thinking",
    "controls",
    "current_date",
    "custom_tools",
    "date_string",
    "documents",
    "enable_citations",
    "enable_thinking",
    "guardian_config",
    "length",
    "low_effort",
    "medium_effort",
    "messages",
    "model_identity",
    "originality",
    "preserve_thinking",
    "preserved_thinking",
    "reasoning",
    "reasoning_budget",
    "reasoning_effort",
    "response_format",
    "safety_mode",
    "skip_think",
    "skip_thinking",
    "system_message",
    "thinking",
    "thinking_budget",
    "thinking_effort",
    "thinking_mode",
    "tools",
    "tools_in_user_message",
];

/// Whether applications set a variable of this name.
pub(in crate::contract) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_known_names_are_sorted() {
        assert!(KNOWN.is_sorted());
        assert_eq!(BTreeSet::from(KNOWN).len(), KNOWN.len());
    }
}
