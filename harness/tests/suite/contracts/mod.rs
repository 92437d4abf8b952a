//! The contracts of report cards. Each template in a file `*.faults` is a test. Contracts have theirs beside
//! them; the page in `harness/tests/contracts` explains the format.

mod file;
mod template;

mod patches;

mod run;

mod pages;

use libtest_mimic::{Arguments, Failed, Trial};
use rolecall_check::contract::{ALL, Contract, Judgement, by_id};
use rolecall_core::Dialect;

use self::file::{Note, Part, Source};
use self::template::{Subject, is_of_suite};
use crate::test_files::{self, is_left_out};

/// The folder of the contracts with their pages and files, from the top of the repository.
const CONTRACTS: &str = "harness/check/src/contract";

/// The folder of the files that are about no contract.
const OTHERS: &str = "harness/tests/contracts";

/// Of so many templates one is tried if nobody asks for more.
const ONE_OF: u64 = 24;

/// One test for each template, named after its file and its heading:
/// `contract::calls-whole::a-call-has-no-end`, and one for the examples of each contract's page:
/// `contract::calls-whole::page`.
///
/// Unless somebody names tests or wants everything, most of them are ignored: always the same ones, and
/// no file that is malformed.
pub(crate) fn tests(arguments: &Arguments) -> Vec<Trial> {
    let is_ignored = |name: &str| is_left_out(name, arguments, ONE_OF);
    let mut tests = vec![
        always("pages-are-complete", pages::every_page_has_its_parts),
        always("each-can-be-broken", each_contract_can_be_broken),
        always("sound-templates-hold", sound_templates_keep_every_contract),
    ];
    for contract in ALL {
        let name = format!("contract::{}::page", contract.id);
        let is_ignored = is_ignored(&name);
        let test = move || {
            pages::examples(contract);
            Ok(())
        };
        tests.push(Trial::test(name, test).with_ignored_flag(is_ignored));
    }
    for (stem, parts) in files() {
        match parts {
            Ok(parts) => tests.extend(parts.into_iter().map(|part| {
                let name = format!("contract::{stem}::{}", part.name.replace(' ', "-"));
                let is_ignored = is_ignored(&name);
                Trial::test(name, move || Ok(part.complain()?)).with_ignored_flag(is_ignored)
            })),
            Err(why) => {
                let fails = move || Err(Failed::from(why));
                tests.push(Trial::test(format!("contract::{stem}"), fails));
            }
        }
    }
    tests
}

fn always(name: &str, test: fn()) -> Trial {
    Trial::test(format!("contract::{name}"), move || {
        test();
        Ok(())
    })
}

/// The parts of each file, or what is wrong with the file.
fn files() -> impl Iterator<Item = (String, Result<Vec<Part>, String>)> {
    let folders = [CONTRACTS, OTHERS].map(test_files::folder).into_iter();
    let files = folders.flat_map(|folder| test_files::files(&folder, "faults"));
    files.map(|path| {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let stem = stem.replace('_', "-");
        let parts = Part::read(&path, by_id(&stem));
        (stem, parts)
    })
}

/// The contracts that a change of a template breaks.
fn broken_in(name: &str) -> Vec<&'static Contract> {
    let mut broken = Vec::new();
    for part in files().filter_map(|(_, parts)| parts.ok()).flatten() {
        if matches!(&part.source, Source::Changed(of, _) if of.replace(".json", ".jinja") == name) {
            broken.extend(part.notes.iter().filter_map(|(_, note)| match note {
                Note::Finds(_, contract, _) => Some(*contract),
                _ => None,
            }));
        }
    }
    broken
}

fn each_contract_can_be_broken() {
    let broken = ["sound.jinja", "sound-go.gotmpl"].map(broken_in);
    // The suite's templates have a fault that depends on chance. Faults are rendered without a front,
    // and published templates are known with theirs.
    let elsewhere = ["deterministic", "family-alike"];
    for contract in ALL
        .iter()
        .filter(|contract| !elsewhere.contains(&contract.id))
    {
        let is_of_go = !contract.dialects.contains(&Dialect::Jinja);
        let is_broken = broken[usize::from(is_of_go)].contains(contract);
        assert!(is_broken, "nothing breaks {contract:?}");
    }
    // Faults of the suite's templates, most of which a card reports.
    let parts: Vec<Part> = files()
        .filter_map(|(_, parts)| parts.ok())
        .flatten()
        .collect();
    let of_suite = |part: &&Part| matches!(&part.source, Source::Changed(of, _) if is_of_suite(of));
    let is_reported = |part: &&Part| {
        let mut notes = part.notes.iter();
        notes.any(|(_, note)| matches!(note, Note::Finds(severity, ..) if severity.is_defect()))
    };
    let all = parts.iter().filter(of_suite).count();
    let reported = parts.iter().filter(of_suite).filter(is_reported).count();
    assert!(
        all > 150 && reported * 100 >= all * 80,
        "{reported} of {all}"
    );
}

fn sound_templates_keep_every_contract() {
    let card = Subject::named("sound.jinja").unwrap().card();
    for finding in &card.findings {
        let why = match finding.contract.id {
            "unknown-role-kept" => "the template refuses: unknown role",
            "family-alike" => "no published template is near to it",
            "family-joints" => "the tokens of the turns are not those of a known family",
            "calls-recognised" | "thoughts-recognised" => "it is not about templates for jinja",
            _ => {
                assert_eq!(
                    finding.judgement,
                    Judgement::Holds,
                    "{:?}",
                    finding.contract
                );
                continue;
            }
        };
        let expected = Judgement::DoesNotApply(why.to_owned());
        assert_eq!(finding.judgement, expected, "{:?}", finding.contract);
    }
    // No template for Ollama prevents that a text becomes control tokens.
    let card = Subject::named("sound-go.gotmpl").unwrap().card();
    let broken: Vec<_> = card.broken().map(|one| one.contract.id).collect();
    assert_eq!(broken, ["control-tokens-inert"]);
    for contract in broken_in("sound-go.gotmpl") {
        assert_eq!(
            run::judgement(&card, contract),
            &Judgement::Holds,
            "{contract:?}"
        );
    }
}
