//! GGUF files: whole ones, and every way to break one.

use rolecall_core::problem::Location;
use rolecall_io::source;

use super::build::{ARRAY, Gguf, STRING, U32, Value, text, texts};
use super::{Folder, notes, problem_in, templates};

#[test]
fn the_template_comes_with_its_tokens_in_every_version_and_byte_order() {
    let folder = Folder::new();
    for version in 1..=3 {
        for is_big_endian in [false, true] {
            let mut gguf = Gguf::model("{{ bos_token }}{{ eos_token }}");
            gguf.version = version;
            gguf.is_big_endian = is_big_endian;
            folder.write("My-Model-Q4.gguf", gguf.bytes());
            let found = folder.read("My-Model-Q4.gguf");
            assert_eq!(found.problems, [], "{version} {is_big_endian}");
            assert_eq!(found.notes, []);
            assert_eq!(
                templates(&found),
                ["My-Model-Q4: {{ bos_token }}{{ eos_token }}"]
            );
            let template = &found.templates[0];
            assert_eq!(
                serde_json::to_string(&template.special_tokens).unwrap(),
                r#"{"bos_token":"<s>","eos_token":"</s>"}"#
            );
            assert_eq!(template.part.key(), Some("tokenizer.chat_template"));
        }
    }
}

#[test]
fn named_templates_are_templates_too() {
    let folder = Folder::new();
    let gguf = Gguf::model("D")
        .with("tokenizer.chat_template.tool_use", text("T"))
        .with("tokenizer.chat_template.rag", text("R"))
        .with("tokenizer.chat_templates", texts(&["tool_use", "gone"]));
    folder.write("m.gguf", gguf.bytes());
    let found = folder.read("m.gguf");
    assert_eq!(templates(&found), ["m: D", "m@rag: R", "m@tool_use: T"]);
    assert!(notes(&found)[0].ends_with("lists a template \"gone\", but has none of that name"));
}

#[test]
fn a_file_without_the_extension_is_known_by_its_first_bytes() {
    let folder = Folder::new();
    folder.write("sha256-00", Gguf::model("D").bytes());
    assert_eq!(templates(&folder.read("sha256-00")), ["sha256-00: D"]);
}

#[test]
fn tokens_that_nothing_sets_are_reported() {
    let folder = Folder::new();
    let gguf = Gguf::model("{{ bos_token }}").without("tokenizer.ggml.bos_token_id");
    folder.write("m.gguf", gguf.bytes());
    let found = folder.read("m.gguf");
    assert_eq!(found.templates.len(), 1);
    assert!(notes(&found)[0].contains("names `bos_token`, but nothing here sets a value"));
}

/// Wherever the file ends, the message says so, with an offset within the file.
#[test]
fn a_file_that_is_cut_off_is_never_taken_for_a_whole_one() {
    let folder = Folder::new();
    let gguf = Gguf::model("D").with("tokenizer.chat_template.tool_use", text("T"));
    let bytes = gguf.bytes();
    for version in [1, 3] {
        let mut gguf = gguf.clone();
        gguf.version = version;
        let path = folder.write("m.gguf", gguf.bytes());
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        for length in (0..gguf.head().len()).rev() {
            file.set_len(length as u64).unwrap();
            let found = source::read(&path);
            assert!(found.templates.is_empty(), "{length}");
            let [problem] = found.problems.as_slice() else {
                panic!("{length}: {:?}", found.problems);
            };
            let Some(Location::Byte(offset)) = problem.position else {
                panic!("{length}: {problem}");
            };
            assert!(offset <= length as u64, "{length}: {problem}");
            assert!(
                problem
                    .help
                    .as_ref()
                    .unwrap()
                    .contains("the file is cut off")
            );
        }
    }
    // The second tensor begins 64 bytes into the data.
    let data = gguf.head().len().next_multiple_of(32);
    folder.write("m.gguf", &bytes[..data + 64]);
    let problem = problem_in(folder.0.path(), &folder.read("m.gguf"));
    assert!(
        problem.contains("a tensor begins at byte") && problem.contains("the file ends at"),
        "{problem}"
    );
    folder.write("m.gguf", &bytes[..=data + 64]);
    assert_eq!(folder.read("m.gguf").problems, []);
}

/// The beginning of a file is enough to read its metadata, and is a valid file of its own then.
#[test]
fn the_metadata_is_a_file_of_its_own_as_soon_as_it_is_whole() {
    let folder = Folder::new();
    let path = folder.path("m.gguf");
    for (version, is_big_endian) in [(1, false), (2, false), (3, false), (3, true)] {
        let mut gguf = Gguf::model("{{ bos_token }}");
        gguf.version = version;
        gguf.is_big_endian = is_big_endian;
        let bytes = gguf.bytes();
        let whole = |length: &usize| {
            let start = source::without_tensors(&path, &bytes[..*length]).unwrap();
            start.map(|start| (*length, start))
        };
        let (length, start) = (0..=bytes.len()).find_map(|length| whole(&length)).unwrap();
        assert_eq!(start.len(), length);
        assert!(length < gguf.head().len());
        assert_eq!(whole(&bytes.len()).unwrap().1, start);
        folder.write("m.gguf", &start);
        let found = folder.read("m.gguf");
        assert_eq!(found.problems, [], "{version} {is_big_endian}");
        assert_eq!(templates(&found), ["m: {{ bos_token }}"]);
        assert_eq!(found.templates[0].special_tokens["bos_token"], "<s>");
    }
    let damaged = source::without_tensors(&path, b"no GGUF file at all").unwrap_err();
    assert_eq!(damaged.path, path);
    assert!(damaged.message.starts_with("not a GGUF file"), "{damaged}");
}

#[test]
fn what_is_wrong_is_said_with_its_byte() {
    let folder = Folder::new();
    let model = || Gguf::model("D");
    let deep = (0..6).fold(Value::U32(1), |inner, depth| {
        Value::Array(if depth == 0 { U32 } else { ARRAY }, vec![inner])
    });
    let many: Vec<String> = (0..70).map(|index| format!("n{index}")).collect();
    let crowd = many.iter().fold(model(), |gguf, name| {
        gguf.with(&format!("tokenizer.chat_template.{name}"), text("x"))
    });
    for (gguf, expected) in [
        (
            model().with("tokenizer.ggml.bos_token_id", Value::U32(4)),
            "the ID of the bos_token is 4, and there are 4 tokens",
        ),
        (
            model().with("tokenizer.ggml.bos_token_id", Value::I32(-1)),
            "the ID of the bos_token is -1",
        ),
        (
            model().with("tokenizer.ggml.bos_token_id", Value::U64(u64::MAX)),
            "the ID of the bos_token is 18446744073709551615",
        ),
        (
            model().with("tokenizer.ggml.bos_token_id", text("1")),
            "the value of \"tokenizer.ggml.bos_token_id\" is not an integer",
        ),
        (
            model().without("tokenizer.ggml.tokens"),
            "the ID of the bos_token is 1, and there are 0 tokens",
        ),
        (
            model().with(
                "tokenizer.ggml.tokens",
                Value::Array(U32, vec![Value::U32(1)]),
            ),
            "is not an array of strings",
        ),
        (
            model().with("tokenizer.chat_template", Value::U32(1)),
            "the value of \"tokenizer.chat_template\" is not a string",
        ),
        (
            model().with("tokenizer.chat_template", Value::Text(vec![b'a', 0xFF])),
            "is not UTF-8: byte 0xFF",
        ),
        (
            model().twice("tokenizer.chat_template", text("E")),
            "the key \"tokenizer.chat_template\" is there twice",
        ),
        (model().with("x", deep), "nested more than 4 deep"),
        (crowd, "more than 64 named templates"),
        (
            model().with("general.alignment", Value::U32(0)),
            "an alignment of 0",
        ),
    ] {
        folder.write("m.gguf", gguf.bytes());
        let found = folder.read("m.gguf");
        let problem = problem_in(folder.0.path(), &found);
        assert!(found.templates.is_empty(), "{expected}");
        assert!(problem.starts_with("m.gguf, byte "), "{problem}");
        assert!(problem.contains(expected), "{problem}\n{expected}");
    }
}

#[test]
fn counts_and_lengths_are_not_believed() {
    let folder = Folder::new();
    let huge = u64::MAX.to_le_bytes();
    let head = |rest: &[&[u8]]| {
        let mut bytes = b"GGUF\x03\0\0\0".to_vec();
        bytes.extend(rest.concat());
        bytes
    };
    let (zero, one) = (0_u64.to_le_bytes(), 1_u64.to_le_bytes());
    let key = [one.as_slice(), b"k"].concat();
    let array = ARRAY.to_le_bytes();
    let string = STRING.to_le_bytes();
    let number = U32.to_le_bytes();
    for (bytes, expected) in [
        (
            head(&[&zero, &huge]),
            "18446744073709551615 metadata entries",
        ),
        (
            head(&[&zero, &one, &huge, &[0; 64]]),
            "a key should have 18446744073709551615 bytes",
        ),
        (
            head(&[&zero, &one, &key, &string, &huge, &[0; 64]]),
            "should have 18446744073709551615 bytes",
        ),
        (
            head(&[&zero, &one, &key, &array, &number, &huge, &[0; 64]]),
            "18446744073709551615 elements",
        ),
        (
            head(&[&zero, &one, &key, &array, &[99, 0, 0, 0], &one, &[0; 64]]),
            "the unknown type 99",
        ),
        (head(&[&huge, &zero]), "18446744073709551615 tensors"),
        (b"GGUF\x09\0\0\0".to_vec(), "GGUF version 9"),
        (b"GGML\x03\0\0\0".to_vec(), "not a GGUF file"),
        (Vec::new(), "the file ends inside the magic bytes"),
    ] {
        folder.write("m.gguf", &bytes);
        let problem = problem_in(folder.0.path(), &folder.read("m.gguf"));
        assert!(problem.contains(expected), "{problem}\n{expected}");
        assert!(problem.starts_with("m.gguf, byte "), "{problem}");
    }
}

/// The weights are not read: a file of ten gigabytes, mostly a hole, takes no time.
#[test]
fn a_large_file_is_read_as_fast_as_a_small_one() {
    let folder = Folder::new();
    let path = folder.write("m.gguf", Gguf::model("D").bytes());
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(10 << 30).unwrap();
    assert_eq!(templates(&folder.read("m.gguf")), ["m: D"]);
}

#[test]
fn a_model_without_a_template_is_a_problem_where_it_is_named() {
    let folder = Folder::new();
    let bare = Gguf::model("").bytes();
    folder.write("models/mmproj.gguf", &bare);
    let problem = problem_in(folder.0.path(), &folder.read("models/mmproj.gguf"));
    assert!(
        problem.contains("mmproj.gguf: the metadata holds no chat template"),
        "{problem}"
    );
    let problem = problem_in(folder.0.path(), &folder.read("models"));
    assert!(
        problem.contains("the folder holds no template"),
        "{problem}"
    );
    folder.write("models/m.gguf", Gguf::model("D").bytes());
    let found = folder.read("models");
    assert_eq!(templates(&found), ["m: D"]);
    assert_eq!(found.problems, []);
}
