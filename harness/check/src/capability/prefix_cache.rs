//! What a server with a prefix cache computes again when a conversation goes on.

use rolecall_core::Cut;
use serde::Serialize;

use crate::probe::turns::{AGENT, CHAT, Turn};
use crate::probe::{Prober, common};
use crate::tokenizer::Tokenizer;

/// What a server with a prefix cache computes again in two conversations, one of an agent and a chat.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PrefixCache {
    /// An agent's conversation with tools. Absent if the template does not take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<Recomputed>,
    /// A chat without tools. Absent if the template does not take it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<Recomputed>,
}

/// The part of a conversation's prompts and answers that the next prompts do not begin with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Recomputed {
    /// How much of all turns together is computed again, by bytes.
    pub percent: usize,
    /// The bytes of all turns: of each prompt with its answer.
    pub bytes: usize,
    /// How many of these bytes are computed again.
    pub recomputed_bytes: usize,
    /// The tokens of all turns, if the model's tokenizer is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<usize>,
    /// How many of these tokens are computed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recomputed_tokens: Option<usize>,
    /// Each turn but the last.
    pub turns: Vec<RecomputedTurn>,
}

/// A prompt and its answer, and how much of them the next prompt does not begin with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecomputedTurn {
    /// The probe with the next prompt.
    pub next: &'static str,
    /// What the next prompt adds: `a question` or `a result`.
    pub after: &'static str,
    /// How much of the turn is computed again, by bytes.
    pub percent: usize,
    /// The bytes of the prompt with its answer.
    pub bytes: usize,
    /// How many of these bytes are computed again.
    pub recomputed_bytes: usize,
}

impl PrefixCache {
    /// Finds out what a template costs. `takes_tools` says whether an agent can use it, and
    /// `opens_always` whether it opens the model's turn also after an answer.
    pub(crate) fn of(prober: &Prober<'_>, takes_tools: bool, opens_always: bool) -> PrefixCache {
        let of = |turns: &[Turn]| Recomputed::measure(prober, turns, opens_always);
        PrefixCache {
            agent: takes_tools.then(|| of(&AGENT)).flatten(),
            chat: of(&CHAT),
        }
    }

    /// Whether nothing is known.
    pub(super) fn is_unknown(&self) -> bool {
        *self == PrefixCache::default()
    }

    /// What is computed again, in a sentence. None if nothing is.
    pub fn in_words(&self) -> Option<String> {
        let both = [(&self.agent, "an agent's"), (&self.chat, "a chat's")];
        let words = both
            .into_iter()
            .filter_map(|(found, whose)| found.as_ref()?.in_words(whose));
        let words: Vec<String> = words.collect();
        (!words.is_empty()).then(|| words.join("; "))
    }
}

impl Recomputed {
    /// None if the template does not take the conversation.
    fn measure(prober: &Prober<'_>, turns: &[Turn], opens_always: bool) -> Option<Recomputed> {
        let tokenizer = prober.tokenizer().filter(|tokenizer| tokenizer.is_whole());
        let mut found = Vec::new();
        let mut tokens = tokenizer.map(|_| [0, 0]);
        for (turn, next) in turns.iter().zip(turns.iter().skip(1)) {
            let [asked, answered, goes_on] =
                [turn.asks, turn.answered, next.asks].map(|probe| prober.see(probe));
            let (asked, mut finished) = (asked.text()?, answered.text()?);
            if opens_always {
                let end = finished.rfind(turn.last)? + turn.last.len();
                finished = finished.cut(..end);
            }
            // The server has the prompt and what the model wrote after it.
            let answer = finished.cut(common(asked, finished)..);
            let cached = [asked, answer].concat();
            let (cached, goes_on) = (cached.trim_end(), goes_on.text()?);
            let lost = cached.len() - common(cached, goes_on);
            tokens = tokens.and_then(|[all, lost]| {
                let [more, more_lost] = lost_tokens(tokenizer?, cached, goes_on)?;
                Some([all + more, lost + more_lost])
            });
            found.push(RecomputedTurn {
                next: next.asks.name,
                after: next.after,
                percent: percent(lost, cached.len()),
                bytes: cached.len(),
                recomputed_bytes: lost,
            });
        }
        let bytes = found.iter().map(|turn| turn.bytes).sum();
        let recomputed_bytes = found.iter().map(|turn| turn.recomputed_bytes).sum();
        Some(Recomputed {
            percent: percent(recomputed_bytes, bytes),
            bytes,
            recomputed_bytes,
            tokens: tokens.map(|[all, _]| all),
            recomputed_tokens: tokens.map(|[_, lost]| lost),
            turns: found,
        })
    }

    /// How much is computed again after each turn, in words. None if it is less than half a per cent.
    pub(crate) fn in_words(&self, whose: &str) -> Option<String> {
        if self.percent == 0 {
            return None;
        }
        let turns = self.turns.len();
        let mean = |sum: usize| (sum + turns / 2) / turns;
        let mut counts = format!(
            "{} of {} bytes",
            mean(self.recomputed_bytes),
            mean(self.bytes)
        );
        if let (Some(lost), Some(all)) = (self.recomputed_tokens, self.tokens) {
            counts = format!("{counts}, {} of {} tokens", mean(lost), mean(all));
        }
        // Where every turn is like the others, the worst one says nothing.
        let next = self.turns.iter().skip(1);
        let mut pairs = self.turns.iter().zip(next);
        let is_alike = pairs.all(|(turn, next)| turn.after == next.after);
        let worst = self.turns.iter().filter(|_| !is_alike);
        let worst = worst.max_by_key(|turn| turn.percent);
        let worst = worst.filter(|turn| turn.percent > self.percent);
        let worst = worst.map(|turn| format!("; {} % after {}", turn.percent, turn.after));
        Some(format!(
            "{} % of {whose} prompt is computed again after each turn ({counts}{})",
            self.percent,
            worst.unwrap_or_default()
        ))
    }
}

/// The tokens of a text, and how many of them come after the tokens that another text begins with, too.
fn lost_tokens(tokenizer: &Tokenizer, cached: &str, goes_on: &str) -> Option<[usize; 2]> {
    let [cached, goes_on] = [cached, goes_on].map(|text| tokenizer.encode(text).ok());
    let (cached, goes_on) = (cached?, goes_on?);
    let both = cached.iter().zip(&goes_on);
    let kept = both.take_while(|(one, other)| one.id == other.id).count();
    Some([cached.len(), cached.len() - kept])
}

/// A share in per cent, rounded.
fn percent(part: usize, whole: usize) -> usize {
    (part * 100 + whole / 2) / whole.max(1)
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Dialect, Template};
    use rolecall_jinja::JinjaEngine;

    use super::*;
    use crate::card::examine;

    /// What a template costs whose earlier answers are printed in this way.
    fn cost(answer: &str) -> PrefixCache {
        let source = format!(
            "{{{{ tools | tojson if tools }}}}{{% for m in messages %}}<|{{{{ m.role }}}}|>\
             {{% if m.role == 'assistant' %}}{answer}{{% endif %}}\
             {{{{ m.content }}}}{{{{ m.tool_calls | tojson if m.tool_calls }}}}<|end|>{{% endfor %}}\
             {{{{ '<|assistant|>' if add_generation_prompt }}}}"
        );
        let template = Template::from_source("t", Dialect::Jinja, &source);
        examine(&JinjaEngine::new(), &template)
            .capabilities
            .prefix_cache
    }

    #[test]
    fn what_stays_costs_nothing_and_what_goes_costs_all_after_it() {
        let kept = cost("<think>{{ m.reasoning_content }}</think>");
        assert_eq!(kept.in_words(), None);
        assert_eq!(kept.agent.unwrap().percent, 0);

        let is_last = "{% if loop.last or messages[loop.index0:] | \
            selectattr('role', 'equalto', 'user') | list | length == 0 %}";
        let gone = cost(&format!(
            "{is_last}<think>{{{{ m.reasoning_content }}}}</think>{{% endif %}}"
        ));
        let agent = gone.agent.clone().unwrap();
        let turns = agent.turns.iter();
        let turns: Vec<_> = turns
            .map(|turn| (turn.after, turn.recomputed_bytes > 0))
            .collect();
        assert_eq!(
            turns,
            [
                ("a result", false),
                ("a result", false),
                ("a question", true)
            ]
        );
        // What comes after the reasoning of the first call is computed again.
        let last = &agent.turns[2];
        assert!((40..90).contains(&last.percent), "{last:?}");
        let chat = gone.chat.clone().unwrap();
        let answers = "<think>".len()
            + "Yellow leaves at the bottom, with much water, point to roots without air. I \
               should ask for the pot, but a first answer helps more."
                .len();
        assert!(chat.turns[0].recomputed_bytes > answers, "{chat:?}");
        let words = gone.in_words().unwrap();
        let expected = format!(
            "{} % of an agent's prompt is computed again after each turn ({} of {} bytes; {} % after a \
             question); {} % of a chat's prompt",
            agent.percent,
            (agent.recomputed_bytes + 1) / 3,
            (agent.bytes + 1) / 3,
            last.percent,
            chat.percent
        );
        assert!(words.starts_with(&expected), "{words}\n{expected}");
    }

    #[test]
    fn a_template_that_opens_the_models_turn_always_loses_nothing_by_it() {
        let source = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}<|assistant|>";
        let template = Template::from_source("t", Dialect::Jinja, source);
        let cache = examine(&JinjaEngine::new(), &template)
            .capabilities
            .prefix_cache;
        assert_eq!((cache.agent, cache.chat.unwrap().percent), (None, 0));
    }
}
