//! What a render has left of its limits, and text that counts itself.

use crate::error::Error;
use rolecall_model::Limit;
use rolecall_model::Limits;

/// What a render has left.
///
/// Whatever a template can make large is counted before it is gone through, and while
/// it grows. Work is counted so that a unit of it takes about a third of a nanosecond:
/// a byte that is compared or copied with many others is one unit, and what takes longer
/// is more.
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

    /// Counts bytes or items that are about to be gone through.
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

    /// Counts bytes that are about to be produced.
    pub(crate) fn produce(&mut self, amount: usize) -> Result<(), Error> {
        self.output = self
            .output
            .checked_sub(amount)
            .ok_or(Error::Limit(Limit::Output))?;
        Ok(())
    }
}

/// Whether something could be written within the limits.
pub(crate) type Written = Result<(), Error>;

/// Work that it takes to write a few bytes by themselves.
const ESCAPE: usize = 16;

/// Text that is being written; it is counted while it grows.
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

    /// One that goes on behind text that has been counted.
    pub(crate) fn onto(bytes: Vec<u8>, meter: &'m mut Meter) -> Sink<'m> {
        Sink { bytes, meter }
    }

    /// Writes bytes.
    pub(crate) fn push(&mut self, text: &[u8]) -> Written {
        self.meter.produce(text.len())?;
        self.bytes.extend_from_slice(text);
        Ok(())
    }

    /// Writes a few bytes in place of one: slower than many at a time.
    pub(crate) fn escape(&mut self, text: &[u8]) -> Written {
        self.meter.work(ESCAPE)?;
        self.push(text)
    }

    /// Writes text.
    pub(crate) fn push_str(&mut self, text: &str) -> Written {
        self.push(text.as_bytes())
    }

    /// Writes a byte as often as wanted.
    pub(crate) fn fill(&mut self, byte: u8, times: usize) -> Written {
        self.meter.produce(times)?;
        self.bytes.resize(self.bytes.len() + times, byte);
        Ok(())
    }

    /// What a piece of text is that has to be known before it is written. It counts too.
    pub(crate) fn aside(
        &mut self,
        write: impl FnOnce(&mut Sink<'_>) -> Written,
    ) -> Result<Vec<u8>, Error> {
        let mut side = Sink::new(self.meter);
        write(&mut side)?;
        Ok(side.bytes)
    }

    /// What has been written.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// What something writes within the default limits.
    pub(crate) fn written(write: impl FnOnce(&mut Sink<'_>) -> Written) -> Vec<u8> {
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
