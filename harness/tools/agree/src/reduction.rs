//! Reduces a template and a conversation while engine and reference still differ in the same way.

use rolecall_core::{Case, Template};

use crate::cause::DifferenceShape;
use crate::examination::{Examination, Examiner, OutcomeDifference};
use crate::known_differences::KnownDifferences;
use crate::tokens::{Token, blocks, tags, text_of, tokens_of};
use rolecall_core::shrinking::{Shrinker, size};

/// The most questions to the reference about one difference. Then the reduction stops.
const MOST_QUESTIONS: usize = 1500;

/// The most characters of a template that is reduced character by character.
const SMALL: usize = 400;

/// A template and a conversation for which engine and reference differ.
pub struct Counterexample {
    pub template: Template,
    pub case: Case,
    pub difference: OutcomeDifference,
}

/// Makes them smaller.
pub struct Reduction<'r> {
    examiner: &'r Examiner<'r>,
    known: &'r KnownDifferences,
    shape: DifferenceShape,
    is_known: bool,
    left: usize,
    best: Counterexample,
}

impl<'r> Reduction<'r> {
    /// Reduces a difference. It first tries the plain conversation in place of the other.
    pub fn run(
        examiner: &'r Examiner<'r>,
        known: &'r KnownDifferences,
        begin: Counterexample,
        plain: Option<&Case>,
    ) -> Counterexample {
        let mut reduction = Reduction {
            examiner,
            known,
            shape: DifferenceShape::of(&begin.difference),
            is_known: known
                .reason(&begin.template.source, &begin.difference)
                .is_some(),
            left: MOST_QUESTIONS,
            best: begin,
        };
        if let Some(plain) = plain {
            reduction.try_case(plain.clone());
        }
        reduction.without_tokens_of_model();
        loop {
            let before = reduction.size();
            reduction.conversation();
            reduction.tags();
            reduction.pairs();
            reduction.tokens();
            reduction.characters();
            if reduction.size() == before || reduction.left == 0 {
                return reduction.best;
            }
        }
    }

    fn size(&self) -> usize {
        self.best.template.source.len() + size(&self.best.case)
    }

    /// Keeps a smaller pair if engine and reference still differ in the same way, and returns
    /// whether they do.
    fn try_both(&mut self, template: Template, case: Case) -> bool {
        if self.left == 0 {
            return false;
        }
        let examined = self.examiner.load(&template);
        let found = examined.found(&case);
        // The engine is fast and the reference slow, so the engine comes first.
        if std::mem::discriminant(&found) != std::mem::discriminant(&self.best.difference.found) {
            return false;
        }
        self.left -= 1;
        let Examination::Differs(difference) = examined.compare(&case, found) else {
            return false;
        };
        let is_known = self.known.reason(&template.source, &difference).is_some();
        if DifferenceShape::of(&difference) != self.shape || is_known && !self.is_known {
            return false;
        }
        self.best = Counterexample {
            template,
            case,
            difference: *difference,
        };
        true
    }

    fn try_source(&mut self, source: String) -> bool {
        let template = Template {
            source,
            ..self.best.template.clone()
        };
        self.try_both(template, self.best.case.clone())
    }

    fn try_case(&mut self, case: Case) -> bool {
        self.try_both(self.best.template.clone(), case)
    }

    fn conversation(&mut self) {
        let begin = self.best.case.clone();
        let mut keeps = |case: &Case| self.try_case(case.clone());
        let mut shrinker = Shrinker::new(begin, MOST_QUESTIONS, &mut keeps);
        shrinker.options();
        shrinker.repeat(|shrinker| {
            shrinker.ranges();
            shrinker.values(0);
        });
    }

    fn without_tokens_of_model(&mut self) {
        let mut template = self.best.template.clone();
        template.special_tokens.clear();
        template.variables.clear();
        self.try_both(template, self.best.case.clone());
    }

    /// Tries to leave out ranges of parts, first long ranges, then single parts.
    fn leave_out<T: Clone>(
        &mut self,
        mut parts: Vec<T>,
        mut try_parts: impl FnMut(&mut Self, &[T]) -> bool,
    ) {
        let mut length = parts.len();
        while length > 0 {
            let mut begin = parts.len().saturating_sub(length);
            loop {
                let end = (begin + length).min(parts.len());
                let kept = [&parts[..begin], &parts[end..]].concat();
                if kept.len() < parts.len() && try_parts(self, &kept) {
                    parts = kept;
                }
                if begin == 0 || self.left == 0 {
                    break;
                }
                begin = begin.saturating_sub(length).min(parts.len());
            }
            length /= 2;
        }
    }

    /// Leaves out whole tags and texts.
    fn tags(&mut self) {
        let dialect = self.best.template.dialect;
        let tokens = tokens_of(&self.best.template.source, dialect);
        let mut units: Vec<Vec<Token>> = Vec::new();
        let mut at = 0;
        for tag in tags(&tokens) {
            units.extend(
                tokens[at..tag.start]
                    .iter()
                    .map(|token| vec![token.clone()]),
            );
            units.push(tokens[tag.clone()].to_vec());
            at = tag.end;
        }
        units.extend(tokens[at..].iter().map(|token| vec![token.clone()]));
        self.leave_out(units, |reduction, units| {
            reduction.try_source(text_of(&units.concat()))
        });
    }

    /// Leaves out the tags of a block but keeps its body, and leaves out branches.
    fn pairs(&mut self) {
        let dialect = self.best.template.dialect;
        'again: loop {
            let tokens = tokens_of(&self.best.template.source, dialect);
            let tags = tags(&tokens);
            for parts in blocks(&tokens, &tags, dialect) {
                let is_part = |at: usize| parts.iter().any(|part| tags[*part].contains(&at));
                let kept: Vec<Token> = tokens
                    .iter()
                    .enumerate()
                    .filter(|(at, _)| !is_part(*at))
                    .map(|(_, token)| token.clone())
                    .collect();
                if self.try_source(text_of(&kept)) {
                    continue 'again;
                }
                // One branch, with the tags around it.
                for pair in parts.windows(2) {
                    let inner = tags[pair[0]].end..tags[pair[1]].start;
                    let kept = &tokens[inner];
                    let source = [
                        text_of(&tokens[..tags[parts[0]].start]),
                        text_of(kept),
                        text_of(&tokens[tags[parts[parts.len() - 1]].end..]),
                    ];
                    if self.try_source(source.concat()) {
                        continue 'again;
                    }
                }
            }
            return;
        }
    }

    fn tokens(&mut self) {
        let tokens = tokens_of(&self.best.template.source, self.best.template.dialect);
        self.leave_out(tokens, |reduction, tokens| {
            reduction.try_source(text_of(tokens))
        });
    }

    fn characters(&mut self) {
        if self.best.template.source.len() > SMALL {
            return;
        }
        let characters: Vec<char> = self.best.template.source.chars().collect();
        self.leave_out(characters, |reduction, characters| {
            reduction.try_source(characters.iter().collect())
        });
        // A pair of brackets or quotation marks goes together.
        let mut begin = 0;
        while begin < self.best.template.source.chars().count() {
            let characters: Vec<char> = self.best.template.source.chars().collect();
            let partner = match characters[begin] {
                '(' => ')',
                '[' => ']',
                '{' => '}',
                quote @ ('\'' | '"' | '`') => quote,
                _ => '\0',
            };
            let ends: Vec<usize> = (begin + 1..characters.len())
                .filter(|at| characters[*at] == partner)
                .collect();
            let is_smaller = ends.into_iter().any(|end| {
                let kept = |at: &usize| *at != begin && *at != end;
                let source = (0..characters.len()).filter(kept).map(|at| characters[at]);
                self.try_source(source.collect())
            });
            begin += usize::from(!is_smaller);
        }
    }
}
