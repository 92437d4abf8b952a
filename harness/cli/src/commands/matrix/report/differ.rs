//! Where two engines differ, or two versions of one.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use minijinja::{Value, context};
use rolecall_core::{CaseId, TemplateName};

use crate::commands::matrix::report::parts::write_groups;
use crate::report::text::{text, written};
use rolecall_suite::measurement::{Changes, DifferenceGroup, Measurement, PairResult};

/// How many rows to show unless the user wants all.
const MOST: usize = 12;

type Pairs<'m> = [((TemplateName, CaseId), [PairResult<'m>; 2])];

/// Writes where two measurements differ: the pairs by template and family, and the differences.
pub fn write_differ(
    out: &mut dyn Write,
    first: &Measurement,
    second: &Measurement,
    all: bool,
) -> io::Result<()> {
    let changes = Changes::between(first, second);
    let [x, y] = [first, second].map(|one| format!("{} {}", one.engine.engine, one.engine.version));
    let lists: [(&Pairs<'_>, _, _); 3] = [
        (&changes.worse, "good", format!("only {x} is right")),
        (&changes.better, "good", format!("only {y} is right")),
        (
            &changes.otherwise,
            "bad",
            "both are wrong, differently".to_owned(),
        ),
    ];
    let rows = |heading: &str, name: fn(&(TemplateName, CaseId)) -> String| {
        let mut rows: BTreeMap<String, [usize; 3]> = BTreeMap::new();
        for (at, (list, ..)) in lists.iter().enumerate() {
            for (pair, _) in *list {
                rows.entry(name(pair)).or_default()[at] += 1;
            }
        }
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.sort_by_key(|(_, counts)| Reverse(counts.iter().sum::<usize>()));
        let most = if all { usize::MAX } else { MOST };
        let more = rows.len().saturating_sub(most);
        let rows = rows.into_iter().take(most);
        let rows = rows.map(|(name, counts)| vec![Value::from(name), counts.to_vec().into()]);
        context! { heading, more, rows => rows.collect::<Value>() }
    };
    let wrong = |list: &Pairs<'_>, side| {
        let groups = groups(list, side);
        written(|out| write_groups(out, &groups, all))
    };
    let wrong = [
        (&y, wrong(&changes.worse, 1)?),
        (&x, wrong(&changes.better, 0)?),
    ];
    let loads = changes.loads.iter().zip([&x, &y]);
    let loads = loads.map(|(names, who)| {
        let names = names.iter().map(ToString::to_string);
        vec![Value::from(who), names.collect()]
    });
    let constructs = changes.constructs.iter().zip([&y, &x]);
    text!(out, include_str!("differ.txt"), {
        is_same => changes.is_none(),
        both => changes.both,
        alike => changes.alike,
        loads => loads.collect::<Value>(),
        constructs => constructs.map(|(names, who)| vec![Value::from(who), names.len().into()]).collect::<Value>(),
        constructs_otherwise => changes.constructs_otherwise.len(),
        tables => vec![
            rows("by template", |(name, _)| name.to_string()),
            rows("by family", |(_, case)| case.family().to_owned()),
        ],
        wrong => wrong.map(|(who, groups)| vec![Value::from(who), groups.into()]).to_vec(),
        lists => lists.into_iter().map(|(list, style, words)| context! { style, words, count => list.len() }).collect::<Value>(),
        x,
        y,
    })
}

/// The groups that hold the pairs of a list on one side, those with the most pairs first.
fn groups<'m>(list: &Pairs<'m>, side: usize) -> Vec<(&'m DifferenceGroup, usize)> {
    let mut groups: Vec<(&DifferenceGroup, usize)> = Vec::new();
    for (_, standings) in list {
        if let Some((group, _)) = &standings[side] {
            match groups
                .iter_mut()
                .find(|(known, _)| std::ptr::eq(*known, *group))
            {
                Some((_, count)) => *count += 1,
                None => groups.push((group, 1)),
            }
        }
    }
    groups.sort_by_key(|(_, count)| Reverse(*count));
    groups
}
