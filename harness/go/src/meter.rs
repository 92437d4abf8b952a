//! The remaining limits of a render, and text that counts its own size.

use crate::error::Error;
use rolecall_model::Limit;
use rolecall_model::Limits;

/// The remaining limits of a render.
///
/// The engine counts everything that a template can make large, before it reads it and while it
/// grows. A unit of work takes about a third of a nanosecond. To compare or copy a byte among many
/// costs one unit; slower work costs more.
#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) fuel: u64,
    pub(crate) work: u64,
    pub(crate) output: usize,
    /// How much deeper calls may nest.
    pub(crate) depth: usize,
}

impl Meter {
    /// All of them.
    pub(crate) fn new(limits: &Limits) -> Meter {
        Meter {
            fuel: limits.fuel,
            work: limits.work,
            output: limits.output,
            depth: limits.recursion.min(Limits::DEEPEST),
        }
    }

    /// Counts one step.
    pub(crate) fn step(&mut self) -> Result<(), Error> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Error::Limit(Limit::Fuel))?;
        Ok(())
    }

    /// Counts bytes or items before the engine goes through them.
    pub(crate) fn work(&mut self, amount: usize) -> Result<(), Error> {
        self.work = self
            .work
            .checked_sub(amount as u64)
            .ok_or(Error::Limit(Limit::Fuel))?;
        Ok(())
    }

    /// Begins something that may nest.
    pub(crate) fn enter(&mut self) -> Result<(), Error> {
        self.depth = self
            .depth
            .checked_sub(1)
            .ok_or(Error::Limit(Limit::Recursion))?;
        Ok(())
    }

    /// Ends it.
    pub(crate) fn leave(&mut self) {
        self.depth += 1;
    }

    /// Counts bytes before the engine produces them.
    pub(crate) fn produce(&mut self, amount: usize) -> Result<(), Error> {
        self.output = self
            .output
            .checked_sub(amount)
            .ok_or(Error::Limit(Limit::Output))?;
        Ok(())
    }
}

/// The result of writing within the limits.
pub(crate) type WriteResult = Result<(), Error>;

/// The work to write a few bytes by themselves.
const ESCAPE: usize = 16;

/// Text under construction. It counts itself while it grows.
#[derive(Debug)]
pub(crate) struct Sink<'m> {
    bytes: Vec<u8>,
    pub(crate) meter: &'m mut Meter,
}

impl<'m> Sink<'m> {
    /// An empty one.
    pub(crate) fn new(meter: &'m mut Meter) -> Sink<'m> {
        Sink::onto(Vec::new(), meter)
    }

    /// A sink that continues text that is already counted.
    pub(crate) fn onto(bytes: Vec<u8>, meter: &'m mut Meter) -> Sink<'m> {
        Sink { bytes, meter }
    }

    /// Writes bytes.
    pub(crate) fn push(&mut self, text: &[u8]) -> WriteResult {
        self.meter.produce(text.len())?;
        self.bytes.extend_from_slice(text);
        Ok(())
    }

    /// Writes a few bytes in place of one: slower than many at a time.
    pub(crate) fn escape(&mut self, text: &[u8]) -> WriteResult {
        self.meter.work(ESCAPE)?;
        self.push(text)
    }

    /// Writes text.
    pub(crate) fn push_str(&mut self, text: &str) -> WriteResult {
        self.push(text.as_bytes())
    }

    /// Writes a byte as often as wanted.
    pub(crate) fn fill(&mut self, byte: u8, times: usize) -> WriteResult {
        self.meter.produce(times)?;
        self.bytes.resize(self.bytes.len() + times, byte);
        Ok(())
    }

    /// Makes a piece of text that the caller needs before it writes it. It counts too.
    pub(crate) fn aside(
        &mut self,
        write: impl FnOnce(&mut Sink<'_>) -> WriteResult,
    ) -> Result<Vec<u8>, Error> {
        let mut side = Sink::new(self.meter);
        write(&mut side)?;
        Ok(side.bytes)
    }

    /// The written bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The output within the default limits.
    pub(crate) fn written(write: impl FnOnce(&mut Sink<'_>) -> WriteResult) -> Vec<u8> {
        let mut meter = Meter::new(&Limits::default());
        let mut sink = Sink::new(&mut meter);
        write(&mut sink).unwrap();
        sink.into_bytes()
    }

    #[test]
    fn nothing_is_written_beyond_the_limit() {
        let mut meter = Meter {
            fuel: 0,
            work: 0,
            output: 5,
            depth: 0,
        };
        let mut sink = Sink::new(&mut meter);
        sink.push_str("abc").unwrap();
        assert_eq!(sink.fill(b' ', 3), Err(Error::Limit(Limit::Output)));
        let aside = sink.aside(|side| side.push_str("de"));
        assert_eq!(aside.unwrap(), b"de");
        assert_eq!(sink.push(b"f"), Err(Error::Limit(Limit::Output)));
        assert_eq!(sink.into_bytes(), b"abc");
    }
}
