//! A dropped engine frees everything that it compiled.

use rolecall_go::GoEngine;
use rolecall_jinja::JinjaEngine;
use rolecall_model::{Case, Dialect, Engine, Template};

use crate::measure::measured;
use crate::meter::alone;

/// How much memory tables may keep that are filled once.
const MOST: usize = 64 << 10;

/// How often to try at most, until a try keeps little.
const TRIES: usize = 20;

#[test]
fn templates_that_are_dropped_leave_nothing_behind() {
    let _alone = alone();
    let engines: [(&dyn Engine, &str, &str); 2] = [
        (
            &JinjaEngine::new(),
            "{% macro m(a) %}{{ a | upper }}{% endmacro %}{% for x in messages %}{{ m(x.role) }}{% endfor %}",
            "{# a long comment #}",
        ),
        (
            &GoEngine::new(),
            "{{ define \"m\" }}{{ . }}{{ end }}{{ range .Messages }}{{ template \"m\" .Role }}{{ end }}",
            "{{/* a long comment */}}",
        ),
    ];
    let case = Case::from_messages(vec![serde_json::json!({"role": "user", "content": "Hi"})]);
    for (engine, source, filler) in engines {
        let source = source.to_owned() + &filler.repeat(500);
        let compile_and_render = |number: usize| {
            // Another template each time.
            let source = format!("{source}{number}");
            let template = Template::from_source("t", engine.dialect(), &source);
            let program = engine.compile(&template).unwrap();
            assert!(program.prompt(&case).is_ok());
        };
        compile_and_render(0);
        // Allocations of the program's other threads count, too. But memory that is really kept is
        // kept every time.
        let mut kept = usize::MAX;
        for _ in 0..TRIES {
            let ((), taken) = measured(|| (1..500).for_each(compile_and_render));
            assert!(
                taken.peak > source.len(),
                "the templates are in memory while they are there"
            );
            kept = kept.min(taken.kept);
            if kept < MOST {
                break;
            }
        }
        assert!(kept < MOST, "{}: {kept} bytes are kept", engine.dialect());
    }
    assert_eq!(Dialect::ALL.len(), 2);
}
