//! The remaining limits of a render, and text that counts its own size.

use crate::error::Error;
use crate::trace::{Pieces, Sources, Trace};
use crate::values::{Struct, Text, Value};
use rolecall_core::Limit;
use rolecall_core::Limits;

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
    /// Where the texts of the render come from, if somebody wants to know.
    pub(crate) trace: Option<Box<Trace>>,
}

impl Meter {
    pub(crate) fn new(limits: &Limits) -> Meter {
        Meter {
            fuel: limits.fuel,
            work: limits.work,
            output: limits.output,
            depth: limits.recursion.min(Limits::DEEPEST),
            trace: None,
        }
    }

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

    pub(crate) fn leave(&mut self) {
        self.depth += 1;
    }

    /// Tells the trace that the current action reads a value where it is.
    pub(crate) fn touch(&mut self, value: &Value) {
        if let Some(trace) = &mut self.trace {
            trace.touch(value);
        }
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

#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) bytes: Vec<u8>,
    /// Where the bytes come from; none if nobody wants to know.
    pub(crate) pieces: Option<Box<Pieces>>,
}

impl Output {
    pub(crate) fn new(meter: &Meter) -> Output {
        Output {
            bytes: Vec::new(),
            pieces: meter.trace.is_some().then(Box::default),
        }
    }

    pub(crate) fn push(&mut self, text: &[u8], meter: &mut Meter) -> WriteResult {
        meter.produce(text.len())?;
        if let (Some(pieces), Some(trace)) = (&mut self.pieces, &mut meter.trace) {
            trace.write(pieces, text);
        }
        self.bytes.extend_from_slice(text);
        Ok(())
    }
}

/// Text under construction. It counts itself while it grows.
#[derive(Debug)]
pub(crate) struct Sink<'m> {
    output: Output,
    pub(crate) meter: &'m mut Meter,
}

impl<'m> Sink<'m> {
    pub(crate) fn new(meter: &'m mut Meter) -> Sink<'m> {
        Sink::onto(Output::new(meter), meter)
    }

    /// A sink that continues text that is already counted.
    pub(crate) fn onto(output: Output, meter: &'m mut Meter) -> Sink<'m> {
        Sink { output, meter }
    }

    pub(crate) fn push(&mut self, text: &[u8]) -> WriteResult {
        self.output.push(text, self.meter)
    }

    /// Writes a few bytes in place of one: slower than many at a time.
    pub(crate) fn escape(&mut self, text: &[u8]) -> WriteResult {
        self.meter.work(ESCAPE)?;
        self.push(text)
    }

    /// Writes something that represents these bytes.
    pub(crate) fn in_place_of(
        &mut self,
        bytes: &[u8],
        write: impl FnOnce(&mut Sink<'m>) -> WriteResult,
    ) -> WriteResult {
        if let (Some(pieces), Some(trace)) = (&mut self.output.pieces, &mut self.meter.trace) {
            trace.replace(pieces, bytes);
        }
        write(self)?;
        if let Some(pieces) = &mut self.output.pieces {
            pieces.end_replacement();
        }
        Ok(())
    }

    /// Writes by an operation, which a trace names.
    pub(crate) fn by(
        &mut self,
        operation: &'static str,
        write: impl FnOnce(&mut Sink<'m>) -> WriteResult,
    ) -> WriteResult {
        let pieces = self.output.pieces.as_mut();
        let is_new = pieces.is_some_and(|pieces| pieces.begin_operation(operation));
        write(self)?;
        if is_new && let Some(pieces) = &mut self.output.pieces {
            pieces.end_operation();
        }
        Ok(())
    }

    /// Begins to write a value, for a trace. [`Sink::end`] takes the result.
    pub(crate) fn begin(&mut self, value: &Value) -> Option<Sources> {
        let (Some(pieces), Some(trace)) = (&mut self.output.pieces, &self.meter.trace) else {
            return None;
        };
        trace.begin(pieces, value)
    }

    /// Begins to write what is made from a struct, for a trace. [`Sink::end`] takes the result.
    pub(crate) fn begin_struct(&mut self, structure: &Struct) -> Option<Sources> {
        let (Some(pieces), Some(trace)) = (&mut self.output.pieces, &self.meter.trace) else {
            return None;
        };
        trace.begin_struct(pieces, structure)
    }

    /// Writes the name of a member, which represents the value of a field.
    pub(crate) fn push_name(&mut self, name: &str, field: &Value) -> WriteResult {
        if let (Some(pieces), Some(trace)) = (&mut self.output.pieces, &self.meter.trace) {
            trace.name(pieces, name, field);
        }
        self.push_str(name)?;
        if let Some(pieces) = &mut self.output.pieces {
            pieces.end_replacement();
        }
        Ok(())
    }

    pub(crate) fn end(&mut self, outer: Option<Sources>) {
        if let Some(pieces) = &mut self.output.pieces {
            pieces.end(outer);
        }
    }

    pub(crate) fn push_str(&mut self, text: &str) -> WriteResult {
        self.push(text.as_bytes())
    }

    /// Writes a byte as often as wanted.
    pub(crate) fn fill(&mut self, byte: u8, times: usize) -> WriteResult {
        self.meter.produce(times)?;
        let bytes = &mut self.output.bytes;
        let before = bytes.len();
        bytes.resize(before + times, byte);
        if let (Some(pieces), Some(trace)) = (&mut self.output.pieces, &mut self.meter.trace) {
            trace.write(pieces, &self.output.bytes[before..]);
        }
        Ok(())
    }

    /// Makes a piece of text that the caller needs before it writes it. It counts too.
    pub(crate) fn aside(
        &mut self,
        write: impl FnOnce(&mut Sink<'_>) -> WriteResult,
    ) -> Result<Text, Error> {
        let mut side = Sink::new(self.meter);
        write(&mut side)?;
        Ok(side.into_text())
    }

    /// The written bytes as a text of the render.
    pub(crate) fn into_text(self) -> Text {
        let text = Text::from(self.output.bytes);
        if let (Some(pieces), Some(trace)) = (self.output.pieces, &mut self.meter.trace) {
            trace.made(&text, *pieces);
        }
        text
    }

    pub(crate) fn into_output(self) -> Output {
        self.output
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.output.bytes
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
            trace: None,
        };
        let mut sink = Sink::new(&mut meter);
        sink.push_str("abc").unwrap();
        assert_eq!(sink.fill(b' ', 3), Err(Error::Limit(Limit::Output)));
        let aside = sink.aside(|side| side.push_str("de"));
        assert_eq!(&*aside.unwrap(), b"de");
        assert_eq!(sink.push(b"f"), Err(Error::Limit(Limit::Output)));
        assert_eq!(sink.into_bytes(), b"abc");
    }
}
