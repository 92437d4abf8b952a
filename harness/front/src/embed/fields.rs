//! Reads the fields of a JSON object and says what is wrong with them.

use crate::front::Front;
use rolecall_core::Dialect;
use serde_json::{Map, Value};

/// The fields of an object that are not read yet.
pub(crate) struct Fields {
    /// What the object is, for messages: `the conversation`.
    what: &'static str,
    left: Map<String, Value>,
}

impl Fields {
    pub(crate) fn new(what: &'static str, fields: Map<String, Value>) -> Fields {
        Fields { what, left: fields }
    }

    /// Takes a field. None if it is absent or null.
    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.left
            .shift_remove(name)
            .filter(|value| !value.is_null())
    }

    fn wrong(&self, name: &str, expected: &str) -> String {
        format!("`{name}` of {} is not {expected}", self.what)
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(name, "a text")),
        }
    }

    pub(crate) fn boolean(&mut self, name: &str) -> Result<Option<bool>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Bool(is)) => Ok(Some(is)),
            Some(_) => Err(self.wrong(name, "true or false")),
        }
    }

    pub(crate) fn number(&mut self, name: &str) -> Result<Option<u64>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(value) => match value.as_u64() {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong(name, "a whole number from 0")),
            },
        }
    }

    pub(crate) fn list(&mut self, name: &str) -> Result<Option<Vec<Value>>, String> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Array(items)) => Ok(Some(items)),
            Some(_) => Err(self.wrong(name, "a list")),
        }
    }

    pub(crate) fn object(&mut self, name: &str) -> Result<Map<String, Value>, String> {
        match self.take(name) {
            None => Ok(Map::new()),
            Some(Value::Object(fields)) => Ok(fields),
            Some(_) => Err(self.wrong(name, "an object")),
        }
    }

    /// Takes the name of a front. Its dialect has to be the template's.
    pub(crate) fn front(&mut self, dialect: Dialect) -> Result<Option<Front>, String> {
        let Some(name) = self.text("front")? else {
            return Ok(None);
        };
        let fronts = || {
            let names = Front::for_dialect(dialect)
                .filter(|front| *front != Front::Unknown)
                .map(|front| format!("`{}`", front.name()));
            names.collect::<Vec<_>>().join(", ")
        };
        match name.parse::<Front>() {
            Ok(front) if front.is_for(dialect) => Ok(Some(front)),
            _ => Err(format!(
                "no front of {dialect} templates is named `{name}`; there are {}",
                fronts()
            )),
        }
    }

    /// Refuses the fields that are left: a field with a wrong name would otherwise do nothing.
    pub(crate) fn finish(self) -> Result<(), String> {
        match self.left.keys().next() {
            None => Ok(()),
            Some(name) => Err(format!("no field of {} is named `{name}`", self.what)),
        }
    }
}
