//! Looks for what content decides.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use rolecall_core::decision::{Decisions, TRUTH};
use rolecall_core::provenance::Origin;
use rolecall_core::{Branch, Case, Dialect, Hits, Limits, Outcome, Site};

use super::comparison::{
    ComparedWith, Comparison, clock_texts, comparisons, count, emptiness, is_of_clock, read_texts,
};
use super::conversations::{TEXTS, bases, moments};
use super::effect::{Effect, effect, has_same_inputs, has_same_words, own_words};
use super::glance::{brings_no_words, has_similar_words, may_differ};
use super::literal::kind_of;
use super::subject::{Subject, speaker, text_at, with_text};
use super::variation::pairs;
use crate::probe::input_style::{open, with_tools};
use crate::probe::{ContentComparison, Decided, Examined, LiteralKind, Prober, Trigger, words};

/// The most conversations that are written for one template.
const MOST_ASKED: usize = 600;

/// The most variables that are set to true and to false.
const MOST_SWITCHES: usize = 6;

/// The most messages that are written because a template counts them.
const MOST_MESSAGES: usize = 120;

/// The most counts that are tried, the largest ones.
const MOST_COUNTS: usize = 4;

/// The words of the template that make a text. A tag may bring in one or two names.
const FEW_WORDS: usize = 3;

const NAME: &str = "what-content-decides";
const ABOUT: &str = "a conversation in which a comparison of the template holds, or just does not";

/// How much less a render of the search may take than another one. There are many of them, and a
/// template may take as long as it is let.
const SHARE: usize = 20;

/// What content decides in a template, if its engine can tell.
pub(crate) fn decided(prober: &Prober<'_>) -> Rc<Decided> {
    prober.decided(|| {
        let brief = prober.within(&Limits::shared_by(SHARE));
        brief.map_or_else(Decided::default, |prober| search(&prober))
    })
}

fn search(prober: &Prober<'_>) -> Decided {
    let mut search = Search {
        prober,
        tried: BTreeSet::new(),
        reached: BTreeSet::new(),
        known_words: BTreeSet::new(),
        counts: BTreeSet::new(),
        is_of_clock: false,
        clock_texts: BTreeSet::new(),
        read_of: BTreeSet::new(),
        sites: prober.sites(),
        queue: VecDeque::new(),
        asked: 0,
        findings: Decided::default(),
    };
    let names = compared_names(prober);
    let (short, long) = bases(prober.input_style(), names.iter().map(String::as_str));
    for case in short {
        search.begin(case, true);
    }
    for case in long {
        search.begin(case, false);
    }
    // Some conditions come after a switch.
    let given = ["messages", "tools", "documents", "add_generation_prompt"];
    let variables = prober.variables().into_iter();
    let switches = variables.filter(|name| !given.contains(&name.as_str()));
    for (name, value) in switches.take(MOST_SWITCHES).flat_map(|name| {
        let values = [true, false];
        values.map(|value| (name.clone(), value))
    }) {
        let mut case = open(vec![prober.input_style().user()]);
        case.variables.insert(name, value.into());
        search.begin(case, false);
    }
    while let Some((case, examined)) = search.queue.pop_front() {
        let examined = examined.unwrap_or_else(|| search.examine(&case));
        search.look_at(&case, examined);
    }
    search.diverse_texts();
    search.long_conversations();
    search.other_days();
    let mut findings = search.findings;
    findings.comparisons.sort_by_key(|one| one.line);
    findings
}

/// The names that a template compares with something. A name may be in quotes.
fn compared_names(prober: &Prober<'_>) -> BTreeSet<String> {
    let words = match prober.reading() {
        Some(reading) => reading.words.clone(),
        None if prober.dialect() == Dialect::Go => {
            rolecall_go::words(prober.source_without_comments())
        }
        None => return BTreeSet::new(),
    };
    let is_name = |text: &String| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let pairs = words.compared.into_iter();
    let names = pairs.flat_map(|(name, text)| [name, text]);
    names.filter(is_name).collect()
}

/// A comparison with who speaks. Comparisons with the same key are tried once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    of: String,
    /// Whether the message is the last one.
    is_last: bool,
    /// The last part of the text's path.
    field: String,
    operation: &'static str,
    with: ComparedWith,
}

impl Key {
    fn of(case: &Case, comparison: &Comparison) -> Key {
        let (of, is_last) = speaker(case, &comparison.path);
        let field = comparison.path.rsplit('.').next();
        Key {
            of,
            is_last,
            field: field.unwrap_or_default().to_owned(),
            operation: comparison.operation,
            with: comparison.with.clone(),
        }
    }

    fn of_any_field(&self) -> Key {
        Key {
            field: String::new(),
            ..self.clone()
        }
    }
}

/// Whether a path is the one of an argument of a call.
fn is_argument(path: &str) -> bool {
    path.contains(".tool_calls[") && path.contains("arguments.")
}

/// So many arguments are not tried one by one if all of them are treated alike.
const MANY: usize = 3;

struct Search<'p, 't> {
    prober: &'p Prober<'t>,
    tried: BTreeSet<Key>,
    /// The conditions that were reached, each with its truth.
    reached: BTreeSet<(usize, bool)>,
    /// The words of the template in short conversations.
    known_words: BTreeSet<String>,
    /// The numbers with which the template compares the number of a turn, or of the messages.
    counts: BTreeSet<usize>,
    /// Whether the template compares the clock.
    is_of_clock: bool,
    /// The texts with which it does.
    clock_texts: BTreeSet<String>,
    /// Whose texts the template looks at, beyond whether there are any.
    read_of: BTreeSet<String>,
    sites: Vec<Site>,
    /// The conversations to look at, examined already or not.
    queue: VecDeque<(Case, Option<Examined>)>,
    /// How many conversations were written.
    asked: usize,
    findings: Decided,
}

impl Search<'_, '_> {
    /// Renders a conversation that was written. This says nothing about the origins of texts, and takes a
    /// small part of the time that [`Search::examine`] takes.
    fn glance(&mut self, case: &Case) -> (Outcome, Option<Hits>) {
        self.asked += 1;
        let (outcome, hits) = self.prober.covered(case.clone());
        self.note_limits(matches!(outcome, Outcome::Exceeded { .. }));
        (outcome, hits)
    }

    fn examine(&mut self, case: &Case) -> Examined {
        let examined = self.prober.examine(NAME, ABOUT, case.clone());
        self.note_limits(examined.seen.is_out_of_limits());
        examined
    }

    fn note_limits(&mut self, is_out_of_limits: bool) {
        if is_out_of_limits {
            let why = format!(
                "a conversation takes more than a {SHARE}th of the limits, so what the template does \
                 in it was not looked at"
            );
            self.findings.untried.get_or_insert(why);
        }
    }

    /// Takes a conversation that anybody may have.
    fn begin(&mut self, case: Case, is_short: bool) {
        if !is_short {
            let (_, hits) = self.glance(&case);
            if self.is_new(&case, hits.as_ref()) {
                self.queue.push_back((case, None));
            }
            return;
        }
        self.asked += 1;
        let examined = self.examine(&case);
        self.is_new_in(&examined);
        let words = own_words(&examined);
        self.known_words
            .extend(words.into_iter().map(|(word, _)| word));
        self.findings.is_known |= examined.decisions.is_some();
        self.queue.push_back((case, Some(examined)));
    }

    /// Whether a render of a conversation came to a condition in a way that is new. Without hits the
    /// front has picked another template of the model.
    fn is_new(&mut self, case: &Case, hits: Option<&Hits>) -> bool {
        let Some(hits) = hits else {
            let examined = self.examine(case);
            return self.is_new_in(&examined);
        };
        let before = self.reached.len();
        for (branch, truth) in [(Branch::True, true), (Branch::False, false)] {
            let sites = (0..self.sites.len()).filter(|site| hits.has(*site, branch));
            self.reached.extend(sites.map(|site| (site, truth)));
        }
        self.reached.len() > before
    }

    /// The same for a render that was examined.
    fn is_new_in(&mut self, examined: &Examined) -> bool {
        let before = self.reached.len();
        let decisions = examined.decisions.iter().flat_map(|all| &all.decisions);
        self.reached
            .extend(decisions.map(|decision| (decision.site, decision.truth)));
        self.reached.len() > before
    }

    /// Tries every comparison that the template makes in a conversation.
    fn look_at(&mut self, case: &Case, examined: Examined) {
        let is_whole = |decisions: &Decisions| !decisions.is_cut;
        if !examined.decisions.as_ref().is_some_and(is_whole) {
            // Nobody knows what else it looks at.
            let roles = case.messages.iter().filter_map(|it| it["role"].as_str());
            self.read_of.extend(roles.map(str::to_owned));
        }
        let Some(decisions) = examined.decisions else {
            return;
        };
        self.note_emptiness(case, &decisions);
        let lines = self.lines(&decisions);
        let mut of_arguments: BTreeMap<Key, Vec<(Comparison, Option<usize>)>> = BTreeMap::new();
        for (look, line) in decisions.looks.into_iter().zip(lines) {
            self.counts.extend(count(&look));
            self.is_of_clock |= is_of_clock(&look);
            self.clock_texts.extend(clock_texts(&look));
            let read = read_texts(&look).map(|path| speaker(case, path).0);
            self.read_of.extend(read);
            for comparison in comparisons(&look) {
                let key = Key::of(case, &comparison);
                if self.tried.contains(&key) {
                    continue;
                }
                if is_argument(&comparison.path) {
                    let alike = of_arguments.entry(key.of_any_field()).or_default();
                    if alike.iter().all(|(one, _)| one.path != comparison.path) {
                        alike.push((comparison, line));
                    }
                    continue;
                }
                self.try_once(case, &comparison, key, line);
            }
        }
        for alike in of_arguments.into_values() {
            self.try_arguments(case, &alike);
        }
    }

    /// Tries a comparison, unless the conversations are used up.
    fn try_once(&mut self, case: &Case, comparison: &Comparison, key: Key, line: Option<usize>) {
        if self.asked < MOST_ASKED {
            // Another conversation may have the text under the key that the template reads.
            if self.try_comparison(case, comparison, (&key.of, line)) {
                self.tried.insert(key);
            }
        } else {
            let why = format!(
                "the template compares so much that {MOST_ASKED} conversations are not \
                 enough to try it all"
            );
            self.findings.untried = Some(why);
        }
    }

    /// Tries one comparison of many arguments. Most templates treat all arguments alike. So the first one
    /// is tried alone, and the others only if something new happens when all of them are changed
    /// at once.
    fn try_arguments(&mut self, case: &Case, alike: &[(Comparison, Option<usize>)]) {
        let mut others = alike;
        while let Some(((comparison, line), rest)) = others.split_first() {
            let key = Key::of(case, comparison);
            others = rest;
            if !self.tried.contains(&key) {
                self.try_once(case, comparison, key, *line);
            }
            if rest.len() + 1 == alike.len() && rest.len() >= MANY && self.are_alike(case, rest) {
                let keys = rest.iter().map(|(one, _)| Key::of(case, one));
                self.tried.extend(keys);
                return;
            }
        }
    }

    /// Whether nothing new happens if all of these texts of a conversation are changed at once.
    fn are_alike(&mut self, case: &Case, alike: &[(Comparison, Option<usize>)]) -> bool {
        let Some(((first, _), others)) = alike.split_first() else {
            return true;
        };
        let mut all: Vec<(Case, Case)> = pairs(case, first);
        for (comparison, _) in others {
            for (branch, (with, without)) in all.iter_mut().enumerate() {
                let changed = |case: &Case| pairs(case, comparison).into_iter().nth(branch);
                let (Some((next, _)), Some((_, other))) = (changed(with), changed(without)) else {
                    return false;
                };
                (*with, *without) = (next, other);
            }
        }
        all.into_iter().all(|(with, without)| {
            let (seen, hits) = self.glance(&with);
            let (usual, hits_of_usual) = self.glance(&without);
            let texts = [&without, &with].map(|case| text_at(case, &first.path));
            let is_known = self.is_known_to_change(first) || !may_differ([&usual, &seen], texts);
            is_known
                && has_similar_words(&usual, &seen, texts, FEW_WORDS)
                && !self.is_new(&with, hits.as_ref())
                && !self.is_new(&without, hits_of_usual.as_ref())
        })
    }

    /// Whether it is listed already that a comparison with a literal changes prompts.
    fn is_known_to_change(&self, comparison: &Comparison) -> bool {
        let ComparedWith::Literal { text, at: Some(at) } = &comparison.with else {
            return false;
        };
        let line = self.prober.line(*at);
        self.findings.comparisons.iter().any(|known| {
            known.changes_prompt
                && known.line == line
                && known.literal == *text
                && known.operation == comparison.operation
        })
    }

    /// Writes conversations in which a comparison holds, and notes what comes of it. False if the
    /// text is in no place of the conversation where it could be changed.
    fn try_comparison(
        &mut self,
        case: &Case,
        comparison: &Comparison,
        (of, line): (&str, Option<usize>),
    ) -> bool {
        let line = match &comparison.with {
            ComparedWith::Literal { at: Some(at), .. } => Some(self.prober.line(*at)),
            _ => line,
        };
        let kind = match (&comparison.with, comparison.subject) {
            (ComparedWith::Number(_), _) => LiteralKind::Number,
            (ComparedWith::Literal { .. }, Subject::Name) => LiteralKind::Name,
            (ComparedWith::Literal { text, .. }, Subject::Content) => kind_of(text),
        };
        let mut found = None;
        let pairs = pairs(case, comparison);
        let is_tried = !pairs.is_empty();
        for (with, without) in pairs {
            let (seen, hits) = self.glance(&with);
            let (usual, hits_of_usual) = self.glance(&without);
            let texts = [&without, &with].map(|case| text_at(case, &comparison.path));
            // What changes few words brings in no text.
            let may_bring_text = || {
                [LiteralKind::Word, LiteralKind::Number].contains(&kind)
                    || !self.is_known_to_change(comparison)
                    || !has_similar_words(&usual, &seen, texts, FEW_WORDS)
            };
            if found.is_none() && may_differ([&usual, &seen], texts) && may_bring_text() {
                let (usual, seen) = (self.examine(&without), self.examine(&with));
                let is_alike = kind != LiteralKind::Number;
                let effect = effect(&usual, &seen, &comparison.path, is_alike);
                found = effect.map(|effect| (effect, usual, seen));
            }
            if self.is_new(&with, hits.as_ref()) {
                self.queue.push_back((with, None));
            }
            if self.is_new(&without, hits_of_usual.as_ref()) {
                self.queue.push_back((without, None));
            }
        }
        let mut kind = kind;
        if let Some((Effect::Elsewhere, usual, seen)) = &found
            && [LiteralKind::Word, LiteralKind::Tag].contains(&kind)
            && is_directive(comparison, usual, seen)
        {
            kind = LiteralKind::Own;
        }
        self.note(comparison, kind, (of, line), found.is_some());
        let Some((effect, usual, seen)) = found else {
            return is_tried;
        };
        let is_word = kind == LiteralKind::Word;
        let is_triggered = match kind {
            LiteralKind::Word => true,
            LiteralKind::Own => false,
            LiteralKind::Number if comparison.with <= ComparedWith::Number(1) => false,
            _ => effect == Effect::Elsewhere && self.brings_in_text(&usual, &seen),
        };
        if !is_triggered {
            return is_tried;
        }
        let does = match effect {
            Effect::Elsewhere if is_word || kind == LiteralKind::Number => {
                "changes the prompt outside of it"
            }
            Effect::Elsewhere => "brings words of the template into the prompt",
            Effect::OfItself => "is changed or cut",
            Effect::Refused if seen.seen.text().is_none() => "is refused",
            Effect::Refused => "is accepted, and others are refused",
        };
        let whose = whose(of, comparison.subject);
        let what = match &comparison.with {
            ComparedWith::Literal { text, .. } => format!("{whose} with `{text}` {does}"),
            ComparedWith::Number(number) => {
                format!("{whose} is compared with the number {number}, which {does}")
            }
        };
        self.add(what, line, &usual, &seen);
        is_tried
    }

    fn add(&mut self, what: String, line: Option<usize>, usual: &Examined, seen: &Examined) {
        let known = &mut self.findings.triggers;
        let is_known = known
            .iter()
            .any(|known| known.what == what || known.line.is_some() && known.line == line);
        if !is_known {
            known.push(Trigger {
                what,
                line,
                usual: Rc::clone(&usual.seen),
                seen: Rc::clone(&seen.seen),
            });
        }
    }

    /// Lists a comparison.
    fn note(
        &mut self,
        comparison: &Comparison,
        kind: LiteralKind,
        (of, line): (&str, Option<usize>),
        changes_prompt: bool,
    ) {
        let (ComparedWith::Literal { text, .. }, Some(line)) = (&comparison.with, line) else {
            return;
        };
        self.list(ContentComparison {
            line,
            operation: comparison.operation.to_owned(),
            literal: text.clone(),
            kind,
            of: vec![of.to_owned()],
            changes_prompt,
        });
    }

    /// The line of the condition in which each look took place.
    fn lines(&self, decisions: &Decisions) -> Vec<Option<usize>> {
        let mut lines = vec![None; decisions.looks.len()];
        // An operand ends before the condition around it.
        for decision in decisions.decisions.iter().rev() {
            let site = self.sites.get(decision.site);
            let line = site.map(|site| self.prober.line(site.span.start));
            if let Some(looks) = lines.get_mut(decision.looks.clone()) {
                looks.fill(line);
            }
        }
        lines
    }

    /// Lists the conditions that ask whether there is a text.
    fn note_emptiness(&mut self, case: &Case, decisions: &Decisions) {
        for decision in &decisions.decisions {
            let looks = decisions.looks.get(decision.looks.clone());
            let mut asked = looks.into_iter().flatten().filter_map(emptiness);
            let Some((path, site)) = asked.next().zip(self.sites.get(decision.site)) else {
                continue;
            };
            self.list(ContentComparison {
                line: self.prober.line(site.span.start),
                operation: TRUTH.to_owned(),
                literal: String::new(),
                kind: LiteralKind::Empty,
                of: vec![speaker(case, &path).0],
                changes_prompt: false,
            });
        }
    }

    fn list(&mut self, comparison: ContentComparison) {
        let known = self.findings.comparisons.iter_mut().find(|known| {
            known.line == comparison.line
                && known.literal == comparison.literal
                && (known.operation == comparison.operation || known.literal.is_empty())
        });
        let Some(known) = known else {
            self.findings.comparisons.push(comparison);
            return;
        };
        known.changes_prompt |= comparison.changes_prompt;
        for role in comparison.of {
            if !known.of.contains(&role) {
                known.of.push(role);
            }
        }
    }

    /// Whether one of two prompts has words of the template that neither the other nor a usual prompt
    /// has.
    fn brings_in_text(&self, usual: &Examined, seen: &Examined) -> bool {
        let (usual, seen) = (own_words(usual), own_words(seen));
        let more = |one: &BTreeSet<(String, usize)>, other: &BTreeSet<(String, usize)>| {
            let new = one.iter().filter(|(word, _)| {
                !self.known_words.contains(word) && !other.iter().any(|(known, _)| known == word)
            });
            new.count() >= FEW_WORDS
        };
        more(&seen, &usual) || more(&usual, &seen)
    }

    /// Replaces a text by texts of other languages and kinds. The rest of the prompt has to stay the
    /// same.
    fn diverse_texts(&mut self) {
        // What is known already is shown by one comparison.
        if !self.findings.triggers.is_empty() {
            return;
        }
        let m = self.prober.input_style();
        let round = with_tools(open(vec![m.system(), m.user(), m.call(), m.result()]));
        let plain = [
            (open(vec![m.user()]), "messages[0].content"),
            (open(vec![m.system(), m.user()]), "messages[0].content"),
            (
                open(vec![m.user(), m.assistant(), m.second_user()]),
                "messages[1].content",
            ),
            (round, "messages[3].content"),
        ];
        for (case, path) in plain {
            // What a Jinja template only writes decides nothing.
            let is_read = self.read_of.contains(&speaker(&case, path).0);
            if !is_read && self.prober.dialect() == Dialect::Jinja {
                continue;
            }
            let (usual, _) = self.glance(&case);
            let mut examined = None;
            for (kind, text) in TEXTS {
                let Some(other) = with_text(&case, path, |_| Some((*text).to_owned())) else {
                    continue;
                };
                let (seen, _) = self.glance(&other);
                if !may_differ([&usual, &seen], [text_at(&case, path), Some(text)]) {
                    continue;
                }
                let seen = self.examine(&other);
                let usual = &*examined.get_or_insert_with(|| self.examine(&case));
                let path = path_of(usual, &case, path);
                if effect(usual, &seen, &path, false) == Some(Effect::Elsewhere)
                    && !has_same_words(usual, &seen, &path)
                {
                    let (of, _) = speaker(&case, &path);
                    let whose = whose(&of, Subject::Content);
                    let what = format!("{whose} that is {kind} changes the prompt outside of it");
                    return self.add(what, None, usual, &seen);
                }
            }
        }
    }

    /// Holds conversations that are as long as the template's own numbers.
    fn long_conversations(&mut self) {
        let m = self.prober.input_style();
        // The last one asks, so an even number begins with a system message.
        let turns = |count: usize| {
            let message = |at: usize| {
                #[allow(clippy::indexing_slicing)] // The remainder is less than the length.
                let (user, assistant) = words::TURNS[at / 2 % words::TURNS.len()];
                match at % 2 {
                    0 => m.message("user", user),
                    _ => m.message("assistant", assistant),
                }
            };
            let system = count.is_multiple_of(2).then(|| m.system());
            let turns = (0..(count - 1) | 1).map(message);
            open(system.into_iter().chain(turns).collect())
        };
        let usual = [self.examine(&turns(4)), self.examine(&turns(3))];
        let usual_words = usual.each_ref().map(own_words);
        let mut counts: BTreeSet<usize> = [25].into();
        let numbers = self.counts.iter().rev().copied();
        let numbers = numbers.filter(|number| (2..MOST_MESSAGES).contains(number));
        for number in numbers.take(MOST_COUNTS) {
            // A number may count messages or rounds of two, with or without a system message, and be
            // compared by `<` or `<=`.
            counts.extend([number, number + 1, number + 2, 2 * number, 2 * number + 1]);
        }
        for count in counts {
            #[allow(clippy::indexing_slicing)] // There are two, for even and for odd numbers.
            let (usual, words) = (&usual[count % 2], &usual_words[count % 2]);
            let case = turns(count);
            let (seen, _) = self.glance(&case);
            if brings_no_words(&seen, &case, words) {
                continue;
            }
            let seen = self.examine(&case);
            let what = format!("a conversation of {count} messages");
            self.demand_no_words(&what, usual, &seen);
        }
    }

    fn other_days(&mut self) {
        if !self.is_of_clock {
            return;
        }
        let mut case = open(vec![self.prober.input_style().user()]);
        let usual = self.examine(&case);
        for now in moments(&self.clock_texts) {
            case.now = now;
            let (seen, _) = self.glance(&case);
            if has_similar_words(&usual.seen.outcome, &seen, [None; 2], FEW_WORDS) {
                continue;
            }
            let seen = self.examine(&case);
            let (words, usual_words) = (own_words(&seen), own_words(&usual));
            // A name of a month is no text.
            let mut other = words.symmetric_difference(&usual_words);
            if other.clone().count() >= FEW_WORDS
                && let Some((_, at)) = other.next()
            {
                let line = Some(self.prober.line(*at));
                let what = "the day or the hour changes the words of the prompt".to_owned();
                self.add(what, line, &usual, &seen);
            }
        }
    }

    /// Demands that a prompt has no words of the template but the usual ones.
    fn demand_no_words(&mut self, what: &str, usual: &Examined, seen: &Examined) {
        let usual_words = own_words(usual);
        let seen_words = own_words(seen);
        let is_new = |word: &String| !usual_words.iter().any(|(known, _)| known == word);
        let mut new = seen_words.iter().filter(|(word, _)| is_new(word));
        let Some((word, at)) = new.next() else {
            return;
        };
        let line = self.prober.line(*at);
        let mut all: Vec<&str> = vec![word];
        all.extend(new.map(|(word, _)| word.as_str()).take(5));
        let what = format!("{what} brings words into the prompt: {}", all.join(", "));
        self.add(what, Some(line), usual, seen);
    }
}

/// The path of a text as the spans of its prompt name it: Ollama has other names for the texts of
/// the last turn.
fn path_of(examined: &Examined, case: &Case, path: &str) -> String {
    let text = text_at(case, path).unwrap_or_default();
    let prompt = examined.seen.text().unwrap_or_default();
    let named = examined
        .spans
        .iter()
        .flatten()
        .find_map(|span| match &span.origin {
            Origin::Input { input, .. } if prompt.get(span.prompt.clone()) == Some(text) => {
                Some(input.path.clone())
            }
            _ => None,
        });
    named.unwrap_or_else(|| path.to_owned())
}

fn whose(of: &str, subject: Subject) -> String {
    match (of, subject) {
        ("tools", Subject::Name) => "a tool".to_owned(),
        ("tools", Subject::Content) => "the description of a tool".to_owned(),
        ("documents", _) => "a document".to_owned(),
        ("user" | "prompt", Subject::Content) => "a question".to_owned(),
        ("assistant", Subject::Content) => "an answer".to_owned(),
        ("tool", Subject::Content) => "a tool's result".to_owned(),
        (role, Subject::Content) => format!("a {role} message"),
        (role, Subject::Name) => format!("a name in a message of `{role}`"),
    }
}

/// Whether a template looks whether its own words are there already: at least half of the words
/// that it looks for are its own in the usual prompt, it brings in no others, and the texts of the
/// conversation stay.
fn is_directive(comparison: &Comparison, usual: &Examined, seen: &Examined) -> bool {
    let ComparedWith::Literal { text, .. } = &comparison.with else {
        return false;
    };
    let lower = |words: BTreeSet<(String, usize)>| -> BTreeSet<String> {
        words
            .into_iter()
            .map(|(word, _)| word.to_lowercase())
            .collect()
    };
    let (own, new) = (lower(own_words(usual)), lower(own_words(seen)));
    let words = text.split(|c: char| !c.is_alphabetic());
    let words: Vec<String> = words
        .filter(|word| word.len() > 2)
        .map(str::to_lowercase)
        .collect();
    let common = words.iter().filter(|word| own.contains(*word)).count();
    common > 0
        && 2 * common >= words.len()
        && new.is_subset(&own)
        && has_same_inputs(usual, seen, &comparison.path, text.len())
}
