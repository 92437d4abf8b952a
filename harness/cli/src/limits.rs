//! The limits in the form that users type.

use std::str::FromStr;
use std::time::Duration;

use bytesize::ByteSize;
use rolecall_core::Limits;
use rolecall_core::problem::did_you_mean;
use rolecall_front::engines::Engines;
use rolecall_io::protocol::ProtocolLimits;

/// The limits of a run: the defaults, with the changes from `--limits`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChosenLimits {
    /// The limits for a render in this process.
    pub(crate) render: Limits,
    /// The limits for an external engine.
    pub(crate) program: ProtocolLimits,
}

/// The limits that can be set, with the names that the outcome `exceeded` uses, if it has one.
const NAMES: [&str; 8] = [
    "fuel",
    "work",
    "output",
    "prompt",
    "recursion",
    "time",
    "start",
    "answer",
];

impl ChosenLimits {
    /// The engines of this process with these limits.
    pub(crate) fn engines(&self) -> Engines {
        Engines::with_limits(&self.render)
    }

    /// The limits of a render, and their names in `--limits`.
    pub(crate) fn of_render(&self) -> String {
        let Limits {
            fuel,
            work,
            output,
            prompt,
            recursion,
        } = self.render;
        format!("fuel={fuel},work={work},output={output},prompt={prompt},recursion={recursion}")
    }
}

impl FromStr for ChosenLimits {
    type Err = String;

    /// Reads `NAME=VALUE,…`: counts, sizes such as `64MiB` and times such as `500ms`.
    fn from_str(text: &str) -> Result<ChosenLimits, String> {
        let mut limits = ChosenLimits::default();
        let mut seen = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (name, value) = part.split_once('=').ok_or_else(|| {
                format!("`{part}` is no limit: write NAME=VALUE, as fuel=1000000")
            })?;
            // The second value would win without a word.
            if seen.contains(&name) {
                return Err(format!("`{name}` is given twice"));
            }
            seen.push(name);
            match name {
                "fuel" => limits.render.fuel = count(name, value)?,
                "work" => limits.render.work = bytes(name, value)?,
                "output" => limits.render.output = size(name, value)?,
                "prompt" => limits.render.prompt = size(name, value)?,
                "recursion" => limits.render.recursion = depth(value)?,
                "time" => limits.program.time = time(name, value)?,
                "start" => limits.program.start = time(name, value)?,
                "answer" => limits.program.answer = size(name, value)?,
                _ => return Err(unknown(name)),
            }
        }
        Ok(limits)
    }
}

fn unknown(name: &str) -> String {
    let help =
        did_you_mean(name, NAMES).map_or_else(String::new, |question| format!(" ({question})"));
    format!(
        "no limit is named `{name}`{help}: there are {}",
        NAMES.join(", ")
    )
}

fn count(name: &str, value: &str) -> Result<u64, String> {
    match value.replace('_', "").parse() {
        Ok(count @ 1..) => Ok(count),
        _ => Err(format!(
            "{name}={value}: expected a number, such as 1000000"
        )),
    }
}

fn depth(value: &str) -> Result<usize, String> {
    match value.parse() {
        Ok(depth @ 1..=Limits::DEEPEST) => Ok(depth),
        _ => Err(format!(
            "recursion={value}: expected a number from 1 to {}",
            Limits::DEEPEST
        )),
    }
}

fn bytes(name: &str, value: &str) -> Result<u64, String> {
    match value.parse::<ByteSize>() {
        Ok(ByteSize(bytes @ 1..)) => Ok(bytes),
        _ => Err(format!("{name}={value}: expected a size, such as 64MiB")),
    }
}

fn size(name: &str, value: &str) -> Result<usize, String> {
    bytes(name, value)
        .and_then(|bytes| usize::try_from(bytes).map_err(|_| format!("{name}={value}: too large")))
}

fn time(name: &str, value: &str) -> Result<Duration, String> {
    match value.parse::<humantime::Duration>() {
        Ok(time) if !time.is_zero() => Ok(time.into()),
        _ => Err(format!(
            "{name}={value}: expected a time with its unit, such as 30s or 500ms"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ChosenLimits, String> {
        text.parse()
    }

    #[test]
    fn what_is_not_said_stays_as_it_is() {
        let limits = read("fuel=1_000, output=2MiB,time=500ms").unwrap();
        let defaults = ChosenLimits::default();
        assert_eq!(limits.render.fuel, 1000);
        assert_eq!(limits.render.output, 2 << 20);
        assert_eq!(limits.program.time, Duration::from_millis(500));
        assert_eq!(limits.render.work, defaults.render.work);
        assert_eq!(limits.render.recursion, defaults.render.recursion);
        assert_eq!(limits.program.start, defaults.program.start);
        assert_eq!(read("answer=1000").unwrap().program.answer, 1000);
        assert_eq!(read("start=2m").unwrap().program.start.as_secs(), 120);
        assert_eq!(read("work=5,recursion=7").unwrap().render.recursion, 7);
        assert_eq!(read(&limits.of_render()).unwrap().render, limits.render);
    }

    #[test]
    fn every_mistake_has_its_words() {
        for (text, expected) in [
            ("", "NAME=VALUE"),
            ("fuel", "NAME=VALUE"),
            ("fule=3", "did you mean `fuel`?"),
            ("fuel=much", "expected a number"),
            ("fuel=0", "expected a number"),
            ("recursion=501", "from 1 to 500"),
            ("output=-1", "expected a size"),
            ("time=10", "with its unit"),
            ("time=0s", "with its unit"),
            ("fuel=1,fuel=2", "given twice"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(expected), "{text}: {message}");
        }
        for name in NAMES {
            assert!(read(&format!("{name}=x")).unwrap_err().contains("expected"));
        }
    }
}
