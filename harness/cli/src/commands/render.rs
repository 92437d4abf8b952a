//! The command `render`: prints outcomes without verdicts.

use std::io::Write;

use rolecall::report::format::Format;
use rolecall::report::progress::Progress;
use rolecall::report::{jsonl, transcripts};
use rolecall::selection::select;
use rolecall_model::OutcomeKind;

use crate::args::RenderArguments;
use crate::failure::{Failure, Status, tell};
use crate::inputs::{self, Inputs};
#[cfg(feature = "fetch")]
use crate::served;
use crate::setup::OneDialect;
use crate::{engines, setup};

pub(super) fn execute(arguments: &RenderArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let Inputs {
        mut suite, origin, ..
    } = inputs::load(&arguments.selection.sources)?;
    tell(&format!("suite: {origin}"));
    setup::put_behind(arguments.front.name, &mut suite);
    let engines = arguments.rendering.limits.chosen().engines();
    let chosen = engines::chosen(&engines, &arguments.rendering)?;
    let runner = setup::runner(&engines, &chosen, &arguments.rendering)?;
    let is_sound = setup::report_input(&runner, &suite)?;
    let one = OneDialect::of(&arguments.dialect, &arguments.rendering, &chosen)?;
    let front = arguments.front.name;
    let pairs = setup::behind(
        front,
        one.pairs(select(&suite, &arguments.selection.filters)?)?,
    )?;
    #[cfg(feature = "fetch")]
    let pairs = served::pairs(pairs, &arguments.rendering, &chosen, front)?;
    let pairs = arguments.shard.of(pairs);
    let is_slow = chosen.iter().any(engines::ChosenEngine::is_slow);
    let progress = Progress::of_slow(is_slow, pairs.len(), "rendering", "pairs");
    let runner = runner.with_progress(progress.step());
    let mut written = Ok(());
    let mut is_complete = true;
    runner.render_each(&pairs, |rendered| {
        let kind = rendered.outcome.kind();
        is_complete &= !matches!(kind, OutcomeKind::Crashed | OutcomeKind::NotAsked);
        if written.is_ok() {
            written = if arguments.format == Format::Jsonl {
                jsonl::write_rendered(out, &rendered)
            } else {
                transcripts::write_named(out, &rendered)
            };
        }
    });
    progress.clear();
    written?;
    Ok(if !is_sound {
        Status::BadInput
    } else if is_complete {
        Status::Fine
    } else {
        Status::Nonconforming
    })
}
