//! A dropped engine frees everything that it compiled.

use rolecall_core::{Case, Dialect, Engine, Template};
use rolecall_go::GoEngine;
use rolecall_jinja::JinjaEngine;

use crate::measure::least;
use crate::meter::alone;

/// How much memory tables may keep that are filled once.
const MOST: usize = 64 << 10;

#[test]
fn templates_that_are_dropped_leave_nothing() {
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
        let taken = least(
            || (1..500).for_each(compile_and_render),
            |taken| taken.kept < MOST,
        );
        assert!(
            taken.peak > source.len(),
            "the templates are in memory while they are there"
        );
        let kept = taken.kept;
        assert!(kept < MOST, "{}: {kept} bytes are kept", engine.dialect());
    }
    assert_eq!(Dialect::ALL.len(), 2);
}

/// What is kept every time is noticed, whatever other tests of this program do.
#[test]
fn a_leak_is_noticed() {
    let _alone = alone();
    let taken = least(
        || std::mem::forget(std::hint::black_box(vec![1_u8; 2 * MOST])),
        |taken| taken.kept < MOST,
    );
    // The threads of the test program may free a few bytes of their own meanwhile.
    assert!(taken.kept >= MOST, "{taken:?}");
}
