//! What applications that serve a template make of conversations.

use std::collections::BTreeMap;
use std::io::{self, Write};

use minijinja::{Value, context};

use crate::report::card::one_line;
use crate::report::excerpt;
use crate::report::text::{text, written};
use rolecall_check::card::Card;
use rolecall_check::served::{Served, ServedCapability, ServedDifference, ServedVerdict};

/// Writes a table of the applications, then what differs, by cause: first what is lost or added. Unless
/// all is asked for, other prompts that lack nothing are counted only.
pub(crate) fn write(
    out: &mut dyn Write,
    card: &Card,
    served: &Served,
    is_all: bool,
    width: usize,
) -> io::Result<()> {
    let everywhere: Vec<&str> = served.everywhere().map(|one| one.capability).collect();
    let rows = served.capabilities.iter();
    let is_nowhere = |one: &ServedCapability| {
        let mut verdicts = one.verdicts.values();
        verdicts.all(|verdict| *verdict == ServedVerdict::Neither)
    };
    let rows = rows.filter(|one| !everywhere.contains(&one.capability) && !is_nowhere(one));
    let rows = rows.map(|one| {
        let verdicts = served.fronts.iter().map(|front| {
            let verdict = one.verdicts.get(front.name()).copied();
            let verdict = verdict.unwrap_or(ServedVerdict::Neither);
            vec![style_of(verdict), verdict.name()]
        });
        context! { capability => one.capability, verdicts => verdicts.collect::<Vec<_>>() }
    });
    let is_shown = |one: &&ServedDifference| is_all || one.verdict.is_defect();
    let mut shown: Vec<&ServedDifference> = served.differences.iter().filter(is_shown).collect();
    shown.sort_by_key(|one| one.front);
    let differences: io::Result<Vec<Value>> = shown
        .iter()
        .map(|one| {
            let first = &one.evidence[0];
            let probe = first.renders.first();
            let changes = one.changes.iter();
            let changes = changes
                .map(|change| context! { sentence => change.sentence, source => &change.source });
            Ok(context! {
                front => one.front.name(),
                verdict => one.verdict.name(),
                style => style_of(one.verdict),
                what => one_line(&first.what),
                place => probe.map_or("", |render| render.probe),
                others => one.capabilities[1..].to_vec(),
                changes => changes.collect::<Value>(),
                shown => written(|out| excerpt::write(out, first, "    ", width))?,
            })
        })
        .collect();
    text!(out, include_str!("served.txt"), {
        width,
        own => card.front.name(),
        works_everywhere => served.works_everywhere(),
        versions => served.fronts.iter().map(|front| format!("{front}: {}", front.description())).collect::<Vec<_>>(),
        fronts => served.fronts.iter().map(|front| front.name()).collect::<Vec<_>>(),
        rows => rows.collect::<Value>(),
        everywhere,
        differences => differences?,
        more => served.differences.len() - shown.len(),
    })
}

/// Writes a table of several templates: of how many conversations each application makes something
/// else, the worst first. Writes nothing if nobody asked for it.
pub fn write_table(out: &mut dyn Write, cards: &[Card]) -> io::Result<()> {
    let served: Vec<_> = cards
        .iter()
        .filter_map(|card| Some((card, card.served.as_ref()?)))
        .collect();
    let Some((_, first)) = served.first() else {
        return Ok(());
    };
    let rows = served.iter().map(|(card, served)| {
        let cells = first.fronts.iter().map(|front| {
            let verdicts = served.capabilities.iter();
            let verdicts = verdicts.filter_map(|one| one.verdicts.get(front.name()).copied());
            let mut counts: BTreeMap<ServedVerdict, usize> = BTreeMap::new();
            verdicts
                .filter(|verdict| *verdict >= ServedVerdict::Changes)
                .for_each(|verdict| *counts.entry(verdict).or_default() += 1);
            let counts = counts.into_iter().rev();
            let counts = counts.map(|(verdict, count)| {
                vec![
                    style_of(verdict).to_owned(),
                    format!("{} {count}", verdict.name()),
                ]
            });
            counts.collect::<Vec<_>>()
        });
        context! { name => &card.template, cells => cells.collect::<Vec<_>>() }
    });
    text!(out, include_str!("served_table.txt"), {
        fronts => first.fronts.iter().map(|front| front.name()).collect::<Vec<_>>(),
        rows => rows.collect::<Value>(),
    })
}

fn style_of(verdict: ServedVerdict) -> &'static str {
    match verdict {
        ServedVerdict::Same | ServedVerdict::Works => "good",
        ServedVerdict::Neither => "quiet",
        ServedVerdict::Changes => "note",
        _ => "bad",
    }
}
