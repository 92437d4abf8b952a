//! The engines in this process.

use rolecall_core::{Dialect, Engine, Limits};
use rolecall_go::GoEngine;
use rolecall_jinja::JinjaEngine;

/// The engines in this process, one for each dialect.
#[derive(Debug)]
pub struct Engines {
    jinja: JinjaEngine,
    go: GoEngine,
}

impl Default for Engines {
    fn default() -> Engines {
        Engines::with_limits(&Limits::default())
    }
}

impl Engines {
    /// The engines, each with these limits on fuel, output and recursion.
    pub fn with_limits(limits: &Limits) -> Engines {
        Engines {
            jinja: JinjaEngine::with_limits(limits.clone()),
            go: GoEngine::with_limits(limits.clone()),
        }
    }

    /// All of them.
    pub fn all(&self) -> Vec<&dyn Engine> {
        vec![&self.jinja, &self.go]
    }

    /// The engine with this name. None if no engine of this process has it.
    pub fn by_name(&self, name: &str) -> Option<&dyn Engine> {
        self.all().into_iter().find(|engine| engine.name() == name)
    }

    /// The engine for a dialect.
    pub fn for_dialect(&self, dialect: Dialect) -> &dyn Engine {
        match dialect {
            Dialect::Jinja => &self.jinja,
            Dialect::Go => &self.go,
        }
    }
}
