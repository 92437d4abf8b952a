//! Edits of a template's source, and which of them makes a difference between two prompts.
//!
//! The cause of a difference is found by experiment. The template is rendered again with one edit
//! taken back: if that brings the prompt of the other side back, the edit is the cause.

use std::collections::HashMap;
use std::sync::Arc;

use rolecall_core::guard::load;
use rolecall_core::hunk::{self, Hunk};
use rolecall_core::lines::Lines;
use rolecall_core::{Cut, Engine, Outcome, Template};

use super::relation::Relation;

/// Templates with more edits are hardly read edit by edit. Edits near each other then count as one.
const MOST_EDITS: usize = 24;

/// The same change of signs in so many places is one edit, such as of white space in all tags.
pub(crate) const OFTEN: usize = 4;

/// A shorter edit is shown with what is around it, up to so many characters on each side.
const SHORT: usize = 24;
/// A tag around an edit is shown whole if it begins and ends within so many characters.
const TAG: usize = 60;

/// An edit of a template's source. It may have several places.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourceEdit {
    /// The lines of B in which its places begin.
    pub lines: Vec<usize>,
    /// Its first place in A and in B. If both texts are short, they come with what is around them.
    pub texts: [String; 2],
}

/// The most lines of an edit that a report names.
const MOST_PLACES: usize = 4;

/// Lines of a template in words: `line 3`, or `lines 3, 5 and 9`.
pub fn lines_in_words(lines: &[usize]) -> String {
    let mut shown: Vec<String> = lines.iter().map(ToString::to_string).collect();
    if let Some(more) = shown
        .len()
        .checked_sub(MOST_PLACES)
        .filter(|more| *more > 0)
    {
        shown.truncate(MOST_PLACES);
        shown.push(format!("{more} more"));
    }
    match shown.as_slice() {
        [line] => format!("line {line}"),
        [lines @ .., last] => format!("lines {} and {last}", lines.join(", ")),
        [] => String::new(),
    }
}

/// The edits that make B of A.
pub(super) struct SourceEdits<'t> {
    sides: [&'t Template; 2],
    /// The places of each edit, in their order.
    edits: Vec<Vec<Hunk>>,
    /// Whether nothing but their sources distinguishes the two templates.
    is_all: bool,
}

/// The edit that makes a difference.
pub(super) struct Blame {
    pub(super) edit: Arc<SourceEdit>,
    /// The outcome of B without the edit, if other edits change this outcome, too.
    pub(super) without: Option<Outcome>,
}

/// What comes of a case if an edit is taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Effect {
    /// The outcome of B, as before.
    Nothing,
    /// Another outcome, but not that of A.
    Changes,
    /// The outcome of A.
    Restores,
}

impl Effect {
    fn of([a, b]: &[Outcome; 2], without: &Outcome) -> Effect {
        if Relation::of(a, without) != Relation::Differ {
            Effect::Restores
        } else if Relation::of(b, without) == Relation::Differ {
            Effect::Changes
        } else {
            Effect::Nothing
        }
    }
}

#[allow(clippy::indexing_slicing)] // Numbers of edits and of cases are counted from these lists.
impl<'t> SourceEdits<'t> {
    /// The edits between two templates. None if neither was made from the other, or if they are
    /// several templates each.
    pub(super) fn between(
        engine: &dyn Engine,
        sides: [&'t Template; 2],
    ) -> Option<SourceEdits<'t>> {
        let [a, b] = sides;
        let is_one = a.named.is_empty() && b.named.is_empty();
        if a.dialect != b.dialect || a.source == b.source || !is_one {
            return None;
        }
        let mut edits = alike(sides, usize::MAX);
        if edits.len() > MOST_EDITS {
            edits = alike(sides, MOST_EDITS);
        }
        let gone: usize = edits.iter().flatten().map(|hunk| hunk.old.len()).sum();
        // With less than half of the shorter source in common, single edits explain nothing.
        if 2 * (a.source.len() - gone) < a.source.len().min(b.source.len()) {
            return None;
        }
        let mut found = SourceEdits {
            sides,
            edits,
            is_all: a.special_tokens == b.special_tokens
                && a.variables == b.variables
                && a.front == b.front
                && a.setup == b.setup,
        };
        found.join_dependent(|template| load(engine, template).refusal().is_none());
        Some(found)
    }

    /// Joins edits that cannot be taken back alone, such as the begin and the end of a branch: the
    /// template would not compile.
    fn join_dependent(&mut self, compiles: impl Fn(&Template) -> bool) {
        let [a, b] = self.sides;
        // If a side does not compile as it is, it says nothing that an edit alone does not compile.
        if self.edits.len() < 2 || !compiles(a) || !compiles(b) {
            return;
        }
        let is_alone = |edits: &SourceEdits<'_>, at: usize| compiles(&edits.without(&[at]));
        let mut broken: Vec<usize> = (0..self.edits.len())
            .filter(|at| !is_alone(self, *at))
            .collect();
        let mut joined = Vec::new();
        // The last begin of a branch belongs to the next end.
        for first in broken.clone().into_iter().rev() {
            let later = broken.iter().filter(|at| **at > first).copied();
            let mut later = later.collect::<Vec<_>>().into_iter();
            if broken.contains(&first)
                && let Some(last) = later.find(|last| compiles(&self.without(&[first, *last])))
            {
                broken.retain(|at| *at != first && *at != last);
                joined.push(vec![first, last]);
            }
        }
        // What is left compiles in no pair. Taken back together it may.
        joined.extend((broken.len() > 1).then_some(broken));
        self.join(&joined);
    }

    /// Makes one edit of each list of edits.
    fn join(&mut self, lists: &[Vec<usize>]) {
        for list in lists {
            let [first, others @ ..] = list.as_slice() else {
                continue;
            };
            for other in others {
                let hunks = std::mem::take(&mut self.edits[*other]);
                self.edits[*first].extend(hunks);
            }
            self.edits[*first].sort_by_key(|hunk| hunk.new.start);
        }
        self.edits.retain(|hunks| !hunks.is_empty());
    }

    /// B with these edits taken back.
    fn without(&self, edits: &[usize]) -> Template {
        let [a, b] = self.sides;
        let mut hunks: Vec<&Hunk> = edits.iter().flat_map(|at| &self.edits[*at]).collect();
        hunks.sort_by_key(|hunk| hunk.new.start);
        Template {
            source: hunk::without(&a.source, &b.source, hunks),
            ..b.clone()
        }
    }

    /// Finds the edit that makes the difference in each case. `render` renders some of the cases,
    /// given by their places, with a template.
    pub(super) fn blame(
        mut self,
        cases: &[&[Outcome; 2]],
        render: impl Fn(&Template, &[usize]) -> Vec<Outcome>,
    ) -> Vec<Option<Blame>> {
        let all: Vec<usize> = (0..cases.len()).collect();
        // Nothing else distinguishes the two templates, so that no experiment is needed.
        if self.is_all && self.edits.len() == 1 {
            let edit = self.edit(&[0]);
            let blame = all.iter().map(|_| Blame::alone(&edit));
            return blame.map(Some).collect();
        }
        let effects = |edits: &SourceEdits<'_>, taken: &[usize], of: &[usize]| -> Vec<Effect> {
            let outcomes = render(&edits.without(taken), of);
            let pairs = of.iter().zip(&outcomes);
            pairs
                .map(|(at, without)| Effect::of(cases[*at], without))
                .collect()
        };
        let each = |edits: &SourceEdits<'_>| -> Vec<Vec<Effect>> {
            let all_edits = 0..edits.edits.len();
            all_edits.map(|at| effects(edits, &[at], &all)).collect()
        };
        let mut by_edit = each(&self);
        let inseparable = inseparable(&by_edit);
        if !inseparable.is_empty() {
            self.join(&inseparable);
            by_edit = each(&self);
        }
        let chosen: Vec<Option<(usize, Effect)>> =
            all.iter().map(|case| choose(&by_edit, *case)).collect();
        let edits: Vec<_> = (0..self.edits.len()).map(|at| self.edit(&[at])).collect();
        let mut blames: Vec<Option<Blame>> = Vec::new();
        for one in &chosen {
            blames.push(one.map(|(edit, _)| Blame::alone(&edits[edit])));
        }
        for edit in 0..edits.len() {
            let is_one = |case: &usize| chosen[*case] == Some((edit, Effect::Changes));
            let of: Vec<usize> = all.iter().copied().filter(is_one).collect();
            for (case, without) in of.iter().zip(render(&self.without(&[edit]), &of)) {
                if let Some(blame) = &mut blames[*case] {
                    blame.without = Some(without);
                }
            }
        }
        // Where no edit has an effect alone, they have it together, or something else has it.
        let left: Vec<usize> = all
            .into_iter()
            .filter(|case| blames[*case].is_none())
            .collect();
        let every: Vec<usize> = (0..self.edits.len()).collect();
        let together = self.edit(&every);
        for (case, effect) in left.iter().zip(effects(&self, &every, &left)) {
            if effect == Effect::Restores {
                blames[*case] = Some(Blame::alone(&together));
            }
        }
        blames
    }

    /// These edits in the form that reports have.
    fn edit(&self, edits: &[usize]) -> Arc<SourceEdit> {
        let [_, b] = self.sides;
        let lines = Lines::of(&b.source);
        let hunks = edits.iter().flat_map(|at| &self.edits[*at]);
        let mut places: Vec<usize> = hunks
            .clone()
            .map(|hunk| lines.line(hunk.new.start))
            .collect();
        places.sort_unstable();
        places.dedup();
        let first = hunks.min_by_key(|hunk| hunk.new.start);
        Arc::new(SourceEdit {
            lines: places,
            texts: first.map(|first| self.around(first)).unwrap_or_default(),
        })
    }

    /// The texts of a hunk. If both are short, they come with what is around them in their line: with
    /// the tag that they are in, or with a few words.
    fn around(&self, hunk: &Hunk) -> [String; 2] {
        let texts = texts(self.sides, hunk);
        if texts
            .iter()
            .any(|text| text.trim().chars().count() >= SHORT)
        {
            return texts.map(str::to_owned);
        }
        let [_, b] = self.sides;
        let others = || self.edits.iter().flatten().filter(|other| *other != hunk);
        let last = others().map(|other| other.new.end);
        let last = last.filter(|end| *end <= hunk.new.start).max();
        let next = others().map(|other| other.new.start);
        let next = next.filter(|start| *start >= hunk.new.end).min();
        let before = b.source.cut(last.unwrap_or(0)..hunk.new.start);
        let after = b.source.cut(hunk.new.end..next.unwrap_or(b.source.len()));
        let (before, after) = (before.cut(begin(before)..), after.cut(..end(after)));
        texts.map(|text| [before, text, after].concat())
    }
}

fn texts<'t>([a, b]: [&'t Template; 2], hunk: &Hunk) -> [&'t str; 2] {
    [
        a.source.cut(hunk.old.clone()),
        b.source.cut(hunk.new.clone()),
    ]
}

/// The edits between two templates: at most so many hunks, and those that replace a word by the
/// same other word, or the same signs very often, as one.
fn alike(sides: [&Template; 2], most: usize) -> Vec<Vec<Hunk>> {
    let hunks = hunk::hunks(&sides[0].source, &sides[1].source, most);
    let mut counts: HashMap<[&str; 2], usize> = HashMap::new();
    for hunk in &hunks {
        *counts.entry(texts(sides, hunk)).or_default() += 1;
    }
    let mut edits: Vec<Vec<Hunk>> = Vec::new();
    let mut known: HashMap<[&str; 2], usize> = HashMap::new();
    for hunk in hunks {
        let texts = texts(sides, &hunk);
        let is_word = texts.concat().contains(char::is_alphanumeric);
        let is_alike = is_word || counts.get(&texts).is_some_and(|count| *count >= OFTEN);
        let place = known.get(&texts).filter(|_| is_alike);
        if let Some(alike) = place.and_then(|at| edits.get_mut(*at)) {
            alike.push(hunk);
        } else {
            known.insert(texts, edits.len());
            edits.push(vec![hunk]);
        }
    }
    edits
}

impl Blame {
    fn alone(edit: &Arc<SourceEdit>) -> Blame {
        Blame {
            edit: Arc::clone(edit),
            without: None,
        }
    }
}

/// Where the tag begins that a text ends in, or the last words of its last line.
fn begin(text: &str) -> usize {
    let line = text.rfind('\n').map_or(0, |at| at + 1);
    let opens = ["{{", "{%"]
        .iter()
        .filter_map(|tag| text.cut(line..).rfind(tag));
    let tag = opens.max().map(|at| line + at);
    let is_in = |at: &usize| text.len() - at <= TAG && !text.cut(*at..).contains('}');
    tag.filter(is_in).unwrap_or_else(|| {
        let near = text.floor_char_boundary(text.len().saturating_sub(SHORT));
        if near <= line {
            return line;
        }
        // Not within the begin of a tag.
        let near = near - usize::from(text.cut(..near).ends_with('{'));
        let near = text.cut(near..);
        let word = near.find(['<', '[', '{']).or_else(|| near.find(' '));
        text.len() - near.len() + word.unwrap_or_default()
    })
}

/// Where the tag ends that a text begins in, or the first words of its first line.
fn end(text: &str) -> usize {
    let line = text.cut(..text.find('\n').unwrap_or(text.len()));
    let closes = ["}}", "%}"].iter().filter_map(|tag| line.find(tag));
    let tag = closes.min().map(|at| at + 2);
    let is_in = |at: &usize| *at <= TAG && !line.cut(..*at).contains('{');
    tag.filter(is_in).unwrap_or_else(|| {
        let near = line.floor_char_boundary(SHORT);
        if near == line.len() {
            return near;
        }
        let word = line.cut(..near).rfind(['>', ']', '}']);
        let word = word.or_else(|| line.cut(..near).rfind(' '));
        word.map_or(near, |at| at + 1)
    })
}

/// Edits that have the same effect in every case, such as a pair of tags.
fn inseparable(by_edit: &[Vec<Effect>]) -> Vec<Vec<usize>> {
    let mut alike: HashMap<&[Effect], Vec<usize>> = HashMap::new();
    for (edit, effects) in by_edit.iter().enumerate() {
        if effects.iter().any(|effect| *effect != Effect::Nothing) {
            alike.entry(effects).or_default().push(edit);
        }
    }
    let mut several: Vec<_> = alike
        .into_values()
        .filter(|edits| edits.len() > 1)
        .collect();
    // A hash map has no order, and a report has to be the same each time.
    several.sort();
    several
}

/// The edit that makes the difference in a case: one that restores the outcome of A, or one that
/// changes it. Of several it is the one that shows in the fewest cases, so that each has a group.
fn choose(by_edit: &[Vec<Effect>], case: usize) -> Option<(usize, Effect)> {
    let rare = |effects: &[Effect]| {
        let shows = effects.iter().filter(|effect| **effect != Effect::Nothing);
        shows.count()
    };
    [Effect::Restores, Effect::Changes]
        .into_iter()
        .find_map(|wanted| {
            let edits = by_edit.iter().enumerate();
            let having = edits.filter(|(_, effects)| effects.get(case) == Some(&wanted));
            let rarest = having.min_by_key(|(at, effects)| (rare(effects), *at));
            rarest.map(|(at, _)| (at, wanted))
        })
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Case, Conversation, Dialect};
    use rolecall_front::engines::Engines;
    use serde_json::json;

    use super::*;

    const JINJA: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>\n{% endfor %}\
                         {% if add_generation_prompt %}<assistant>{% endif %}";

    /// The lines and the texts of an edit, and whether other edits change the case, too.
    type Shown = (Vec<usize>, [String; 2], bool);

    /// The edits that make the difference for a question, and for an answer.
    fn blamed(dialect: Dialect, a: &str, b: &str) -> Vec<Option<Shown>> {
        let engines = Engines::default();
        let engine = engines.for_dialect(dialect);
        let [a, b] = [a, b].map(|source| Template::from_source("t", dialect, source));
        let user = json!({"role": "user", "content": " Hi "});
        let question = Case::from_messages(vec![user.clone()]);
        let answer = Case {
            add_generation_prompt: false,
            ..Case::from_messages(vec![user, json!({"role": "assistant", "content": "Ho"})])
        };
        let cases = [question, answer];
        let outcome = |template: &Template, case: &Case| {
            load(engine, template).render(&Conversation::new(case))
        };
        let outcomes = cases
            .each_ref()
            .map(|case| [&a, &b].map(|one| outcome(one, case)));
        let render = |template: &Template, of: &[usize]| -> Vec<Outcome> {
            of.iter().map(|at| outcome(template, &cases[*at])).collect()
        };
        let edits = SourceEdits::between(engine, [&a, &b]).unwrap();
        let blames = edits.blame(&outcomes.each_ref(), render).into_iter();
        let shown = blames.map(|blame| {
            let Blame { edit, without } = blame?;
            Some((edit.lines.clone(), edit.texts.clone(), without.is_some()))
        });
        shown.collect()
    }

    fn jinja(replaced: &[(&str, &str)]) -> Vec<Option<Shown>> {
        let replace = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
        let b = replaced.iter().fold(JINJA.to_owned(), replace);
        blamed(Dialect::Jinja, JINJA, &b)
    }

    fn texts(a: &str, b: &str) -> [String; 2] {
        [a, b].map(str::to_owned)
    }

    #[test]
    fn each_case_has_the_edit_that_makes_its_difference() {
        let found = jinja(&[
            ("<assistant>", "<model>"),
            ("m.content", "m.content | trim"),
        ]);
        let [question, answer] = found.as_slice() else {
            panic!("{found:?}")
        };
        // Both edits change the question, and the rarer one stands for it.
        let (lines, [a, b], is_shared) = question.clone().unwrap();
        assert_eq!((lines, is_shared), (vec![2], true));
        assert!(
            a.contains("<assistant>") && b.contains("<model>"),
            "{a} {b}"
        );
        let trim = texts("{{ m.content }}", "{{ m.content | trim }}");
        assert_eq!(*answer, Some((vec![1], trim, false)));
    }

    /// Neither can be taken back alone: the template would not compile.
    #[test]
    fn the_begin_and_the_end_of_a_branch_are_one_edit() {
        let without = [("{% if add_generation_prompt %}", ""), ("{% endif %}", "")];
        let found = jinja(&without);
        let (lines, [a, b], is_shared) = found[1].clone().unwrap();
        assert_eq!((lines, is_shared), (vec![2], false));
        assert!(
            a.contains("add_generation_prompt") && !b.contains("add"),
            "{a} {b}"
        );
    }

    #[test]
    fn the_same_change_in_several_places_is_one_edit() {
        let found = jinja(&[
            ("m.", "message."),
            ("for m", "for message"),
            ("</s>", "</t>"),
        ]);
        assert!(
            found
                .iter()
                .flatten()
                .all(|(_, [a, _], _)| a.contains("</s>")),
            "{found:?}"
        );
        // All tags take away the white space before them.
        let found = jinja(&[("{%", "{%-")]);
        let lines = found[0].clone().map(|(lines, ..)| lines);
        assert_eq!(lines, Some(vec![1, 2]), "{found:?}");
        let go = "{{ range .Messages }}<{{ .Role }}>{{ .Content }}</s>{{ end }}\n<assistant>\n";
        let tags = go.replace("<{{", "[{{").replace("<assistant", "[assistant");
        let found = blamed(Dialect::Go, go, &tags);
        let lines = found[0].clone().map(|(lines, ..)| lines);
        assert_eq!(lines, Some(vec![1, 2]), "{found:?}");
    }

    #[test]
    fn templates_that_have_little_in_common_have_no_edits() {
        let engines = Engines::default();
        let engine = engines.for_dialect(Dialect::Jinja);
        let template = |source: &str| Template::from_source("t", Dialect::Jinja, source);
        let (a, b) = (
            template(JINJA),
            template("{{ bos_token }}{{ messages[0].content }}"),
        );
        assert!(SourceEdits::between(engine, [&a, &b]).is_none());
        assert!(SourceEdits::between(engine, [&a, &a]).is_none());
    }
}
