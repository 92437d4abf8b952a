//! The variables that a template expects from outside.

use std::collections::BTreeSet;

use minijinja::Environment;
use minijinja::machinery::{Span, Token, tokenize};
use minijinja::syntax::SyntaxConfig;

use crate::library::functions;

/// The variables that a prepared source reads and does not set itself.
///
/// minijinja takes a variable that a branch of a condition sets for the branch's own; in
/// Jinja2 it stays set. So a name that the template sets somewhere counts only if the
/// template also asks whether it is defined: `{% if date is not defined %}{% set date = … %}`.
pub(crate) fn variables(source: &str, syntax: SyntaxConfig) -> BTreeSet<String> {
    let placed: Vec<(Token<'_>, Span)> = tokenize(source, false, syntax)
        .map_while(Result::ok)
        .collect();
    let environment = Environment::new();
    let source = without_constants(source, &placed);
    let Ok(template) = environment.template_from_str(&source) else {
        return BTreeSet::new();
    };
    let tokens: Vec<Token<'_>> = placed.into_iter().map(|(token, _)| token).collect();
    let set: BTreeSet<&str> = tokens
        .windows(3)
        .filter_map(|window| match window {
            [Token::BlockStart, Token::Ident("set"), Token::Ident(set)] => Some(*set),
            _ => None,
        })
        .collect();
    let asked_for: BTreeSet<&str> = tokens
        .iter()
        .enumerate()
        .filter_map(|(at, token)| {
            let Token::Ident(name) = token else {
                return None;
            };
            let before = at.checked_sub(1).map(|at| &tokens[at]);
            let rest = &tokens[at + 1..];
            let is_asked_for = !matches!(before, Some(Token::Dot))
                && matches!(
                    rest,
                    [
                        Token::Ident("is"),
                        Token::Ident("defined" | "undefined"),
                        ..
                    ] | [
                        Token::Ident("is"),
                        Token::Ident("not"),
                        Token::Ident("defined" | "undefined"),
                        ..
                    ] | [Token::Pipe, Token::Ident("default" | "d"), ..]
                );
            is_asked_for.then_some(*name)
        })
        .collect();
    template
        .undeclared_variables(false)
        .into_iter()
        .filter(|name| !functions::is_global(name))
        .filter(|name| !set.contains(name.as_str()) || asked_for.contains(name.as_str()))
        .collect()
}

/// The source with small constants in place of its own: minijinja evaluates an expression of
/// constants when it compiles, whatever memory that takes.
fn without_constants(source: &str, tokens: &[(Token<'_>, Span)]) -> String {
    let mut plain = String::with_capacity(source.len());
    let mut at = 0;
    for (token, span) in tokens {
        let instead = match token {
            Token::Str(_) | Token::String(_) => "''",
            Token::Int(_) | Token::Int128(_) | Token::Float(_) => "0",
            _ => continue,
        };
        let (begin, end) = (span.start_offset as usize, span.end_offset as usize);
        let Some(before) = source.get(at..begin) else {
            continue;
        };
        plain.push_str(before);
        plain.push_str(instead);
        at = end;
    }
    plain.push_str(source.get(at..).unwrap_or_default());
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_template_sets_itself_is_no_input() {
        let of = |source: &str| -> Vec<String> {
            variables(source, SyntaxConfig::default())
                .into_iter()
                .collect()
        };
        assert_eq!(of("{{ a }}{{ b.c }}{% if d %}{% endif %}"), ["a", "b", "d"]);
        let branches = "{% if m is string %}{% set text = m %}{% else %}{% set text = '' %}{% endif %}{{ text }}";
        assert_eq!(of(branches), ["m"]);
        let default = "{% if date is not defined %}{% set date = 'x' %}{% endif %}{{ date }}";
        assert_eq!(of(default), ["date"]);
        let filtered = "{% if not a %}{% set date = 'x' %}{% endif %}{{ date | default('y') }}";
        assert_eq!(of(filtered), ["a", "date"]);
        assert_eq!(of("{% set ns = namespace(x=1) %}{{ ns.x }}"), [""; 0]);
        // Constants are not evaluated, and the names beside them are found.
        let constants = "a 1 'b' {{ c['d\\'' ~ \"e\"] + 0x1f*f-1.5e3 }}{{ ('x' * 99999999) ~ ('x' * 99999999) }}{{g.0}} 'h'";
        assert_eq!(of(constants), ["c", "f", "g"]);
    }
}
