//! The abilities that reports name: one table for all of them.

use super::capabilities::Capabilities;
use super::support::Support;

/// Something that a template may be able to do, and its names in reports.
#[derive(Debug)]
pub struct Ability {
    /// The name in sentences, and in comparisons.
    pub name: &'static str,
    /// The name in the list of an accepted card.
    pub long: &'static str,
    /// The name on a screen, indented if it belongs to the one above it. A question has no such
    /// name.
    pub short: Option<&'static str>,
    support: fn(&Capabilities) -> Option<&Support>,
}

/// Abilities, a line each: the three names, and the fields in which the support is.
macro_rules! abilities {
    ($($name:literal, $long:literal, $short:expr => $($field:ident).+ $([$role:literal])?;)*) => {
        &[$(Ability {
            name: $name,
            long: $long,
            short: $short,
            support: |capabilities| abilities!(@ capabilities $($field).+ $([$role])?),
        }),*]
    };
    (@ $it:ident $parts:ident [$role:literal]) => { $it.$parts.get($role) };
    (@ $it:ident $($field:ident).+) => { Some(&$it.$($field).+) };
}

impl Ability {
    /// Which messages it takes, in which roles and forms.
    pub const ROLES: &[Ability] = abilities! {
        "a question", "a question", None => question;
        "system", "system", Some("system") => roles.system.leading;
        "system alone", "system, alone", Some("  alone") => roles.system.alone;
        "two systems", "system, two", Some("  two") => roles.system.two;
        "system later on", "system, later on", Some("  later on") => roles.system.late;
        "developer", "developer", Some("developer") => roles.developer;
        "unknown role", "an unknown role", Some("unknown role") => roles.unknown;
        "users in a row", "two users in a row", Some("users in a row") => roles.consecutive_users;
        "answers in a row", "two assistants in a row", Some("answers in a row") => roles.consecutive_assistants;
        "answer first", "the assistant first", Some("answer first") => roles.assistant_first;
        "parts of user", "text parts, user", Some("parts, user") => typed_content["user"];
        "parts of assistant", "text parts, assistant", Some("parts, assistant") => typed_content["assistant"];
        "parts of system", "text parts, system", Some("parts, system") => typed_content["system"];
        "parts of tool", "text parts, tool", Some("parts, tool") => typed_content["tool"];
    };

    /// Tools, documents, and the text around the model's own text.
    pub const TOOLS: &[Ability] = abilities! {
        "tools", "tools", Some("tools") => tools;
        "tool call", "tool call", Some("tool calls") => tool_calls.single;
        "object arguments", "arguments, object", Some("  object arguments") => tool_calls.object_arguments;
        "JSON text arguments", "arguments, JSON text", Some("  JSON text") => tool_calls.string_arguments;
        "parallel calls", "parallel calls", Some("  parallel") => tool_calls.parallel;
        "tool result", "tool result", Some("tool results") => tool_results.single;
        "result without ID", "result without ID", Some("  without ID") => tool_results.without_id;
        "result without name", "result without name", Some("  without name") => tool_results.without_name;
        "result with a long ID", "result with a long ID", Some("  long ID") => tool_results.long_id;
        "reasoning in history", "reasoning in history", Some("earlier reasoning") => reasoning.in_history;
        "documents", "documents", Some("documents") => documents;
        "continued answer", "continued answer", Some("continued answer") => continue_final_message;
    };

    /// The support that was found, if the ability was tried.
    pub fn of<'c>(&self, capabilities: &'c Capabilities) -> Option<&'c Support> {
        (self.support)(capabilities)
    }

    /// All abilities, in the order of a card.
    pub fn all() -> impl Iterator<Item = &'static Ability> {
        Ability::ROLES.iter().chain(Ability::TOOLS)
    }
}

impl Capabilities {
    /// The support of every ability that was tried, with its name.
    pub fn supports(&self) -> Vec<(&'static str, &Support)> {
        let tried = Ability::all().filter_map(|ability| Some((ability.name, ability.of(self)?)));
        let mut tried: Vec<_> = tried.collect();
        // Parts come last, by the names of their roles.
        tried.sort_by_key(|(name, _)| Some(*name).filter(|name| name.starts_with("parts of ")));
        tried
    }
}
