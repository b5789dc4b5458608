//! `skyfall trace cat --format parquet`, read back by a small reader of the format.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::command::Scratch;

/// A cursor over Thrift's compact protocol.
struct Thrift<'a>(&'a [u8]);

/// What a struct holds, by the fields' numbers.
type Fields = BTreeMap<u8, Value>;

impl Thrift<'_> {
    fn byte(&mut self) -> u8 {
        let byte = self.0[0];
        self.0 = &self.0[1..];
        byte
    }

    fn count(&mut self) -> u64 {
        let byte = self.byte();
        u64::from(byte & 0x7f) | if byte >= 0x80 { self.count() << 7 } else { 0 }
    }

    fn value(&mut self, kind: u8) -> Value {
        match kind {
            5 | 6 => {
                let folded = self.count();
                ((folded >> 1) as i64 ^ -((folded & 1) as i64)).into()
            }
            8 => {
                let length = self.count() as usize;
                let (text, rest) = self.0.split_at(length);
                self.0 = rest;
                std::str::from_utf8(text).unwrap().into()
            }
            9 => {
                let head = self.byte();
                let length = if head >> 4 == 15 { self.count() } else { u64::from(head >> 4) };
                (0..length).map(|_| self.value(head & 15)).collect()
            }
            12 => serde_json::to_value(self.fields()).unwrap(),
            other => panic!("kind {other}"),
        }
    }

    fn fields(&mut self) -> Fields {
        let mut fields = Fields::new();
        let mut number = 0;
        loop {
            match self.byte() {
                0 => return fields,
                head => {
                    number += head >> 4;
                    let value = self.value(head & 15);
                    assert!(fields.insert(number, value).is_none() && head >> 4 > 0);
                }
            }
        }
    }
}

fn bit(bytes: &[u8], at: usize) -> bool {
    bytes[at / 8] >> (at % 8) & 1 == 1
}

/// The values of a column in one row group.
fn values(file: &[u8], about: &Value) -> Vec<Value> {
    assert_eq!((&about["4"], &about["2"]), (&json!(6), &json!([0, 3])), "zstd, plain values, packed levels");
    let mut thrift = Thrift(&file[about["9"].as_u64().unwrap() as usize..]);
    let header = thrift.fields();
    let (whole, stored) = (header[&2].as_u64().unwrap() as usize, header[&3].as_u64().unwrap() as usize);
    let page = zstd::decode_all(&thrift.0[..stored]).unwrap();
    assert_eq!((page.len(), &header[&5]["1"]), (whole, &about["5"]));
    let (levels, mut rest) = page[4..].split_at(u32::from_le_bytes(page[..4].try_into().unwrap()) as usize);
    let mut levels = Thrift(levels);
    assert_eq!(levels.count() & 1, 1, "packed, not repeated");
    let mut take = |bytes: usize| {
        let (taken, after) = rest.split_at(bytes);
        rest = after;
        taken
    };
    let mut flags = 0;
    let rows = about["5"].as_u64().unwrap() as usize;
    let present = (0..rows).map(|row| bit(levels.0, row)).collect::<Vec<_>>();
    let booleans = if about["1"] == 0 { take(present.iter().filter(|there| **there).count().div_ceil(8)) } else { &[] };
    let mut value = || match about["1"].as_u64().unwrap() {
        0 => {
            flags += 1;
            bit(booleans, flags - 1).into()
        }
        2 => i64::from_le_bytes(take(8).try_into().unwrap()).into(),
        5 => {
            let float = f64::from_le_bytes(take(8).try_into().unwrap());
            if float.is_finite() { float.into() } else { float.to_string().into() }
        }
        6 => {
            let length = u32::from_le_bytes(take(4).try_into().unwrap());
            std::str::from_utf8(take(length as usize)).unwrap().into()
        }
        other => panic!("type {other}"),
    };
    let values = present.into_iter().map(|there| if there { value() } else { Value::Null }).collect();
    assert!(rest.is_empty(), "no bytes are left over");
    values
}

/// The names of the columns and their types, and the values of each.
fn read(file: &[u8]) -> (Vec<(String, u64)>, Vec<Vec<Value>>) {
    assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
    let end = file.len() - 8;
    let length = u32::from_le_bytes(file[end..end + 4].try_into().unwrap()) as usize;
    let mut thrift = Thrift(&file[end - length..end]);
    let about = thrift.fields();
    assert!(thrift.0.is_empty() && about[&1] == 1);
    let schema = about[&2].as_array().unwrap();
    assert_eq!(schema[0]["5"].as_u64().unwrap() as usize, schema.len() - 1);
    let columns: Vec<_> = schema[1..]
        .iter()
        .map(|column| {
            assert_eq!(column["3"], 1, "nullable");
            assert_eq!(column["1"] == 6, column["6"] == 0 && column["10"] == json!({ "1": {} }), "UTF-8");
            (column["4"].as_str().unwrap().to_owned(), column["1"].as_u64().unwrap())
        })
        .collect();
    let mut cells = vec![Vec::new(); columns.len()];
    let mut rows = 0;
    for group in about[&4].as_array().unwrap() {
        rows += group["3"].as_u64().unwrap();
        for (place, chunk) in group["1"].as_array().unwrap().iter().enumerate() {
            assert_eq!((&chunk["3"]["3"], &chunk["3"]["1"]), (&json!([columns[place].0]), &json!(columns[place].1)));
            cells[place].extend(values(file, &chunk["3"]));
        }
    }
    assert_eq!(about[&3], rows);
    assert!(cells.iter().all(|column| column.len() as u64 == rows));
    (columns, cells)
}

#[test]
fn a_column_for_each_scalar_with_the_type_that_holds_it() {
    let scratch = Scratch::new();
    scratch.write(
        "t.jsonl",
        concat!(
            "{\"seed\": 3, \"host\": \"h\", \"step\": 0, \"regime_id\": \"calm\", \"reward\": 1, \"invalid_action\": true, \"mix\": 1, \"reward_components\": {\"up\": 0.5}}\n",
            "{\"seed\": 3, \"host\": 7, \"step\": -1, \"reward\": NaN, \"big\": 18446744073709551617, \"obs\": [1, 2.5], \"flag\": false}\n",
            "{\"seed\": 3, \"host\": true, \"step\": 2, \"regime_id\": \"\\u00e9\", \"reward\": -3e-05, \"mix\": 2.5, \"action\": {\"index\": 2}}\n",
            "torn",
        ),
    );
    let ran = scratch.skyfall(&["trace", "cat", "t.jsonl", "--format", "parquet", "-o", "deep/t.parquet"]).ok();
    assert!(ran.stdout.is_empty() && ran.stderr.contains("t.jsonl:4: "), "{}", ran.stderr);
    let (columns, cells) = read(&std::fs::read(scratch.file("deep/t.parquet")).unwrap());
    let table: Vec<(&str, u64, Value)> =
        columns.iter().zip(cells).map(|((name, kind), cells)| (name.as_str(), *kind, cells.into())).collect();
    let expected = [
        ("seed", 2, json!([3, 3, 3])),
        ("host", 6, json!(["h", "7", "true"])),
        ("mix", 5, json!([1.0, null, 2.5])),
        ("big", 6, json!([null, "18446744073709551617", null])),
        ("obs", 6, json!([null, "[1, 2.5]", null])),
        ("flag", 0, json!([null, false, null])),
        ("step", 2, json!([0, -1, 2])),
        ("regime_id", 6, json!(["calm", null, "\u{e9}"])),
        ("action.index", 2, json!([null, null, 2])),
        ("reward", 5, json!([1.0, "NaN", -3e-5])),
        ("reward_components.up", 5, json!([0.5, null, null])),
        ("invalid_action", 0, json!([true, false, false])),
    ];
    assert_eq!(table, expected);
}

#[test]
fn many_rows_are_several_groups_and_no_rows_have_columns_still() {
    let scratch = Scratch::new();
    let rows = 300_000;
    let text: String = (0..rows).map(|step| format!("{{\"step\": {step}, \"reward\": {}.5}}\n", step % 7)).collect();
    scratch.write("t.jsonl", &text);
    scratch.skyfall(&["trace", "cat", "t.jsonl", "-o", "t.parquet"]).ok();
    let (columns, cells) = read(&std::fs::read(scratch.file("t.parquet")).unwrap());
    assert_eq!(columns.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["step", "reward", "invalid_action"]);
    assert!(cells[0].iter().zip(0..).all(|(step, at)| *step == at) && cells[0].len() == rows);
    assert!(cells[1].iter().zip(0..).all(|(reward, at)| *reward == f64::from(at % 7) + 0.5));

    let none = ["trace", "cat", "t.jsonl", "--format", "parquet", "--from-step", "999999", "-o", "none.parquet"];
    scratch.skyfall(&none).ok();
    let (none, cells) = read(&std::fs::read(scratch.file("none.parquet")).unwrap());
    assert_eq!((none, cells), (columns, vec![vec![]; 3]));
    scratch.skyfall_with_input(&["trace", "cat", "-", "--format", "parquet"], "").failed(3, &["only once"]);
}
