//! Arrays: construction, conversion, slices, arithmetic, reductions.

mod lua;
mod npy;

use proptest::prelude::*;
use skyfall::array::{Array, ArrayError, Comparison, DType, Operation};
use skyfall::value::Value;

fn json(text: &str) -> Value {
    fn value(json: &serde_json::Value) -> Value {
        match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::Number(number) => {
                number.as_i64().map_or_else(|| Value::Float(number.as_f64().unwrap()), Value::Int)
            }
            serde_json::Value::String(text) => Value::Text(text.clone()),
            serde_json::Value::Array(items) => Value::List(items.iter().map(value).collect()),
            serde_json::Value::Object(_) => panic!("no maps here"),
        }
    }
    value(&serde_json::from_str(text).unwrap())
}

fn array(dtype: DType, text: &str) -> Array {
    Array::from_value(&json(text), dtype).unwrap()
}

#[test]
fn nested_lists_become_arrays_and_come_back() {
    let matrix = Array::infer(&json("[[1, 2, 3], [4, 5, 6]]")).unwrap();
    assert_eq!((matrix.dtype(), matrix.shape(), matrix.len()), (DType::I64, &[2, 3][..], 6));
    assert_eq!(matrix.to_value(), json("[[1, 2, 3], [4, 5, 6]]"));
    assert_eq!(Array::infer(&json("[true, false]")).unwrap().dtype(), DType::Bool);
    assert_eq!(Array::infer(&json("[true, 1, 0.5]")).unwrap().as_f64(), Some(&[1.0, 1.0, 0.5][..]));
    assert_eq!(Array::infer(&json("[[], []]")).unwrap().shape(), [2, 0]);
    assert_eq!(Array::infer(&json("7")).unwrap().shape(), [] as [usize; 0]);
}

#[test]
fn what_is_no_array_names_its_place() {
    let message = |text: &str, dtype| Array::from_value(&json(text), dtype).unwrap_err().to_string();
    assert_eq!(message("[[1, 2], [3]]", DType::F32), "ragged list at [2]: expected 2 item(s), found 1 item(s)");
    assert_eq!(message("[[1, 2], 3]", DType::F32), "ragged list at [2]: expected a list of 2, found an integer");
    assert_eq!(message("[1, [2]]", DType::F32), "ragged list at [2]: expected a number, found a list");
    assert_eq!(message("[[1], [\"x\"]]", DType::F32), "expected a number at [2][1], found text");
    assert_eq!(message("[1, 300]", DType::U8), "300 at [2] does not fit u8");
    assert_eq!(message("[0.5]", DType::I32), "0.5 at [1] does not fit i32");
}

#[test]
fn conversion_loses_nothing_in_silence() {
    assert_eq!(array(DType::F64, "[1.0, -2.0]").astype(DType::I8).unwrap().as_i8(), Some(&[1, -2][..]));
    assert_eq!(array(DType::I64, "[0, 1]").astype(DType::Bool).unwrap().as_bool(), Some(&[false, true][..]));
    assert_eq!(array(DType::F64, "[0.1]").astype(DType::F32).unwrap().as_f32(), Some(&[0.1_f32][..]));
    let refused =
        |values: Array, dtype| assert!(matches!(values.astype(dtype), Err(ArrayError::Lost { .. })), "{values:?}");
    refused(array(DType::F64, "[1e39]"), DType::F32);
    refused(array(DType::I64, "[16777217]"), DType::F32);
    refused(array(DType::I64, "[-1]"), DType::U32);
    refused(array(DType::I64, "[2]"), DType::Bool);
    refused(Array::from_vec(&[1], vec![f64::NAN]).unwrap(), DType::I64);
    refused(Array::from_vec(&[1], vec![9_223_372_036_854_775_808.0]).unwrap(), DType::I64);
}

#[test]
fn sizes_that_memory_cannot_hold_are_errors() {
    assert!(matches!(Array::try_zeros(DType::F64, &[usize::MAX, 2]), Err(ArrayError::TooLarge { .. })));
    assert!(matches!(Array::try_zeros(DType::U8, &[usize::MAX, 0]), Err(ArrayError::TooLarge { .. })));
    assert!(matches!(Array::from_vec(&[2, 2], vec![1.0]), Err(ArrayError::Shape { .. })));
}

#[test]
fn slices_and_parts() {
    let mut cube = Array::from_vec(&[2, 3, 2], (0..12).collect::<Vec<i32>>()).unwrap();
    assert_eq!(cube.position(&[1, 0, 1]), Some(7));
    assert_eq!(cube.position(&[1, 3, 0]), None);
    assert_eq!(cube.row(1).unwrap().to_value(), json("[[6, 7], [8, 9], [10, 11]]"));
    assert_eq!(cube.row(2), None);
    assert_eq!(cube.slice(1, 0, 3, 2).unwrap().to_value(), json("[[[0, 1], [4, 5]], [[6, 7], [10, 11]]]"));
    assert!(matches!(cube.slice(1, 0, 4, 1), Err(ArrayError::Slice { length: 3, .. })));
    assert!(matches!(cube.slice(3, 0, 1, 1), Err(ArrayError::Axis { axis: 3, .. })));
    cube.put(2, 1, &array(DType::I64, "[-1, -2, -3]")).unwrap();
    assert_eq!(cube.as_i32(), Some(&[0, -1, 2, -2, 4, -3, 6, -1, 8, -2, 10, -3][..]));
    assert!(matches!(cube.put(0, 0, &array(DType::I64, "[1, 2, 3]")), Err(ArrayError::Broadcast { .. })));
    let turned = cube.transpose();
    assert_eq!((turned.shape(), turned.as_i32().unwrap()[1]), (&[2, 3, 2][..], 6));
    cube.set(3, &Value::Int(9)).unwrap();
    assert_eq!(cube.get(3), Some(Value::Int(9)));
    assert!(matches!(cube.set(12, &Value::Int(0)), Err(ArrayError::Index { .. })));
    assert_eq!(cube.reshape(&[4, 3]).unwrap().shape(), [4, 3]);
}

#[test]
fn arithmetic_broadcasts_and_keeps_dtypes() {
    let column = array(DType::F32, "[[1.0], [2.0]]");
    let sum = column.combine(Operation::Add, &array(DType::F32, "[10.0, 20.0, 30.0]")).unwrap();
    assert_eq!(sum.to_value(), json("[[11.0, 21.0, 31.0], [12.0, 22.0, 32.0]]"));
    let scaled = Array::zeros(DType::F32, &[3]);
    let scaled = scaled.combine(Operation::Add, &scaled.scalar_like(&Value::Float(0.1)).unwrap()).unwrap();
    assert_eq!(scaled.as_f32(), Some(&[0.1_f32; 3][..]));
    let whole = array(DType::U8, "[7, 200]");
    assert_eq!(whole.scalar_like(&Value::Int(2)).unwrap().dtype(), DType::U8);
    assert_eq!(whole.scalar_like(&Value::Float(0.5)).unwrap().dtype(), DType::F64);
    assert_eq!(whole.combine(Operation::Divide, &array(DType::U8, "[2]")).unwrap().as_f64(), Some(&[3.5, 100.0][..]));
    assert_eq!(whole.combine(Operation::Add, &whole), Err(ArrayError::Overflow { dtype: DType::U8 }));
    assert_eq!(whole.combine(Operation::Subtract, &array(DType::I8, "[8, 8]")).unwrap().as_i16(), Some(&[-1, 192][..]));
    let less = whole.compare(Comparison::Less, &array(DType::F64, "[7.5]")).unwrap();
    assert_eq!(less.as_bool(), Some(&[true, false][..]));
    assert!(matches!(
        column.combine(Operation::Add, &Array::zeros(DType::F32, &[3, 1])),
        Err(ArrayError::Broadcast { .. })
    ));
}

#[test]
fn promotion_follows_numpy() {
    for (left, right, meeting) in [
        (DType::Bool, DType::U8, DType::U8),
        (DType::I32, DType::U32, DType::I64),
        (DType::I8, DType::U8, DType::I16),
        (DType::I64, DType::U32, DType::I64),
        (DType::I8, DType::F16, DType::F16),
        (DType::U16, DType::F16, DType::F32),
        (DType::I32, DType::F32, DType::F64),
        (DType::F16, DType::F32, DType::F32),
    ] {
        assert_eq!((left.promote(right), right.promote(left)), (meeting, meeting), "{left} and {right}");
    }
}

#[test]
fn reductions() {
    let values = array(DType::F32, "[3.0, -1.5, 2.0]");
    assert_eq!((values.min(), values.max()), (Some(Value::Float(-1.5)), Some(Value::Float(3.0))));
    assert!((values.sum() - 3.5).abs() < 1e-12 && (values.mean() - 3.5 / 3.0).abs() < 1e-12);
    assert_eq!(Array::zeros(DType::I32, &[0]).max(), None);
    assert_eq!(array(DType::U8, "[4, 9]").max(), Some(Value::Int(9)));
    let with_nan = Array::from_vec(&[2], vec![1.0, f64::NAN]).unwrap();
    assert!(matches!(with_nan.max(), Some(Value::Float(value)) if value.is_nan()));
}

#[test]
fn map_stores_results_as_asked() {
    let doubled = array(DType::I32, "[1, 2]")
        .map(DType::F32, |value| Ok::<_, ArrayError>(Value::Float(value.as_float().unwrap() * 0.5)))
        .unwrap();
    assert_eq!(doubled.as_f32(), Some(&[0.5, 1.0][..]));
    let refused = doubled.map(DType::U8, Ok::<_, ArrayError>).unwrap_err();
    assert_eq!(refused.to_string(), "0.5 at [1] does not fit u8");
}

#[test]
fn dtypes_have_two_names() {
    assert_eq!("float32".parse::<DType>().unwrap(), DType::F32);
    assert_eq!("u16".parse::<DType>().unwrap(), DType::U16);
    assert!(
        matches!("flot32".parse::<DType>(), Err(ArrayError::UnknownDtype { nearest: Some(near), .. }) if near == "float32")
    );
}

proptest! {
    #[test]
    fn shapes_survive_slicing(rows in 0_usize..6, columns in 0_usize..6, start in 0_usize..6, step in 1_usize..4) {
        let items: Vec<u32> = (0..u32::try_from(rows * columns).unwrap()).collect();
        let matrix = Array::from_vec(&[rows, columns], items).unwrap();
        if start <= columns {
            let part = matrix.slice(1, start, columns, step).unwrap();
            let expected: Vec<u32> = (0..rows)
                .flat_map(|row| (start..columns).step_by(step).map(move |column| (row * columns + column) as u32))
                .collect();
            prop_assert_eq!(part.as_u32().unwrap(), &expected[..]);
        }
        let back = matrix.transpose().transpose();
        prop_assert_eq!(back, matrix);
    }
}

#[test]
fn shapes_without_elements_are_bounded_by_their_other_lengths() {
    let huge = 1_usize << 40;
    for shape in [vec![huge, 0], vec![0, huge], vec![1 << 20, 0, 1 << 20], vec![1 << 62, 0]] {
        assert!(matches!(Array::try_zeros(DType::U8, &shape), Err(ArrayError::TooLarge { .. })), "{shape:?}");
        let empty = Array::from_vec::<u8>(&[0], Vec::new()).unwrap();
        assert!(matches!(empty.reshape(&shape), Err(ArrayError::TooLarge { .. })), "{shape:?}");
    }
    let wide = Array::try_zeros(DType::U8, &[1 << 23, 0]).unwrap();
    let parts = vec![wide.clone(); 4];
    assert!(matches!(Array::concatenate(&parts, 0), Err(ArrayError::TooLarge { .. })));
    assert_eq!(Array::concatenate(&parts, 1).unwrap().shape(), [1 << 23, 0]);
    assert!(matches!(Array::stack(&parts, 0), Err(ArrayError::TooLarge { .. })));
}
