//! The end of an answer: the token at which a server stops, and what the template writes after it.

use serde_json::Value;

use rolecall_core::{Cut, Template};

/// The forms in which readers get an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// All that the template writes for the turn.
    Whole,
    /// Up to the end token, and with it: all that the model itself writes.
    Ended,
    /// Without the end token, as servers return the text.
    Bare,
}

impl Form {
    pub const ALL: [Form; 3] = [Form::Whole, Form::Ended, Form::Bare];

    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Form::Whole => "whole",
            Form::Ended => "up to the end token",
            Form::Bare => "without the end token",
        }
    }
}

/// The texts that may end a turn of a template.
#[derive(Debug, Clone, Default)]
pub struct EndTokens(Vec<String>);

impl EndTokens {
    /// The special tokens of a template, and what it writes after every plain answer.
    pub fn new(template: &Template, after_answers: &str) -> EndTokens {
        let special = template.special_tokens.values().filter_map(Value::as_str);
        let tokens = special.chain([after_answers.trim()]);
        let tokens = tokens.filter(|token| !token.is_empty());
        EndTokens(tokens.map(str::to_owned).collect())
    }

    /// Whether one of them is in a text.
    pub fn are_in(&self, text: &str) -> bool {
        self.0.iter().any(|token| text.contains(token.as_str()))
    }

    /// An answer in a form. None if the answer has no end token, or if this form is the same as the
    /// form before.
    pub fn form<'t>(&self, text: &'t str, form: Form) -> Option<&'t str> {
        let ended = text.trim_end();
        match form {
            Form::Whole => Some(text),
            Form::Ended => self.token(ended).map(|_| ended).filter(|it| *it != text),
            Form::Bare => self.token(ended).and_then(|it| ended.strip_suffix(it)),
        }
    }

    pub fn forms<'t>(&self, text: &'t str) -> Vec<(Form, &'t str)> {
        let form = |form| Some((form, self.form(text, form)?));
        Form::ALL.into_iter().filter_map(form).collect()
    }

    /// A text as a server passes it to its parsers: up to the end token, at which it stops. A turn that
    /// nothing ends is whole.
    pub fn bare<'t>(&self, text: &'t str) -> (Form, &'t str) {
        let found = self.form(text, Form::Bare);
        found.map_or((Form::Whole, text), |found| (Form::Bare, found))
    }

    /// The end token of a text, the longest that fits.
    fn token<'t>(&self, text: &'t str) -> Option<&'t str> {
        let known = self.0.iter().filter(|token| text.ends_with(token.as_str()));
        let known = known.map(String::len).max();
        let length = known.or_else(|| control_token(text).map(str::len))?;
        text.get(text.len() - length..)
    }
}

/// The control token at the end of a text, such as `<|eom_id|>`. A model may end a turn with a token
/// that is none of its named ones.
fn control_token(text: &str) -> Option<&str> {
    let inside = text.strip_suffix("|>")?;
    let start = inside.rfind("<|")?;
    let name = inside.get(start + 2..)?;
    let is_name = |c: char| c.is_alphanumeric() || "_-▁".contains(c);
    (!name.is_empty() && name.chars().all(is_name)).then(|| text.cut(start..))
}

#[cfg(test)]
mod tests {
    use rolecall_core::Dialect;

    use super::*;

    fn forms(text: &str, after_answers: &str) -> Vec<(Form, String)> {
        let template = Template::from_source("t", Dialect::Jinja, "")
            .with_special_token("eos_token", "</s>")
            .with_special_token("pad_token", "");
        let tokens = EndTokens::new(&template, after_answers);
        let form = |form| Some((form, tokens.form(text, form)?.to_owned()));
        Form::ALL.into_iter().filter_map(form).collect()
    }

    #[test]
    fn a_server_stops_at_the_end_token() {
        let template = Template::from_source("t", Dialect::Jinja, "")
            .with_special_token("bos_token", "<|begin|>")
            .with_special_token("eos_token", "<|eot_id|>");
        let tokens = EndTokens::new(&template, "");
        for (text, form, served) in [
            ("Hi<|eot_id|>\n", Form::Bare, "Hi"),
            ("Hi\n", Form::Whole, "Hi\n"),
            // An end token inside of the text ends nothing.
            ("a<|eot_id|> b<|eom_id|>", Form::Bare, "a<|eot_id|> b"),
        ] {
            assert_eq!(tokens.bare(text), (form, served), "{text}");
        }
    }

    #[test]
    fn each_form_of_an_answer_is_another_text() {
        let all = |whole: &str, ended: &str, bare: &str| {
            vec![
                (Form::Whole, whole.to_owned()),
                (Form::Ended, ended.to_owned()),
                (Form::Bare, bare.to_owned()),
            ]
        };
        assert_eq!(forms("Hi</s>\n", ""), all("Hi</s>\n", "Hi</s>", "Hi"));
        assert_eq!(
            forms("Hi<end>\n", "<end>\n"),
            all("Hi<end>\n", "Hi<end>", "Hi")
        );
        assert_eq!(
            forms("Hi \n<|eom_id|>\n", ""),
            all("Hi \n<|eom_id|>\n", "Hi \n<|eom_id|>", "Hi \n")
        );
        assert_eq!(
            forms("Hi</s>", ""),
            [
                (Form::Whole, "Hi</s>".to_owned()),
                (Form::Bare, "Hi".to_owned())
            ]
        );
        for endless in ["Hi\n", "a |>", "<|a b|>", "<||>", "</call>"] {
            assert_eq!(forms(endless, "\n"), [(Form::Whole, endless.to_owned())]);
        }
    }
}
