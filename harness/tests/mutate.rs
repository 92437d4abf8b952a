//! The mutants of the suite's templates.

use rolecall_core::{Dialect, MutationKind};
use rolecall_explore::generation::Effort;
use rolecall_explore::mutation::{Mutant, TemplateMutants};
use rolecall_front::engines::Engines;
use rolecall_suite::suite::Pair;

use crate::project::SUITE;

/// The mutants of a template of the suite, with the cases of a family.
fn mutants<'s>(name: &str, family: &str) -> TemplateMutants<'s> {
    let mut templates = SUITE.templates.iter();
    let template = templates.find(|template| template.name.as_str() == name);
    let template = template.unwrap();
    let engines = Engines::default();
    let engine = engines.for_dialect(Dialect::Jinja);
    let pairs: Vec<Pair<'_>> = SUITE.pairs_of(template, family).collect();
    assert!(!pairs.is_empty(), "{family}");
    let nothing = Effort {
        seed: Effort::SEED,
        tries: 0,
    };
    TemplateMutants::test(engine, template, pairs, nothing).unwrap()
}

/// The mutant with another text at a place: the line, and the text before and after the change.
fn find<'m>(
    mutants: &'m TemplateMutants<'_>,
    line: usize,
    text: &str,
    replacement: &str,
) -> &'m Mutant {
    let source = &mutants.template.source;
    let found = mutants.mutants.iter().find(|mutant| {
        let span = mutant.mutation.span();
        let before = &source[..span.start];
        before.matches('\n').count() + 1 == line
            && &source[span] == text
            && mutant.mutation.replacement == replacement
    });
    found.unwrap()
}

#[test]
fn mistakes_that_people_made_are_among_the_mutants() {
    let firefunction = mutants("firefunction-v2", "tool-calls");
    let and = find(&firefunction, 46, "and", "or");
    assert_eq!(and.mutation.kind, MutationKind::Logic);
    let glm = mutants("glm-xml", "tool-calls");
    let ascii = find(&glm, 71, "False", "True");
    assert_eq!(ascii.mutation.kind, MutationKind::Boolean);
    for all in [&firefunction, &glm] {
        assert!(all.noticed() > 0, "{}", all.template.name);
        assert!(all.mutants.len() > 150, "{}", all.template.name);
        assert_eq!(
            all.noticed() + all.unnoticed().count(),
            all.mutants.len(),
            "{}",
            all.template.name
        );
    }
}
